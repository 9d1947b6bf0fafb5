#include "validate/harness/kernel_runner.hpp"

#include <fmt/format.h>

#include <vector>

#include "validate/harness/kernel_runs.hpp"

namespace windtunnel {
namespace {

using Run = std::function<void()>;

Run prepare_step(const std::vector<KernelWork>& works, const Device& device) {
  std::vector<Run> runs;
  for (const KernelWork& work : works) {
    runs.push_back(find_kernel(work, device)(work, device));
  }
  if (runs.size() == 1) return runs[0];
  return [=, &device] { device.run_beside(runs); };
}

}  // namespace

std::string why_not_runnable(const KernelSteps& steps, const Device& device) {
  for (const std::vector<KernelWork>& step : steps) {
    for (const KernelWork& work : step) {
      if (find_kernel(work, device) == nullptr) {
        return fmt::format("no form of {} for {}", work.kernel, device.name);
      }
    }
  }
  return "";
}

double memory_bytes(const KernelSteps& steps) {
  double bytes = 0;
  for (const std::vector<KernelWork>& step : steps) {
    // Sparse kernels move few bytes of the buffers that they stand on.
    for (const KernelWork& work : step) {
      bytes += kernel_kind(work.kernel).bytes(work) + 2 * sizeof(float) * work.elements;
    }
  }
  return bytes;
}

TimedWork timed_work(const KernelSteps& steps, SampleRole role, CacheState cache,
                     const Device& device) {
  return {steps, role, cache, [=, &device]() -> Run {
            std::vector<Run> runs;
            for (const std::vector<KernelWork>& step : steps) {
              runs.push_back(prepare_step(step, device));
            }
            if (runs.size() == 1) return runs[0];
            return [runs] {
              for (const Run& run : runs) run();
            };
          }};
}

}  // namespace windtunnel
