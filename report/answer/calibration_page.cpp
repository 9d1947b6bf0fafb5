#include "report/answer/calibration_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/answer/answer_page.hpp"
#include "report/answer/validation_page.hpp"
#include "report/validation/validation_rows.hpp"

namespace windtunnel {
namespace {

// Of a law over bytes; those of products are lines over operations and bytes, with shapes.
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

// One kernel at a time: each has its own sizes.
AnswerChart laws_chart(const SampleFile& samples, const KernelLaws& laws) {
  std::map<std::string, std::vector<ScatterPoint>> points;
  for (const Sample& sample : samples.runs) {
    if (!is_single(sample)) continue;
    points[law_key(sample.work[0][0], sample.cache)].push_back(
        {bytes_moved(sample.work), sample.median_s,
         fmt::format("{}\n95 % interval {}", to_text(sample.work),
                     range_text(Unit::seconds, sample.low_s, sample.high_s))});
  }
  ScatterChart chart{.title = "Samples and fitted law, kernel by kernel",
                     .note =
                         "The curve is the law, between the smallest and the largest work that "
                         "it was fitted on. Products follow operations and shape, too: they "
                         "have points only.",
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
  return {chart_json(chart)};
}

// How far samples lie from their laws, left out in turn.
AnswerChart spread_chart(const KernelLaws& laws) {
  RangeChart chart{.title = "Residuals of each law",
                   .note =
                       "Standard deviation of the logarithm of measured over law, each sample "
                       "left out in turn.",
                   .axis = {"residual", Unit::share},
                   .items = {},
                   .floor = 1e-3};
  for (const KernelLaw& law : laws.laws) {
    chart.items.push_back(
        {.name = law.key, .value = {.mean = law.spread, .low = law.spread, .high = law.spread}});
  }
  std::ranges::stable_sort(chart.items, std::greater(),
                           [](const RangeItem& item) { return item.value.mean; });
  return {chart_json(chart)};
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

std::string fit_page(const FitAnswer& fit) {
  AnswerPage page{fit.title, fit.subtitle, fit.figures, fit.warnings, {}};
  RangeChart moved{.title = "What the fit moved: each parameter over what it was before",
                   .note = "With its 90 % interval after the fit.",
                   .axis = {"after / before", Unit::count},
                   .items = {}};
  for (const RangeItem& item : fit.moved) {
    if (std::isfinite(item.value.mean)) moved.items.push_back(item);
  }
  std::vector<AnswerPart> parts = validation_parts({{"rows fitted on", fit.rows}});
  page.parts.emplace_back(std::move(parts.front()));
  page.parts.emplace_back(SummarySection{
      "How to read this",
      {{"rows",
        "are those that were fitted on: how far others are off is error.step or the noise "
        "of the law in the calibration, found by leaving rows out"},
       {"simpler rule", fmt::format("is the prediction {}", kBeforeTheFit)}},
      {}});
  if (!moved.items.empty()) page.parts.emplace_back(AnswerChart{chart_json(moved)});
  page.parts.emplace_back(SummarySection{"Parameters", {}, fit.parameters});
  for (size_t i = 1; i < parts.size(); ++i) page.parts.emplace_back(std::move(parts[i]));
  return answer_page(page);
}

std::string kernels_page(const SampleFile& samples, const KernelLaws& laws,
                         const ValidationReport& report) {
  const Sample* first = samples.runs.empty() ? nullptr : &samples.runs.front();
  AnswerPage page{"Measured kernels and their laws",
                  first == nullptr ? ""
                                   : fmt::format("{}, driver {}, {}, {} ranks", first->device,
                                                 first->driver, first->date, first->ranks),
                  accuracy_figures(report),
                  {},
                  {}};
  page.figures.push_back({"laws", std::to_string(laws.laws.size()), "fitted"});
  page.figures.push_back(
      {"from run to run", value_text(Unit::share, laws.run_spread), "the same work differs by"});
  page.parts.emplace_back(laws_chart(samples, laws));
  for (AnswerPart& part : validation_parts({{"compositions", report}})) {
    page.parts.emplace_back(std::move(part));
  }
  page.parts.emplace_back(spread_chart(laws));
  return answer_page(page);
}

}  // namespace windtunnel
