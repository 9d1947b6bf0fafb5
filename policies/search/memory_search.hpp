// What to recompute and what to lay beside the GPU so that a job fits and its step takes least:
// recompute: auto and offload: auto. Per layer of a table of layers as DELTA does (Tang et al.
// 2022, arXiv 2203.15980): each tensor is kept, swapped over PCIe or computed again.
#pragma once

#include <vector>

#include "models/cost/offload/offload.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// The ways in which the job can lay its training state beside its GPUs, from nothing to all of it,
// the optimizer's part on the drives last.
std::vector<Offload> state_offloads(const Job& job);

// Whether something waits for with_memory_found(): MemoryTier::automatic, Recompute::automatic.
bool leaves_memory_open(const Job& job);

// The same job with what it leaves open as it costs least time in closed form among what fits in
// the memory of GPUs and hosts and on drives; where nothing fits, as it needs least. Of a job that
// has passed all other checks. Throws Error where no choice goes with the rest of it. What it found
// can be found again (Offload::searched) for another micro-batch, say.
Job with_memory_found(const Job& job);
// Leaves open again what was found.
Job with_memory_open(Job job);

}  // namespace windtunnel
