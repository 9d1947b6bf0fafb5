#include "validate/accuracy/faults/faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/reliability/fault_fit.hpp"
#include "validate/accuracy/rows/row_selection.hpp"

namespace windtunnel {
namespace {

std::string rows_of(const std::vector<PublishedMean>& means) {
  std::vector<std::string> names;
  for (const PublishedMean& mean : means) names.push_back(mean.row);
  return fmt::format("{}", fmt::join(names, ", "));
}

// A bound is not a value, so its distance to the prediction is not comparable with other errors.
std::string family_name(const FaultPrediction& prediction) {
  return prediction.at_least ? prediction.metric + " (at least)" : prediction.metric;
}

ValidationRow row_of(const FaultPrediction& prediction) {
  ValidationRow row;
  row.id = prediction.id;
  row.family = family_name(prediction);
  row.metric = prediction.metric;
  row.measured = prediction.measured;
  row.predicted = prediction.predicted;
  row.low = prediction.low;
  row.high = prediction.high;
  row.origin = prediction.origin;
  for (const auto& rule : {prediction.formula, prediction.baseline}) {
    if (rule) row.baselines[rule->name] = rule->value;
  }
  row.label = prediction.name;
  row.note = prediction.note;
  return row;
}

// Finds rates that several rows of one source determine: all failures of the jobs, the
// infrastructure's share, and the growth of the rate with size.
std::vector<FaultRate> rates_of(const std::vector<FaultPoint>& points) {
  std::vector<FaultRate> rates;
  const auto add = [&](const FaultRate& rate) {
    const bool known = std::ranges::any_of(rates, [&](const FaultRate& old) {
      return old.name == rate.name && old.value == rate.value;
    });
    if (!known) rates.push_back(rate);
  };
  for (const FaultPoint& point : points) {
    if (point.metric == "MTTF") {
      const auto means = published_means(points, point, point.metric);
      if (means.empty()) continue;
      add({"failures per node, all causes", fitted_rate_per_node_s(means) * kDay_s * 1000,
           "per 1000 node-days", "fitted on " + rows_of(means)});
    }
    const StatedNumber* stated = point.other_inputs.with("r_f");
    if (point.metric == "projected MTTF" && stated != nullptr) {
      add({"failures per node, only infrastructure", stated->low * 1000, "per 1000 node-days",
           "stated by " + point.name});
    }
    if (point.metric == "rate") {
      const auto means = published_means(points, point, "");
      if (const auto growth = fitted_growth(means)) {
        add({"growth of the failures per node with the number of nodes", *growth, "(exponent)",
             "fitted on " + rows_of(means)});
      }
    }
  }
  return rates;
}

void predict_point(const FaultPoint& point, const FaultContext& context,
                   FaultValidation& validation) {
  try {
    for (FaultPrediction& prediction : predict_fault_point(point, context)) {
      validation.report.rows.push_back(row_of(prediction));
      validation.predictions.push_back(std::move(prediction));
    }
  } catch (const Error& error) {
    validation.report.skipped.push_back(
        {point.id, fmt::format("{}: {}", point.name, error.what())});
  }
}

}  // namespace

bool FaultPrediction::inside() const {
  if (at_least) return unrestricted ? low > measured : high > measured;
  if (tolerance > 0) return std::abs(predicted - measured) <= tolerance * std::abs(measured);
  return low <= measured && measured <= high;
}

const FaultInput* FaultPrediction::largest() const {
  const auto smaller = [](const FaultInput& a, const FaultInput& b) { return a.swing < b.swing; };
  const auto found = std::ranges::max_element(unpublished, smaller);
  return found == unpublished.end() ? nullptr : &*found;
}

FaultValidation validate_faults(const std::vector<FaultPoints>& files,
                                const FaultOptions& options) {
  std::vector<FaultPoint> all;
  for (const FaultPoints& file : files) {
    all.insert(all.end(), file.runs.begin(), file.runs.end());
  }
  FaultValidation validation;
  const FaultContext context{all, options.threads};
  for (const auto& row : select_rows(files, {.where = options.where}, validation.report.skipped)) {
    predict_point(*row.run, context, validation);
  }
  validation.rates = rates_of(all);
  summarise_families(validation.report, {});
  CHECK(validation.report.rows.size() == validation.predictions.size(),
        "a prediction that is not finite");
  return validation;
}

namespace {

double rate_per_node_s(const PublishedMean& mean) {
  return 1 / (mean.mtbf_h * kHour_s * mean.nodes);
}

// Returns "arXiv:2602.00277" for "arXiv:2602.00277 Table 1".
std::string work_of(const std::string& source) {
  return source.substr(0, source.find(' '));
}

}  // namespace

std::vector<PublishedMean> published_means(const std::vector<FaultPoint>& points,
                                           const FaultPoint& like, const std::string& metric) {
  std::vector<PublishedMean> means;
  for (const FaultPoint& point : points) {
    if (work_of(point.source) != work_of(like.source)) continue;
    if (!metric.empty() && point.metric != metric) continue;
    if (!point.mtti_h.states() || !point.nodes.states()) continue;
    means.push_back(
        {point.name, static_cast<int>(point.nodes.value().low), point.mtti_h.value().low});
  }
  return means;
}

double fitted_rate_per_node_s(const std::vector<PublishedMean>& means) {
  CHECK(!means.empty(), "no mean time to fit a rate on");
  double sum = 0;
  for (const PublishedMean& mean : means) sum += std::log(rate_per_node_s(mean));
  return std::exp(sum / static_cast<double>(means.size()));
}

std::optional<double> fitted_growth(const std::vector<PublishedMean>& means) {
  if (means.empty()) return std::nullopt;
  const auto smaller = [](const PublishedMean& a, const PublishedMean& b) {
    return a.nodes < b.nodes;
  };
  const auto [least, most] = std::minmax_element(means.begin(), means.end(), smaller);
  if (least->nodes == most->nodes) return std::nullopt;
  return fit_growth(least->nodes, rate_per_node_s(*least), most->nodes, rate_per_node_s(*most));
}

}  // namespace windtunnel
