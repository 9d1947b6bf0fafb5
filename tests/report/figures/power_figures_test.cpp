#include "report/figures/power_figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/power/power_report.hpp"
#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

bool has_section(const Record& record) {
  const Summary summary = summarise(record);
  return std::ranges::any_of(summary.sections, [](const SummarySection& section) {
    return section.title == "Power and energy";
  });
}

TEST(PowerFigures, AreThereWhereAsked) {
  Record record = sample_record();
  EXPECT_FALSE(has_section(record));
  EXPECT_FALSE(run_document(record, false).contains("power"));
  PowerReport report;
  report.cluster = {.energy_J = 3.6e9, .mean_W = 12.34e6, .peak_W = 15e6, .least_W = 6e6};
  report.step_J = 7.2e8;
  report.token_J = 42;
  record.power = std::make_shared<const PowerReport>(report);
  EXPECT_TRUE(has_section(record));
  EXPECT_EQ(figure("power.mean_W").text(record), "12.3 MW");
  EXPECT_EQ(figure("power.swing").text(record), "60.0 %");
  EXPECT_EQ(figure("power.step_J").text(record), "200 kWh");
  EXPECT_EQ(figure("power.token_J").text(record), "42.0 J");
  EXPECT_EQ(figure("power.step_usd").text(record), "");  // no price
  EXPECT_EQ(figure("power.run_J").text(record), "");     // no campaign
  report.spec.usd_per_kWh = 0.1;
  report.run = RunEnergy{{.mean = 3.6e13}, {.mean = 1e6}};
  record.power = std::make_shared<const PowerReport>(report);
  EXPECT_EQ(figure("power.step_usd").text(record), "20 USD");
  EXPECT_EQ(figure("power.run_J").text(record), "10.0 GWh");
  EXPECT_EQ(run_document(record, false)["power"]["step_J"], 7.2e8);
}

}  // namespace
}  // namespace windtunnel
