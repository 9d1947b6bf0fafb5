// Executes a Plan in simulated time on SimGrid.
#pragma once

#include "models/cluster.hpp"
#include "models/job.hpp"
#include "models/timeline.hpp"

namespace windtunnel {

struct EngineOptions {
  FoldMode fold = FoldMode::automatic;
};

// Runs in a forked child, because SimGrid keeps one clock per process; nothing else of this process
// changes. Throws Error (exit code 1) when the child dies, InternalError on a Plan that deadlocks.
Timeline execute(const Plan& plan, const Cluster& cluster, const EngineOptions& options = {});

}  // namespace windtunnel
