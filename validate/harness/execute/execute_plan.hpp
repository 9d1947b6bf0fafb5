// Executes a Plan for real, the same value that the engine simulates (sim/engine/engine.hpp), with
// one process per rank on this machine. Computations are waits or kernels. Sends and collectives
// are bytes over TCP at the rate of the scenario's links. Copies, codes and snapshots are bytes in
// memory and on disk.
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
  Calibration calibration;  // for the edges of collectives
  std::vector<Calibration> pool_calibrations = {};
  std::optional<PlanKernels> kernels = {};  // for computations; none: computations are waits
  // Runs collectives of all ranks on their devices (device_collectives.hpp).
  bool nccl = false;
  bool testbed = false;  // runs nodes as network namespaces (testbed.hpp)
  // Real seconds without progress, although no process sleeps, that count as a fault.
  double standstill_s = 15;
};

struct PlanRun {
  Timeline timeline;  // all ranks, in seconds of the scenario
  int strangers = 0;  // unknown processes that connected to a port of the run; they were rejected
};

// The Plan must satisfy validate_plan(). Throws Error: usage if there are too many ranks; failed if
// a rank fails or none makes progress, naming the rank, after all processes have ended. The calling
// process must have no other thread.
PlanRun execute_plan(const Plan& plan, const Cluster& cluster, const ExecuteOptions& options = {});

// What an execution has to carry, in units of the scenario.
CarriedBytes bytes_to_carry(const Plan& plan, const Cluster& cluster,
                            const ExecuteOptions& options);

}  // namespace windtunnel
