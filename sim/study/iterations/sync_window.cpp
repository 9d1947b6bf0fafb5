#include "sim/study/iterations/sync_window.hpp"

#include <algorithm>
#include <cmath>

#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "sim/study/iterations/iteration_table.hpp"

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

std::vector<SyncSeconds> measure_sync(const Job& job, const PreparedIteration& prepared,
                                      double step_s) {
  std::vector<SyncSeconds> levels = sync_seconds(job, prepared, step_s);
  for (int level = 0; level < std::ssize(levels); ++level) {
    if (job.sync[level].start == SyncStart::layers) {
      const Job layered = layered_step(job, level);
      const PreparedIteration own = prepare_iteration(layered);
      const auto [plan, timeline] = run_plan(layered, own, {});
      levels[level].exposed_s = std::max(0.0, iteration_s(layered, plan, timeline) -
                                                  (1 + job.sync[level].hiding_steps()) * step_s);
      continue;
    }
    const Window window = window_of(job.sync[level], levels[level].exchange_s, step_s);
    IterationPlanOptions options{.iterations = window.steps + 1};
    const double without_s = window.steps == 0 ? step_s : end_s(job, prepared, options);
    options.outer = OuterWindow{.level = level, .share = window.share};
    const double with_s = end_s(job, prepared, options);
    levels[level].exposed_s = std::max(0.0, with_s - without_s) / window.share;
  }
  return levels;
}

}  // namespace windtunnel
