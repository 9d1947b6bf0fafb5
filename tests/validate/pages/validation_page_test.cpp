#include "validate/pages/validation_page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/report/answer/page_record.hpp"
#include "tests/report/browser.hpp"

namespace windtunnel {
namespace {

ValidationRow row(int line, const std::string& family, double measured, double predicted) {
  ValidationRow made{.id = fmt::format("/folder/rows.csv:{}", line),
                     .family = family,
                     .metric = "step_s",
                     .measured = measured,
                     .predicted = predicted,
                     .low = 0.9 * predicted,
                     .high = 1.2 * predicted,
                     .baselines = {{"one GPU's speed", 2 * measured}}};
  made.label = fmt::format("model {}", line);
  return made;
}

// The report has errors of 10, 10 and 50 %, a second family with an error of 0 %, and one skipped
// row.
ValidationReport sample_report() {
  ValidationReport report;
  report.rows = {row(2, "rows A", 1, 1.1), row(3, "rows A", 10, 9), row(4, "rows A", 2, 3),
                 row(5, "rows <B>", 60, 60)};
  report.skipped = {{"/folder/rows.csv:6:3", "no such GPU"}};
  summarise_families(report, {});
  report.families.front().assumed = {{"a network at its full rate", 3}};
  return report;
}

TEST(ValidationPage, ChartsHoldEachRowAndFamily) {
  const std::string page = validation_page({{"training runs", sample_report()}}, "the command");
  const Json charts = page_record(page).at("charts");
  ASSERT_EQ(charts.size(), 2U);
  const Json& groups = charts.at(0).at("groups");
  EXPECT_EQ(charts.at(0).at("bands"), Json({0.1, 0.2}));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups.at(0).at("x"), Json({1.0, 10.0, 2.0}));
  EXPECT_EQ(groups.at(0).at("y"), Json({1.1, 9.0, 3.0}));
  EXPECT_NE(groups.at(0).at("tip").at(2).get<std::string>().find("rows.csv:4: model 4\n+50% off"),
            std::string::npos);
  const Json& families = charts.at(1).at("items");
  ASSERT_EQ(families.size(), 2U);
  EXPECT_NEAR(families.at(0).at("mean"), 0.7 / 3, 1e-12);
  EXPECT_LT(families.at(0).at("low"), families.at(0).at("mean"));
  EXPECT_DOUBLE_EQ(families.at(0).at("marks").at("best simpler rule"), 1.0);
}

TEST(ValidationPage, TablesAreReadableWithoutScripts) {
  const std::string page = validation_page({{"training runs", sample_report()}}, "the command");
  for (const char* text :
       {"<h2>The worst rows</h2>", "rows.csv:4", "+50%", "rows &lt;B&gt;", "<h2>Not predicted</h2>",
        "no such GPU", "a network at its full rate", "within 20 %", "75.0 %", "the command"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(page.find("/folder"), std::string::npos);
  // The worst row comes first.
  EXPECT_LT(page.find("rows.csv:4</th>"), page.find("rows.csv:2</th>"));
}

TEST(ValidationPage, SeveralKindsAreToldApart) {
  const std::string page =
      validation_page({{"runs", sample_report()}, {"checkpoints", sample_report()}}, "all");
  const Json charts = page_record(page).at("charts");
  ASSERT_EQ(charts.size(), 3U);
  EXPECT_EQ(charts.at(0).at("items").size(), 4U);
  EXPECT_EQ(charts.at(2).at("title"), "Predicted against measured: step time (checkpoints)");
}

FaultValidation sample_faults() {
  FaultPrediction inside{.id = "points.csv:2",
                         .name = "A-1",
                         .system = "cluster A",
                         .metric = "expected ETTR",
                         .unit = "",
                         .measured = 0.9,
                         .predicted = 0.91,
                         .low = 0.88,
                         .high = 0.93,
                         .formula = FaultRule{"exact, exponential", 0.92},
                         .baseline = FaultRule{"1 - rate x restart", 0.95},
                         .unpublished = {},
                         .unrestricted = {},
                         .note = "a note"};
  FaultPrediction outside = inside;
  outside.name = "A-2";
  outside.measured = 0.5;
  FaultValidation validation;
  validation.predictions = {inside, outside};
  return validation;
}

TEST(ValidationPage, FaultsSayWhatLiesOutside) {
  const std::string page = faults_validation_page(sample_faults(), "the command");
  EXPECT_NE(page.find("Values outside of their ranges: A-2."), std::string::npos);
  EXPECT_NE(page.find("1 of 2"), std::string::npos);
  const Json items = page_record(page).at("charts").at(0).at("items");
  EXPECT_NEAR(items.at(1).at("mean"), 0.91 / 0.5, 1e-12);
  EXPECT_NEAR(items.at(0).at("marks").at("formula"), 0.92 / 0.9, 1e-12);
}

class ValidationPageBrowser : public Browser {};

TEST_F(ValidationPageBrowser, FitsEveryScreen) {
  ValidationReport report = sample_report();
  // There are more families than buttons, so one chooses from a list.
  for (int i = 0; i < 20; ++i) {
    ValidationRow more = row(10 + i, fmt::format("another family of rows with a long name {}", i),
                             1 << (i % 10), 1.05 * (1 << (i % 10)));
    more.metric = "memory_bytes";
    report.rows.push_back(more);
  }
  summarise_families(report, {});
  expect_fits(validation_page({{"training runs", report}}, "windtunnel validate runs rows.csv"));
}

TEST_F(ValidationPageBrowser, RangesOfFaultsFit) {
  expect_fits(faults_validation_page(sample_faults(), "windtunnel validate faults points.csv"));
}

}  // namespace
}  // namespace windtunnel
