#include "report/figures/model_range.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "models/calibration/prediction_error.hpp"
#include "models/results/step_range.hpp"

namespace windtunnel {
namespace {

// Whether the figure is about the training's own steps, rather than engines, volunteers or one
// layer.
bool is_of_steps(const Figure& figure) {
  constexpr std::string_view kParts[] = {"iteration.", "campaign.", "job.", "power."};
  return std::ranges::any_of(kParts,
                             [&](std::string_view part) { return figure.key.starts_with(part); });
}

std::optional<FigureRange> range_of_models(const Figure& figure, const Record& record,
                                           FastEnd end) {
  const double value = number_of(figure.of(record));
  if (figure.follows == Follows::none || !std::isfinite(value)) return std::nullopt;
  if (figure.follows == Follows::memory) {
    const double factor = error_factor(record.job.calibration.memory_error, kReportedShare);
    if (factor > 1) return FigureRange{value / factor, value * factor};
    return std::nullopt;
  }
  const bool held = end == FastEnd::held_at_peak && is_of_steps(figure);
  const ErrorFactors off = held ? step_factors(record.iteration, kReportedShare)
                                : unheld_step_factors(record.iteration, kReportedShare);
  if (figure.follows == Follows::time) return FigureRange{value / off.shorter, value * off.longer};
  if (figure.follows == Follows::rate) {
    return FigureRange{value / off.longer, value * off.shorter};
  }
  const double goodput = record.campaign->goodput.mean;
  const auto& [if_faster, if_slower] = record.campaign->goodput_by_model;
  const auto [least, most] = std::minmax({goodput, if_faster, if_slower});
  if (figure.follows == Follows::goodput) return FigureRange{least, most};
  if (if_slower <= 0) return std::nullopt;  // the training might never end
  // goodput_by_model was simulated up to the GPUs' peak. Beyond it, goodput is extrapolated by the
  // same power of the factor.
  const double simulated = step_factors(record.iteration, kReportedShare).shorter;
  const double beyond = simulated > 1 ? std::log(off.shorter) / std::log(simulated) : 1;
  return FigureRange{value / off.shorter * std::pow(goodput / if_faster, beyond),
                     value * off.longer * goodput / if_slower};
}

}  // namespace

// Errors of step times and of inputs are independent: their logarithms add up as variances do.
std::optional<FigureRange> model_range(const Figure& figure, const Record& record, FastEnd end) {
  const std::optional<FigureRange> times = range_of_models(figure, record, end);
  const auto inputs = figure.of_inputs ? figure.of_inputs(record) : std::nullopt;
  if (!times || !inputs) return times ? times : inputs;
  const double value = number_of(figure.of(record));
  if (value <= 0 || times->low <= 0 || inputs->low <= 0) return times;
  const auto both = [&](double a, double b) {
    return std::exp(std::hypot(std::log(a / value), std::log(b / value)));
  };
  return FigureRange{value / both(times->low, inputs->low),
                     value * both(times->high, inputs->high)};
}

std::optional<FigureRange> wider_range(const Figure& figure, const Record& record, FastEnd end) {
  std::optional<FigureRange> range = model_range(figure, record, end);
  const FigureValue value = figure.of(record);
  const auto* estimate = std::get_if<Estimate>(&value);
  if (!range || estimate == nullptr) return range;
  return FigureRange{std::min(range->low, estimate->low), std::max(range->high, estimate->high)};
}

}  // namespace windtunnel
