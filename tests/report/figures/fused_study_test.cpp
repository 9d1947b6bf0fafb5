#include <gtest/gtest.h>

#include "models/results/fused_report.hpp"
#include "report/figures/shown_studies.hpp"
#include "report/json/json.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

Record fused_record() {
  Record record = sample_record();
  FusedReport report;
  report.points = {{1, 0.1, 1, 2e9, true}, {4, 0.2, 2, 5e9, true}, {8, 0.3, 2.67, 9e10, false}};
  report.most_jobs = 6;
  record.studies.set(report);
  return record;
}

TEST(FusedStudy, TellsTheBestThatFits) {
  const Record record = fused_record();
  EXPECT_EQ(figure("fused.jobs").text(record), "4");
  EXPECT_EQ(figure("fused.speedup").text(record), "2.0");
  EXPECT_EQ(figure("fused.most_jobs").text(record), "6");
  EXPECT_EQ(figure("fused.speedup").text(sample_record()), "");
}

TEST(FusedStudy, HasARowForEachNumberOfJobs) {
  const SummarySection section = shown_fused().sections(fused_record()).front();
  ASSERT_EQ(section.table.rows.size(), 3U);
  EXPECT_EQ(section.table.rows[1][2], "2.00");
  EXPECT_EQ(section.table.rows[2][4], "no");
  const Json fused = run_document(fused_record(), false).at("fused");
  EXPECT_EQ(fused.at("points").size(), 3U);
  EXPECT_EQ(fused.at("speedup"), 2);
}

}  // namespace
}  // namespace windtunnel
