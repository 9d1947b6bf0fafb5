// Looped breadth-first pipelines: all micro-batches pass one chunk before the next chunk begins
// (Lamy-Poirier, MLSys 2023, arXiv 2211.05953).
#include "policies/schedules/generators.hpp"

namespace windtunnel {

// All micro-batches, in the same order, visit each chunk once forwards and once backwards. So the
// chunk's weights are gathered twice and its gradients reduced once, while other chunks compute.
Schedule generate_looped_bfs(const ScheduleRequest& request) {
  Schedule schedule = empty_schedule("looped-bfs", request);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    auto& actions = schedule.actions[rank];
    const auto visit = [&](ActionKind kind, int chunk) {
      for (int i = 0; i < schedule.microbatches; ++i) {
        actions.push_back({kind, chunk * schedule.ranks + rank, i});
      }
    };
    for (int chunk = 0; chunk < schedule.chunks; ++chunk) visit(ActionKind::forward, chunk);
    for (int chunk = schedule.chunks - 1; chunk >= 0; --chunk) visit(ActionKind::backward, chunk);
  }
  return schedule;
}

}  // namespace windtunnel
