#include "validate/pages/calibration_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "report/answer/command_answers.hpp"
#include "validate/documents/validation_rows.hpp"
#include "validate/pages/validation_page.hpp"

namespace windtunnel {
namespace {

// Returns the line of a law over bytes. Laws of products depend on operations, bytes and shapes,
// and have no line.
std::vector<std::pair<double, double>> law_line(const KernelLaw& law) {
  constexpr int kPoints = 60;
  std::vector<std::pair<double, double>> line;
  if (!law.shapes.empty() || !(law.least > 0) || !(law.most > law.least)) return line;
  for (int i = 0; i <= kPoints; ++i) {
    const double bytes = law.least * std::pow(law.most / law.least, double(i) / kPoints);
    line.emplace_back(bytes, law_time(law, 0, bytes));
  }
  return line;
}

bool is_single(const Sample& sample) {
  return sample.role == SampleRole::fit && sample.work.size() == 1 && sample.work[0].size() == 1;
}

// One kernel is shown at a time, because each has its own sizes.
Json laws_chart(const SampleFile& samples, const KernelLaws& laws) {
  std::map<std::string, std::vector<ScatterPoint>> points;
  for (const Sample& sample : samples.runs) {
    if (!is_single(sample)) continue;
    points[law_key(sample.work[0][0], sample.cache)].push_back(
        {bytes_moved(sample.work), sample.median_s,
         fmt::format("{}\n95 % interval {}", to_text(sample.work),
                     range_text(Unit::seconds, sample.low_s, sample.high_s))});
  }
  ScatterChart chart{
      .title = "Samples and fitted law, kernel by kernel",
      .note =
          "The curve is the law, between the smallest and the largest work in the fit. Products "
          "also depend on operations and shape, so only points are shown.",
      .x = {"bytes moved", Unit::bytes},
      .y = {"time", Unit::seconds},
      .groups = {},
      .logarithmic = true,
      .bands = {},
      .one_at_a_time = true};
  for (const KernelLaw& law : laws.laws) {
    const auto found = points.find(law.key);
    if (found != points.end()) chart.groups.push_back({law.key, found->second, law_line(law)});
  }
  return chart_json(chart);
}

// Shows the residuals of samples when each is left out of its law's fit.
Json residuals_chart(const KernelLaws& laws) {
  RangeChart chart{
      .title = "Residuals of each law",
      .note = "Standard deviation of log(measured / law), with each sample left out in turn.",
      .axis = {"residual", Unit::share},
      .items = {},
      .floor = 1e-3};
  for (const KernelLaw& law : laws.laws) {
    chart.items.push_back(
        {.name = law.key, .value = {.mean = law.spread, .low = law.spread, .high = law.spread}});
  }
  std::ranges::stable_sort(chart.items, std::greater(),
                           [](const RangeItem& item) { return item.value.mean; });
  return chart_json(chart);
}

}  // namespace

RangeItem moved_item(const std::string& name, const Parameter& before, const Parameter& after) {
  RangeItem item{.name = name,
                 .value = {.mean = after.value / before.value,
                           .low = after.low / before.value,
                           .high = after.high / before.value},
                 .tip = fmt::format("{}: {}", to_string(after.origin), after.source)};
  item.marks["before"] = 1;
  return item;
}

Answer fit_answer(FitAnswer fit) {
  RangeChart moved{.title = "What the fit changed: each parameter divided by its value before",
                   .note = "With its 90 % interval after the fit.",
                   .axis = {"after / before", Unit::count},
                   .items = {}};
  for (const RangeItem& item : fit.moved) {
    if (std::isfinite(item.value.mean)) moved.items.push_back(item);
  }
  std::vector<SummarySection> rows = validation_sections({{"rows fitted on", std::move(fit.rows)}});
  fit.answer.sections.push_back(std::move(rows.front()));
  fit.answer.sections.push_back(
      {"How to read this",
       {{"rows",
         "are those used in the fit; the error for other rows is error.step or the noise of the "
         "law in the calibration, found by leaving rows out"},
        {"simpler rule", fmt::format("is the prediction {}", kBeforeTheFit)}},
       {},
       ShownOn::page});
  if (!moved.items.empty()) {
    fit.answer.sections.push_back(
        chart_section([moved = std::move(moved)] { return chart_json(moved); }));
  }
  fit.parameters.with_figures = true;
  fit.answer.sections.push_back(std::move(fit.parameters));
  std::ranges::move(fit.more, std::back_inserter(fit.answer.sections));
  std::move(rows.begin() + 1, rows.end(), std::back_inserter(fit.answer.sections));
  return std::move(fit.answer);
}

std::string kernels_page(const SampleFile& samples, const KernelLaws& laws,
                         const ValidationReport& report) {
  const Sample* first = samples.runs.empty() ? nullptr : &samples.runs.front();
  Answer answer{.title = "Measured kernels and their laws",
                .subtitle = first == nullptr
                                ? ""
                                : fmt::format("{}, driver {}, {}, {} ranks", first->device,
                                              first->driver, first->date, first->ranks),
                .figures = accuracy_figures(report),
                .sections = {chart_section([&] { return laws_chart(samples, laws); })}};
  answer.figures.push_back({"laws", std::to_string(laws.laws.size()), "fitted"});
  answer.figures.push_back(
      {"from run to run", value_text(Unit::share, laws.run_spread), "the same work differs by"});
  std::ranges::move(validation_sections({{"compositions", report}}),
                    std::back_inserter(answer.sections));
  answer.sections.push_back(chart_section([&laws] { return residuals_chart(laws); }));
  return answer_page(answer);
}

}  // namespace windtunnel
