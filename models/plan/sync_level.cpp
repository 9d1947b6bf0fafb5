#include "models/plan/sync_level.hpp"

namespace windtunnel {

double mean_step_s(const std::vector<SyncLevel>& levels, const std::vector<SyncSeconds>& seconds,
                   double step_s) {
  double mean_s = step_s;
  for (std::size_t level = 0; level < seconds.size(); ++level) {
    mean_s += seconds[level].exposed_s / levels[level].cycle_steps();
  }
  return mean_s;
}

double outer_state_bytes_per_parameter(const SyncLevel& level) {
  constexpr double kFp32Bytes = 4;
  return level.optimizer == OuterOptimizer::nesterov ? 2 * kFp32Bytes : kFp32Bytes;
}

}  // namespace windtunnel
