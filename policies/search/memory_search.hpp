// Chooses what to recompute and what to offload so that a job fits and its step is fastest
// (recompute: auto, offload: auto). In a table of layers it chooses for each layer, as DELTA does
// (Tang et al. 2022, arXiv 2203.15980): each tensor is kept, swapped over PCIe or recomputed.
#pragma once

#include <vector>

#include "models/cost/offload/offload.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Returns ways to offload the job's training state, from nothing to everything. Ways that put
// optimizer state on drives come last.
std::vector<Offload> state_offloads(const Job& job);

// Whether with_memory_found() has anything to choose: MemoryTier::automatic, Recompute::automatic.
bool leaves_memory_open(const Job& job);

// Returns the job with its open choices made: the fastest in closed form among those that fit in
// the memory of GPUs and hosts and on drives; if none fits, the smallest. The job must have passed
// all other checks. Throws Error if no choice goes with the other settings. Choices that were found
// can be searched again (Offload::searched), for example for another micro-batch.
Job with_memory_found(const Job& job);
// Opens the choices again that with_memory_found() has made.
Job with_memory_open(Job job);

}  // namespace windtunnel
