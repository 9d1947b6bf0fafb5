#include "sim/study/iterations/sync_window.hpp"

#include <algorithm>

#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "sim/study/iterations/straggler_step.hpp"

namespace windtunnel {
namespace {

constexpr int kMostSteps = 32;  // most steps that are simulated beside an exchange

// Steps to simulate beside an exchange, and the share of it that runs beside them.
struct Window {
  int steps = 0;
  double share = 1;
};

Window window_of(const SyncLevel& level, double exchange_s, double step_s) {
  const int hiding = level.hiding_steps();
  if (hiding <= kMostSteps) return {hiding, 1};
  // Even at half its bandwidth the exchange ends before these steps do, so more need not be
  // simulated.
  if (2 * exchange_s < kMostSteps * step_s) return {kMostSteps, 1};
  return {kMostSteps, double(kMostSteps) / hiding};
}

double end_s(const Job& job, const PreparedIteration& prepared,
             const IterationPlanOptions& options) {
  const Execution run = run_plan(job, prepared, options);
  return foreground_end_s(run.plan, run.timeline, options.iterations - 1);
}

// Returns when step `last` ends without an exchange beside it. `job`: the one that is simulated.
double end_without_s(const Job& job, const PreparedIteration& prepared, const DrawnIteration& plain,
                     int last) {
  // The mean of drawn steps is not that of the one step simulated beside an exchange.
  if (job.cluster.is_drawn() || plain.stragglers) {
    return end_s(job, prepared, {.iterations = last + 1});
  }
  const auto& [plan, timeline, filling] = plain.execution;
  const int known = std::min(last, plan.iterations - 1);
  return foreground_end_s(plan, timeline, known) + (last - known) * plain.step_s.mean;
}

}  // namespace

// Uses the same draw as the steps that are simulated beside an exchange.
std::vector<SyncSeconds> measure_sync(const Job& disturbed, const PreparedIteration& prepared,
                                      const DrawnIteration& plain) {
  const Job job = without_stragglers(disturbed);
  const double step_s = plain.step_s.mean;
  std::vector<SyncSeconds> levels = sync_seconds(job, prepared, step_s);
  for (int level = 0; level < std::ssize(levels); ++level) {
    const SyncLevel& of_level = job.sync[level];
    if (levels[level].exchange_s <= 0) continue;
    if (of_level.start == SyncStart::layers) {
      const Job with = layered_step(job, level);
      const Execution run = run_plan(with, prepare_iteration(with), {});
      levels[level].exposed_s = std::max(0.0, iteration_s(with, run.plan, run.timeline) -
                                                  end_without_s(job, prepared, plain, 0) -
                                                  of_level.hiding_steps() * step_s);
      continue;
    }
    const Window window = window_of(of_level, levels[level].exchange_s, step_s);
    const double with_s = end_s(job, prepared,
                                {.iterations = window.steps + 1,
                                 .outer = OuterWindow{.level = level, .share = window.share}});
    const double longer_s = with_s - end_without_s(job, prepared, plain, window.steps);
    // A difference below the resolution of the engine's clock counts as none.
    levels[level].exposed_s = longer_s > 1e-9 * with_s ? longer_s / window.share : 0;
  }
  fit_on_links(job.sync, levels, step_s);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    levels[level].left_out = job.sync[level].missing_islands;
  }
  const auto& [plan, timeline, filling] = plain.execution;
  add_drift(disturbed, plan, timeline, step_s, plain.stragglers, levels);
  return levels;
}

}  // namespace windtunnel
