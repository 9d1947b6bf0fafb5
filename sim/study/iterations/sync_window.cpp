#include "sim/study/iterations/sync_window.hpp"

#include <algorithm>

#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/iterations/straggler_step.hpp"

namespace windtunnel {
namespace {

constexpr int kMostSteps = 32;  // beside an exchange that are simulated

// Steps to simulate beside an exchange, and the share of it that runs beside them.
struct Window {
  int steps = 0;
  double share = 1;
};

Window window_of(const SyncLevel& level, double exchange_s, double step_s) {
  const int hiding = level.hiding_steps();
  if (hiding <= kMostSteps) return {hiding, 1};
  // It ends long before they do, and would if links gave it half of what it asks.
  if (2 * exchange_s < kMostSteps * step_s) return {kMostSteps, 1};
  return {kMostSteps, double(kMostSteps) / hiding};
}

double end_s(const Job& job, const PreparedIteration& prepared,
             const IterationPlanOptions& options) {
  const auto [plan, timeline] = run_plan(job, prepared, options);
  return foreground_end_s(plan, timeline, options.iterations - 1);
}

}  // namespace

// Of the same draw as what is simulated beside an exchange, where links have bursts.
std::vector<SyncSeconds> measure_sync(const Job& disturbed, const PreparedIteration& prepared,
                                      double step_s, double work_s) {
  const Job job = without_stragglers(disturbed);
  std::vector<SyncSeconds> levels = sync_seconds(job, prepared, step_s);
  for (int level = 0; level < std::ssize(levels); ++level) {
    const SyncLevel& of_level = job.sync[level];
    const bool layered = of_level.start == SyncStart::layers;
    const Window window =
        layered ? Window{} : window_of(of_level, levels[level].exchange_s, step_s);
    IterationPlanOptions options{.iterations = window.steps + 1};
    const bool known = window.steps == 0 && !disturbed.cluster.is_drawn();
    const double without_s = known ? step_s : end_s(job, prepared, options);
    if (layered) {
      const Job with = layered_step(job, level);
      const auto [plan, timeline] = run_plan(with, prepare_iteration(with), {});
      levels[level].exposed_s = std::max(
          0.0, iteration_s(with, plan, timeline) - without_s - of_level.hiding_steps() * step_s);
      continue;
    }
    options.outer = OuterWindow{.level = level, .share = window.share};
    levels[level].exposed_s =
        std::max(0.0, end_s(job, prepared, options) - without_s) / window.share;
  }
  add_drift(disturbed, work_s, levels);
  return levels;
}

}  // namespace windtunnel
