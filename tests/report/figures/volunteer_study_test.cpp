#include <gtest/gtest.h>

#include <algorithm>

#include "models/results/volunteer_report.hpp"
#include "report/figures/shown_studies.hpp"
#include "report/json/json.hpp"
#include "report/summary/comparison_columns.hpp"
#include "tests/report/sample_record.hpp"
#include "tests/report/summary/section_row.hpp"

namespace windtunnel {
namespace {

Estimate exactly(double value) {
  return {value, value, value, value, value};
}

Record record_of(const VolunteerReport& report) {
  Record record = sample_record();
  record.studies.set(report);
  return record;
}

VolunteerReport swarm_report() {
  VolunteerReport report{.trials = 10, .stages = 32};
  report.peers = {400, 398, 402, 390, 410};
  report.tokens_per_s = exactly(12345);
  report.optimum_share = {0.958, 0.95, 0.966, 0.94, 0.97};
  report.unmoved_share = exactly(0.827);
  report.averaging_s = {{"adaptive", exactly(2)}, {"server", exactly(30)}};
  report.computing = "cloud, home";
  return report;
}

TEST(VolunteerStudy, IsThereWhereTheyAre) {
  EXPECT_FALSE(shown_volunteers().is_in(sample_record()));
  EXPECT_FALSE(run_document(sample_record(), false).contains("volunteers"));
}

TEST(VolunteerStudy, HasARowForWhatIsKnown) {
  const std::vector<SummarySection> sections =
      shown_volunteers().sections(record_of(swarm_report()));
  ASSERT_EQ(sections.size(), 1U);
  EXPECT_EQ(sections[0].title, "Volunteers on 32 stages, 10 trials (95 % interval of the mean)");
  EXPECT_EQ(row(sections[0], "share of optimum"), "95.8 %  (95.0 % .. 96.6 %)");
  EXPECT_EQ(row(sections[0], "averaging"), "adaptive 2.00 s, server 30.0 s");
  EXPECT_EQ(row(sections[0], "computing kinds"), "cloud, home");
  EXPECT_EQ(row(sections[0], "peers compute"), "no such row");
}

TEST(VolunteerStudy, CallsHaveATableOverLatency) {
  VolunteerReport report = swarm_report();
  report.calls = CallsPoint{0.05, 2000, 10};
  report.saturating_trainers = 1234;
  report.by_latency = {{0, 2000, 100}, {1, 1990, 1}};
  const Record record = record_of(report);
  const std::vector<SummarySection> sections = shown_volunteers().sections(record);
  ASSERT_EQ(sections.size(), 2U);
  ASSERT_EQ(sections[1].table.rows.size(), 2U);
  EXPECT_EQ(sections[1].table.rows[1][1], "1990");
  EXPECT_EQ(row(sections[1], "trainers that saturate"), "1,234");
  const Json calls = run_document(record, false).at("volunteers").at("calls");
  EXPECT_EQ(calls.at("tokens_per_s"), 2000);
  EXPECT_EQ(calls.at("by_latency").at(1).at("single_tokens_per_s"), 1);
}

bool has_volunteers(const std::vector<const Figure*>& columns) {
  return std::ranges::any_of(
      columns, [](const Figure* each) { return each->key.starts_with("volunteers."); });
}

TEST(VolunteerStudy, AComparisonHasTheirColumns) {
  Comparison comparison;
  comparison.points = {{.set = {}, .record = sample_record(), .reason = ""}};
  EXPECT_FALSE(has_volunteers(further_columns(comparison)));
  comparison.points.push_back({.set = {}, .record = record_of(swarm_report()), .reason = ""});
  const std::vector<const Figure*> columns = further_columns(comparison);
  EXPECT_NE(std::ranges::find(columns, &figure("volunteers.optimum_share")), columns.end());
  EXPECT_EQ(std::ranges::find(columns, &figure("volunteers.calls.tokens_per_s")), columns.end());
}

}  // namespace
}  // namespace windtunnel
