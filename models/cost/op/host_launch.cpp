#include "models/cost/op/host_launch.hpp"

#include <algorithm>

namespace windtunnel {

double host_wait_s(std::span<const Launched> launched, double launch_s, double run_ahead) {
  double ahead_s = 0;
  double each_s = 0;
  for (const Launched& it : launched) {
    const double wait_s = it.launches * launch_s - it.gpu_s;
    ahead_s += wait_s;
    each_s += std::max(0.0, wait_s);
  }
  return each_s + run_ahead * (std::max(0.0, ahead_s) - each_s);
}

}  // namespace windtunnel
