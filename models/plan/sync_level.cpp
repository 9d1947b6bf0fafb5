#include "models/plan/sync_level.hpp"

namespace windtunnel {

double mean_step_s(const std::vector<SyncLevel>& levels, const std::vector<SyncSeconds>& seconds,
                   double step_s) {
  double mean_s = step_s;
  for (std::size_t level = 0; level < seconds.size(); ++level) {
    mean_s += mean_exposed_s(levels[level], seconds[level]);
  }
  return mean_s;
}

double outer_state_bytes_per_parameter(const SyncLevel& level) {
  constexpr double kFp32Bytes = 4;
  if (level.pattern == SyncPattern::leader) return 0;
  return level.optimizer == OuterOptimizer::nesterov ? 2 * kFp32Bytes : kFp32Bytes;
}

}  // namespace windtunnel
