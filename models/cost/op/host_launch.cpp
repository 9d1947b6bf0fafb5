#include "models/cost/op/host_launch.hpp"

#include <algorithm>

namespace windtunnel {

namespace {

double module_launch_s(const Calibration& calibration, const Software& software) {
  return software.host_share * calibration.host_launch_s.value;
}

}  // namespace

double host_launch_s(const Calibration& calibration, const Software& software, double launches) {
  return std::min(1.0, launches) * module_launch_s(calibration, software) +
         further_launch_s(calibration, software, std::max(0.0, launches - 1));
}

double further_launch_s(const Calibration& calibration, const Software& software, double launches) {
  return launches *
         std::min(module_launch_s(calibration, software), calibration.host_kernel_s.value);
}

double host_spare_s(std::span<const Launched> kernels) {
  double spare_s = 0;
  for (const Launched& it : kernels) spare_s += std::max(0.0, it.gpu_s - it.host_s);
  return spare_s;
}

double host_wait_s(std::span<const Launched> launched, double run_ahead) {
  double ahead_s = 0;
  double each_s = 0;
  for (const Launched& it : launched) {
    const double wait_s = it.host_s - it.gpu_s;
    ahead_s += wait_s;
    each_s += std::max(0.0, wait_s - it.beside_s);
  }
  return each_s + run_ahead * (std::max(0.0, ahead_s) - each_s);
}

}  // namespace windtunnel
