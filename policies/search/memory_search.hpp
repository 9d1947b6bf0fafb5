// What to recompute and what to offload so that a job fits and its step is fastest: recompute: auto
// and offload: auto. For each layer of a table of layers as in DELTA (Tang et al. 2022, arXiv
// 2203.15980): each tensor is kept, swapped over PCIe or recomputed.
#pragma once

#include <vector>

#include "models/cost/offload/offload.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Ways to offload the job's training state, from nothing to everything; the optimizer's part on
// drives comes last.
std::vector<Offload> state_offloads(const Job& job);

// Whether with_memory_found() has anything to choose: MemoryTier::automatic, Recompute::automatic.
bool leaves_memory_open(const Job& job);

// The job with its open choices made: the fastest in closed form among those that fit in the memory
// of GPUs and hosts and on drives; if nothing fits, the smallest. The job must have passed all
// other checks. Throws Error if no choice suits the rest of the job. Choices found can be searched
// again (Offload::searched), for another micro-batch, for example.
Job with_memory_found(const Job& job);
// Makes the choices that were found open again.
Job with_memory_open(Job job);

}  // namespace windtunnel
