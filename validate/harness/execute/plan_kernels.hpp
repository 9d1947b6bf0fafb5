// Kernels that the computations of a Plan run in place of waits. A task says what its time is for
// (Category), and so which kernel: a matrix product for passes, a step of Adam for the optimizer,
// the compressor's own for compression; what else a task takes stays a wait. It runs so often as
// the time at the scale has room for, by what one run was measured to take on this machine: how
// much is done is set beforehand, how long it takes is measured.
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
// None: it waits.
std::optional<KernelRole> kernel_role(Category category);

struct PlanKernels {
  DeviceKind device = DeviceKind::cpu;
  std::array<KernelSteps, kKernelRoles> works;  // [role]
  std::array<double, kKernelRoles> run_s = {};  // real seconds of one run

  struct Share {
    std::array<int, kKernelRoles> runs = {};  // [role]
    double waits_s = 0;                       // real
  };
  // Of a task's cost, each second of which has so many real ones: the runs that fit into the parts
  // of each role together. The rest are waits.
  Share share(std::span<const CostPart> cost, double real_per_s) const;
};

// What is run for a compressor of this name; "none" and unknown ones: as for int8.
std::array<KernelSteps, kKernelRoles> kernels_for(const std::string& compressor);

// Times them in so many processes at once, as the plan will run them. Throws Error where the device
// cannot run them, or where ranks would share a core or a device: their waits for each other are
// in no plan. No other thread may run in the calling process.
PlanKernels measured_kernels(DeviceKind device, int ranks, const std::string& compressor);

// Of one stream of a rank: its own buffers. Starts using the device.
class StreamKernels {
 public:
  explicit StreamKernels(const PlanKernels& kernels);
  // What fits into the cost's time, by the measured one; returns the real seconds that are left to
  // wait for. `step`: called after each run.
  double run(std::span<const CostPart> cost, double real_per_s,
             const std::function<void()>& step) const;

 private:
  const PlanKernels& kernels_;
  std::array<std::function<void()>, kKernelRoles> runs_;
};

// The rank's device, of those of this machine.
void take_device(const PlanKernels& kernels, int rank);

}  // namespace windtunnel
