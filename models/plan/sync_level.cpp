#include "models/plan/sync_level.hpp"

#include <algorithm>
#include <bit>

namespace windtunnel {

double mean_step_s(const std::vector<SyncLevel>& levels, const std::vector<SyncSeconds>& seconds,
                   double step_s) {
  double mean_s = step_s;
  for (std::size_t level = 0; level < seconds.size(); ++level) {
    mean_s += mean_exposed_s(levels[level], seconds[level]);
  }
  return mean_s;
}

double exposed_seconds(const SyncLevel& level, double exchange_s, double step_s) {
  if (level.events == SyncEvents::poisson) return 0;
  return std::max(0.0, exchange_s - level.hiding_steps() * step_s);
}

double outer_state_bytes_per_parameter(const SyncLevel& level) {
  constexpr double kFp32Bytes = 4;
  if (level.pattern == SyncPattern::leader || level.pattern == SyncPattern::none) return 0;
  if (level.pattern == SyncPattern::gossip) return kFp32Bytes;
  return level.optimizer == OuterOptimizer::nesterov ? 2 * kFp32Bytes : kFp32Bytes;
}

int graph_degree(SyncGraph graph, int islands) {
  switch (graph) {
    case SyncGraph::ring:
      return std::min(2, islands - 1);
    case SyncGraph::exponential:
      return std::bit_width(static_cast<unsigned>(islands - 1));
    case SyncGraph::random:
      return islands - 1;
  }
  return 0;
}

int gossip_peers(const SyncLevel& level, int islands) {
  const int all = level.graph == SyncGraph::random ? 1 : graph_degree(level.graph, islands);
  return level.peers > 0 ? level.peers : all;
}

}  // namespace windtunnel
