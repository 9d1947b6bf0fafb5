#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/results/filling_report.hpp"
#include "models/results/input_report.hpp"
#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

Record filled_record() {
  Record record = sample_record();
  FillingReport report;
  report.plain_s = 1;
  report.step_s = 1.1;
  report.apart_s = 1.32;
  report.plain_idle = 0.3;
  report.work = {{.name = "encoder",
                  .unit_s = 0.02,
                  .piece_s = 0.001,
                  .done = 64,
                  .exposed = 4,
                  .exposed_s = 0.1,
                  .needed = true,
                  .left_out = "idle periods are too short for another piece"}};
  report.ranks = {{.idle_s = 0.4, .filled_s = 0.3}, {.idle_s = 0.2, .filled_s = 0.2}};
  record.iteration.filling = std::make_shared<const FillingReport>(report);
  record.iteration.input = std::make_shared<const InputReport>(
      InputReport{.load_s = 0.5, .stall_s = 0.1, .bound = "workers", .read_Bps = 2e9, .cores = 3});
  return record;
}

TEST(IdleSummary, TellsWhatIsFilledAndWhatIsNot) {
  const auto sections = idle_sections(filled_record());
  ASSERT_EQ(sections.size(), 2U);
  const auto& row = sections[0].table.rows.at(0);
  EXPECT_EQ(row[0], "encoder");
  EXPECT_THAT(row[5], testing::HasSubstr("4"));
  EXPECT_THAT(row[6], testing::HasSubstr("too short"));
  EXPECT_EQ(figure("iteration.filling.speedup").text(filled_record()), "1.2");
  EXPECT_EQ(sections[1].rows.at(0).value, "500 ms for the samples of a step, limited by workers");
  EXPECT_TRUE(idle_sections(sample_record()).empty());
}

TEST(IdleSummary, IsInTheDocument) {
  const Json iteration = run_document(filled_record(), false).at("iteration");
  EXPECT_EQ(iteration.at("filling").at("work").at(0).at("exposed_units"), 4);
  EXPECT_EQ(iteration.at("filling").at("ranks").size(), 2U);
  EXPECT_NEAR(iteration.at("filling").at("filled_s").get<double>(), 0.25, 1e-12);
  EXPECT_EQ(iteration.at("input").at("bound"), "workers");
  EXPECT_FALSE(run_document(sample_record(), false).at("iteration").contains("filling"));
}

}  // namespace
}  // namespace windtunnel
