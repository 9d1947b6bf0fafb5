#include "report/captured/step_figures.hpp"

#include <span>
#include <utility>
#include <vector>

#include "models/base/quantile.hpp"

namespace windtunnel {
namespace {

// The steps, without the first of three or more.
std::span<const CapturedStep> settled_steps(const CapturedRank& rank) {
  return std::span(rank.steps).subspan(rank.steps.size() > 2 ? 1 : 0);
}

template <class Of>
double median_of(std::span<const CapturedStep> steps, const Of& of) {
  std::vector<double> values;
  for (const CapturedStep& step : steps) values.push_back(of(step));
  return median(std::move(values));
}

}  // namespace

StepFigures figures_of(const CapturedRank& rank) {
  const std::span<const CapturedStep> steps = settled_steps(rank);
  std::vector<double> seconds;
  for (const CapturedStep& step : steps) seconds.push_back(step.seconds());
  StepFigures figures{.steps = steps.size(),
                      .step_s = median(seconds),
                      .low_s = quantile(seconds, 0.05),
                      .high_s = quantile(seconds, 0.95)};
  const auto of = [&](double CapturedStep::*member) {
    return median_of(steps, [&](const CapturedStep& step) { return step.*member; });
  };
  figures.compute_s = of(&CapturedStep::compute_s);
  figures.exposed_s = of(&CapturedStep::exposed_s);
  figures.hidden_s = of(&CapturedStep::hidden_s);
  figures.copy_s = of(&CapturedStep::copy_s);
  figures.idle_s = of(&CapturedStep::idle_s);
  figures.host_bound_s = of(&CapturedStep::host_bound_s);
  for (std::size_t kind = 0; kind < figures.kind_s.size(); ++kind) {
    figures.kind_s[kind] =
        median_of(steps, [&](const CapturedStep& step) { return step.kind_s[kind]; });
  }
  return figures;
}

double kind_s(const StepFigures& figures, WorkKind kind) {
  return figures.kind_s[static_cast<std::size_t>(kind)];
}

const CapturedStep& replayed_step(const CapturedRank& rank) {
  return median_step(settled_steps(rank));
}

}  // namespace windtunnel
