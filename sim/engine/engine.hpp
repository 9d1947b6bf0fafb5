// Executes a Plan in simulated time on SimGrid.
#pragma once

#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/plan/job.hpp"
#include "models/plan/timeline.hpp"
#include "sim/engine/fold.hpp"

namespace windtunnel {

struct EngineOptions {
  FoldMode fold = FoldMode::automatic;
  FoldLimits fold_limits = {};
  Calibration calibration;                          // of the edges of collectives that run as flows
  std::vector<Calibration> pool_calibrations = {};  // the same, [pool], inside one
  // Unfolded, one of all ranks that are alike is recorded unless this is set. Folded, every
  // simulated rank is.
  bool record_all = false;
};

// Runs in a forked child, because SimGrid keeps one clock per process; nothing else of this process
// changes. The Plan must satisfy validate_plan. Throws what the child threw: Error (a flow over a
// link without bandwidth), InternalError (a Plan that deadlocks, named by rank, class, stream and
// task); and Error (exit code 1) when the child dies.
Timeline execute(const Plan& plan, const Cluster& cluster, const EngineOptions& options = {});

}  // namespace windtunnel
