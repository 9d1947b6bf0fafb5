// Executes a Plan for real: the same value that the engine simulates (sim/engine/engine.hpp), one
// process for each rank, on this machine. Computations are waits of their length, or kernels; sends
// and collectives are bytes over TCP, as fast as the scenario's links would carry them; copies,
// codes and snapshots are bytes in memory and on disk.
#pragma once

#include <optional>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "models/plan/timeline.hpp"
#include "validate/harness/execute/collective_work.hpp"
#include "validate/harness/execute/plan_kernels.hpp"
#include "validate/harness/execute/run_clock.hpp"

namespace windtunnel {

inline constexpr int kMostExecutedRanks = 64;

struct ExecuteOptions {
  ExecutionScale scale;
  Calibration calibration;  // of the edges of collectives
  std::vector<Calibration> pool_calibrations = {};
  std::optional<PlanKernels> kernels = {};  // computations run them; none: they are waits
  bool nccl = false;         // collectives of all ranks on their devices (device_collectives.hpp)
  bool testbed = false;      // nodes are network namespaces (testbed.hpp)
  double standstill_s = 15;  // real, without a task, a piece or a byte, though none sleeps: a fault
};

struct PlanRun {
  Timeline timeline;  // every rank recorded, in seconds of the scenario
  int strangers = 0;  // that came to a port of the run; they were not heard
};

// The Plan must satisfy validate_plan. Throws
// Error: usage when it has too many ranks, failed when a rank does, or all stand still: it says
// which rank; then no process is left. No other thread may run in the calling process.
PlanRun execute_plan(const Plan& plan, const Cluster& cluster, const ExecuteOptions& options = {});

// What an execution has to carry, in the scenario.
CarriedBytes bytes_to_carry(const Plan& plan, const Cluster& cluster,
                            const ExecuteOptions& options);

}  // namespace windtunnel
