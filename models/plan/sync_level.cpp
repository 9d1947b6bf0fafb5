#include "models/plan/sync_level.hpp"

#include <algorithm>

#include "models/plan/sync_graph.hpp"

namespace windtunnel {

double trained_share(const SyncLevel& level, const SyncSeconds& seconds) {
  const double behind = std::min(1.0, level.delay_steps / level.cycle_steps());
  return (1 - seconds.late) * (1 - seconds.late * behind);
}

MeanStep mean_step(const std::vector<SyncLevel>& levels, const std::vector<SyncSeconds>& seconds,
                   double step_s) {
  MeanStep mean{step_s, 0};
  double added_s = 0;
  double trained = 1;
  for (std::size_t level = 0; level < seconds.size(); ++level) {
    mean.inner_s -= seconds[level].saved_s / levels[level].cycle_steps();
    added_s += mean_exposed_s(levels[level], seconds[level]);
    trained *= trained_share(levels[level], seconds[level]);
  }
  mean.all_s = (mean.inner_s + added_s) / trained;
  return mean;
}

void fit_on_links(const std::vector<SyncLevel>& levels, std::vector<SyncSeconds>& seconds,
                  double step_s) {
  if (seconds.size() < 2) return;
  double lacking_s = -step_s;
  for (std::size_t level = 0; level < seconds.size(); ++level) {
    lacking_s += seconds[level].exchange_s / levels[level].cycle_steps() -
                 mean_exposed_s(levels[level], seconds[level]);
  }
  if (lacking_s > 0) seconds.back().exposed_s += lacking_s * levels.back().cycle_steps();
}

double exposed_seconds(const SyncLevel& level, double exchange_s, double step_s) {
  return std::max(0.0, exchange_s - level.hiding_steps() * step_s);
}

double outer_state_bytes_per_parameter(const SyncLevel& level) {
  constexpr double kFp32Bytes = 4;
  if (level.pattern == SyncPattern::leader || level.pattern == SyncPattern::none) return 0;
  if (level.pattern == SyncPattern::gossip) return kFp32Bytes;
  return level.optimizer == OuterOptimizer::nesterov ? 2 * kFp32Bytes : kFp32Bytes;
}

int graph_degree(SyncGraph graph, int islands) {
  return static_cast<int>(graph_distances(graph, islands).size());
}

int gossip_peers(const SyncLevel& level, int islands) {
  const int all = level.graph == SyncGraph::random ? 1 : graph_degree(level.graph, islands);
  return level.peers > 0 ? level.peers : all;
}

}  // namespace windtunnel
