#include "validate/harness/timing/kernel_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "validate/harness/timing/collective_runs.hpp"
#include "validate/harness/timing/kernel_runs.hpp"

namespace windtunnel {
namespace {

using Run = std::function<void()>;

bool is_collective(const KernelWork& work) {
  return kernel_kind(work.kernel).family == KernelFamily::collective;
}

std::string why_not_runnable(const KernelWork& work, const Device& device,
                             const Collectives* collectives) {
  if (is_collective(work)) return why_no_collective(work, collectives);
  if (find_kernel(work, device) != nullptr) return "";
  return fmt::format("no form of {} for {}", work.kernel, device.name);
}

Run prepare_step(const std::vector<KernelWork>& works, const Device& device,
                 Collectives* collectives) {
  std::vector<Run> runs;
  for (const KernelWork& work : works) {
    runs.push_back(is_collective(work) ? prepare_collective(work, device, *collectives)
                                       : find_kernel(work, device)(work, device));
  }
  if (runs.size() == 1) return runs[0];
  return [=, &device] { device.run_beside(runs); };
}

// Bytes used between two runs on the same buffers: twice the last cache of a GPU; on a host more
// than a rank's share of it.
constexpr double kHostBetween_bytes = 128e6;

double bytes_between(const Device& device) {
  if (device.kind == DeviceKind::cpu) return kHostBetween_bytes;
  return 2 * static_cast<double>(device.describe().cache_bytes);
}

Run prepare_steps(const KernelSteps& steps, const Device& device, Collectives* collectives) {
  std::vector<Run> runs;
  for (const std::vector<KernelWork>& step : steps) {
    runs.push_back(prepare_step(step, device, collectives));
  }
  if (runs.size() == 1) return runs[0];
  return [runs] {
    for (const Run& run : runs) run();
  };
}

}  // namespace

std::string why_not_runnable(const KernelSteps& steps, const Device& device,
                             const Collectives* collectives) {
  for (const std::vector<KernelWork>& step : steps) {
    for (const KernelWork& work : step) {
      std::string reason = why_not_runnable(work, device, collectives);
      if (!reason.empty()) return reason;
    }
    if (std::ranges::count_if(step, is_collective) > 1) {
      return "collectives do not run beside each other: their order would be open";
    }
  }
  return "";
}

double memory_bytes(const KernelSteps& steps) {
  double bytes = 0;
  for (const std::vector<KernelWork>& step : steps) {
    // Sparse kernels move few bytes of their buffers; a collective has an additional buffer for
    // incoming data.
    for (const KernelWork& work : step) {
      bytes += kernel_kind(work.kernel).bytes(work) + 2 * sizeof(float) * work.elements +
               (is_collective(work) ? work.bytes : 0);
    }
  }
  return bytes;
}

TimedWork timed_work(const KernelSteps& steps, SampleRole role, CacheState cache,
                     const Device& device, Collectives* collectives) {
  return {steps, role, cache, [=, &device]() -> Run {
            if (cache == CacheState::warm) return prepare_steps(steps, device, collectives);
            // For small works, whose time does not depend on memory: as many as fit into the
            // first-level cache.
            constexpr double kMostCopies = 2000;
            const double times =
                std::min(kMostCopies, 1 + bytes_between(device) / memory_bytes(steps));
            std::vector<Run> copies;
            while (static_cast<double>(copies.size()) < times) {
              copies.push_back(prepare_steps(steps, device, collectives));
            }
            return [copies, turn = size_t{0}]() mutable { copies[turn++ % copies.size()](); };
          }};
}

}  // namespace windtunnel
