#include "validate/pages/calibration_answer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/calibration/kernel_law_fit.hpp"
#include "report/answer/command_answers.hpp"
#include "tests/report/answer/page_record.hpp"
#include "tests/report/browser.hpp"
#include "validate/accuracy/samples/sample_accuracy.hpp"

namespace windtunnel {
namespace {

struct MeasuredKernels {
  SampleFile samples = read_samples(WINDTUNNEL_SOURCE_DIR "/tests/data/kernel_samples.csv");
  KernelLaws laws = fit_kernel_laws(samples.runs);
  ValidationReport report = validate_samples(samples, laws);

  std::string page() const { return kernels_page(samples, laws, report); }
};

const MeasuredKernels& measured_kernels() {
  static const MeasuredKernels kernels;
  return kernels;
}

// Each curve is a law, and the samples that it was fitted on are drawn with it.
TEST(CalibrationAnswer, SamplesStandBesideTheirLaws) {
  const MeasuredKernels& kernels = measured_kernels();
  const Json charts = page_record(kernels.page()).at("charts");
  size_t points = 0, curves = 0;
  for (const Json& group : charts.at(0).at("groups")) {
    points += group.at("x").size();
    const auto law =
        std::ranges::find(kernels.laws.laws, group.at("name").get<std::string>(), &KernelLaw::key);
    ASSERT_NE(law, kernels.laws.laws.end()) << group.at("name");
    for (const Json& point : group.at("line")) {
      EXPECT_DOUBLE_EQ(point[1], law_time(*law, 0, point[0])) << law->key;
    }
    if (group.at("line").empty()) continue;
    ++curves;
    EXPECT_DOUBLE_EQ(group.at("line")[0][0], law->least);
  }
  EXPECT_GT(curves, 5U);
  EXPECT_EQ(points, kernels.report.fitted.size());
  EXPECT_EQ(charts.at(1).at("groups").at(0).at("x").size() +
                charts.at(1).at("groups").at(1).at("x").size(),
            kernels.report.rows.size());
}

FitAnswer sample_fit() {
  Parameter before{.value = 2, .low = 1, .high = 4, .source = "a data sheet"};
  Parameter after{.value = 3, .low = 2.5, .high = 3.5, .source = "fitted on 2 rows"};
  FitAnswer fit{
      .answer = {.title = "Calibration mine",
                 .subtitle = "h100",
                 .figures = {{"rows", "2", "fitted on"}},
                 .sections = {},
                 .warnings = {"Outside of the interval before the fit: gemm.efficiency."}},
      .parameters = {"Parameters",
                     {},
                     {{{"parameter"}, {"before"}, {"fitted"}}, {{"gemm.k_half", "2", "3"}}}},
      .moved = {moved_item("gemm.k_half", before, after)}};
  for (const double measured : {1.0, 10.0}) {
    fit.rows.rows.push_back({.id = "rows.csv:2",
                             .family = "rows",
                             .metric = "step_s",
                             .measured = measured,
                             .predicted = 1.05 * measured,
                             .low = measured,
                             .high = measured,
                             .baselines = {{kBeforeTheFit, 1.5 * measured}}});
  }
  summarise_families(fit.rows, {});
  return fit;
}

TEST(CalibrationAnswer, SaysWhatTheFitMovedAndWhatItsRowsAre) {
  const std::string page = answer_page(fit_answer(sample_fit()));
  const Json charts = page_record(page).at("charts");
  const Json& moved = charts.at(1).at("items").at(0);
  EXPECT_DOUBLE_EQ(moved.at("mean"), 1.5);
  EXPECT_DOUBLE_EQ(moved.at("low"), 1.25);
  EXPECT_DOUBLE_EQ(charts.at(2).at("items").at(0).at("marks").at("best simpler rule"), 0.5);
  for (const char* text :
       {"class=\"warning\">Outside of", "are those used in the fit; the error for",
        "50% (before the fit)", "gemm.k_half"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
}

class CalibrationAnswerBrowser : public Browser {};

TEST_F(CalibrationAnswerBrowser, FitsEveryScreen) {
  expect_fits(measured_kernels().page());
}

// A kernel is chosen from a list, and the chart's text changes with it.
TEST_F(CalibrationAnswerBrowser, KernelsAreChosenFromAList) {
  const std::string output = ready_dom(measured_kernels().page(), R"(
    const select = document.querySelector(".controls select");
    const words = () => document.querySelector("[role=img]").getAttribute("aria-label");
    const before = words();
    select.value = "1";
    select.dispatchEvent(new Event("change"));
    const name = select.selectedOptions[0].textContent;
    document.body.dataset.chosen = words() !== before && words().includes(`: ${name}.`);
  )");
  EXPECT_NE(output.find("data-chosen=\"true\""), std::string::npos);
}

TEST_F(CalibrationAnswerBrowser, AFitIsDrawn) {
  ready_dom(answer_page(fit_answer(sample_fit())));
}

}  // namespace
}  // namespace windtunnel
