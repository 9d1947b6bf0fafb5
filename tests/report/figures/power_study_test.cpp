#include <gtest/gtest.h>

#include <algorithm>

#include "models/power/power_report.hpp"
#include "report/figures/figure_parts.hpp"
#include "report/figures/model_range.hpp"
#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

bool has_section(const Record& record) {
  const Answer summary = summarise(record);
  return std::ranges::any_of(summary.sections, [](const SummarySection& section) {
    return section.title == "Power and energy";
  });
}

TEST(PowerStudy, AreThereWhereAsked) {
  Record record = sample_record();
  EXPECT_FALSE(has_section(record));
  EXPECT_FALSE(run_document(record, false).contains("power"));
  PowerReport report;
  report.cluster = {.energy_J = 3.6e9, .mean_W = 12.34e6, .peak_W = 15e6, .least_W = 6e6};
  report.step_J = 7.2e8;
  report.token_J = 42;
  record.studies.set(report);
  EXPECT_TRUE(has_section(record));
  EXPECT_EQ(figure("power.mean_W").text(record), "12.3 MW");
  EXPECT_EQ(figure("power.swing").text(record), "60.0 %");
  EXPECT_EQ(figure("power.step_J").text(record), "200 kWh");
  EXPECT_EQ(figure("power.token_J").text(record), "42.0 J");
  EXPECT_EQ(figure("power.step_usd").text(record), "");  // no price
  EXPECT_EQ(figure("power.run_J").text(record), "");     // no campaign
  report.spec.usd_per_kWh = 0.1;
  report.run = RunEnergy{{.mean = 3.6e13}, {.mean = 1e6}};
  record.studies.set(report);
  EXPECT_EQ(figure("power.step_usd").text(record), "20 USD");
  EXPECT_EQ(figure("power.run_J").text(record), "10.0 GWh");
  EXPECT_EQ(run_document(record, false)["power"]["step_J"], 7.2e8);
}

// The row has more nodes than any clock can keep within its supply, except at one end of an input's
// interval.
TEST(PowerStudy, ARowThatDoesNotHoldHasNoClock) {
  Record record = sample_record();
  PowerReport report;
  report.row = RowReport{.capped_share = 1, .clock = 0, .holds = false};
  record.studies.set(report);
  EXPECT_EQ(figure("power.row_capped").text(record), "100.0 %");
  EXPECT_EQ(figure("power.row_clock").text(record), "");
  EXPECT_EQ(figure("power.row_slowdown").text(record), "");
}

// The deviations of inputs add up to more than the whole clock.
TEST(PowerStudy, RangesKeepToWhatCanBe) {
  Record record = sample_record();
  PowerReport report;
  const auto row = [](double clock, double slowdown, bool holds) {
    PowerReport at;
    at.row = RowReport{.capped_share = 0.9, .clock = clock, .slowdown = slowdown, .holds = holds};
    return at;
  };
  report.row = row(0.5, 1.4, true).row;
  for (int input = 0; input < 3; ++input) {
    report.at_low.push_back(row(0.1, 1.0, true));
    report.at_high.push_back(row(0, 1, false));
  }
  record.studies.set(report);
  const auto clock = model_range(figure("power.row_clock"), record);
  ASSERT_TRUE(clock);
  EXPECT_EQ(clock->low, 0);
  EXPECT_EQ(clock->high, 0.5);
  const auto step = model_range(figure("power.row_slowdown"), record);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->low, 1);
}

}  // namespace
}  // namespace windtunnel
