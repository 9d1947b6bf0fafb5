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
  Calibration calibration;                          // of edges of collectives that run as flows
  std::vector<Calibration> pool_calibrations = {};  // [pool] the same for groups inside one pool
  // Without folding, only one of several identical ranks is recorded, unless this is set. With
  // folding, every simulated rank is recorded.
  bool record_all = false;
};

// Runs in a forked child, because SimGrid has one clock per process, and leaves this process
// unchanged. The Plan must pass validate_plan. Throws what the child throws: Error (a flow over a
// link without bandwidth) or InternalError (a deadlock, with rank, class, stream and task). Throws
// Error (exit code 1) if the child dies.
Timeline execute(const Plan& plan, const Cluster& cluster, const EngineOptions& options = {});

}  // namespace windtunnel
