// Kernels that computations of a Plan run instead of waits. The category of a task decides the
// kernel: a matrix product for passes, a step of Adam for the optimizer, the compressor's own
// kernels for compression; other time stays a wait. The kernel runs as often as fits into the
// scaled time, given a measurement of one run on this machine. The amount of work is thus fixed
// beforehand, and its duration is measured.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/device/device.hpp"
#include "models/calibration/kernel_work.hpp"
#include "models/plan/task_cost.hpp"

namespace windtunnel {

enum class KernelRole : std::uint8_t { product, update, compression };
inline constexpr int kKernelRoles = 3;
// None: the category waits.
std::optional<KernelRole> kernel_role(Category category);

struct PlanKernels {
  DeviceKind device = DeviceKind::cpu;
  std::array<KernelSteps, kKernelRoles> works;  // [role]
  std::array<double, kKernelRoles> run_s = {};  // [role] real seconds of one run

  struct Share {
    std::array<int, kKernelRoles> runs = {};  // [role]
    double waits_s = 0;                       // real
  };
  // Divides a task's cost into whole runs for each role and waits for the rest; a second of the
  // cost takes `real_per_s` real seconds.
  Share share(std::span<const CostPart> cost, double real_per_s) const;
};

// Returns the kernels for a compressor; for "none" and unknown names, the kernels of int8.
std::array<KernelSteps, kKernelRoles> kernels_for(const std::string& compressor);

// Times the kernels in as many processes at once as the plan has ranks. Throws Error if the device
// cannot run them, or if ranks would share a core or a device, because the plan does not contain
// the resulting waits. The calling process must have no other thread.
PlanKernels measured_kernels(DeviceKind device, int ranks, const std::string& compressor);

// Kernels and buffers of one stream of a rank. Starts to use the device.
class StreamKernels {
 public:
  explicit StreamKernels(const PlanKernels& kernels);
  // Runs the kernels that fit into the cost's time, and returns the real seconds left to wait.
  // Calls `step` after each run.
  double run(std::span<const CostPart> cost, double real_per_s,
             const std::function<void()>& step) const;

 private:
  const PlanKernels& kernels_;
  std::array<std::function<void()>, kKernelRoles> runs_;
};

// Makes one of this machine's devices current for the rank.
void take_device(const PlanKernels& kernels, int rank);

}  // namespace windtunnel
