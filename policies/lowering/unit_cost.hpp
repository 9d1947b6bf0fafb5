// What one unit of a schedule costs (a micro-batch, or a slice of its sequence), and how much of it
// each stage recomputes. Later slices do more, because causal attention sees the keys of the slices
// before; smaller GEMMs are less efficient.
//
// Stage-aware recomputation (Merak: Lai et al. 2023, arXiv 2206.04959): rank k of p recomputes 1 -
// (1 - r_0) (p - 1) / (p - 1 - k) of its layers, at least none, r_0 being the share of rank 0
// (ScheduleChoice::recompute_share); the last rank recomputes none. More: docs/physics/cost.md.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// [stage of the model * slices + slice]; each slice has all parameters of the stage in `chunks`,
// which is chunk_costs(job). Stages that an explicitly recomputing schedule never recomputes keep
// all activations and have nothing to recompute; of the others recomputed_bytes is what an action R
// brings, which is then not part of transient_bytes.
std::vector<ChunkCost> unit_costs(const Job& job, const Schedule& schedule,
                                  const std::vector<ChunkCost>& chunks);

// The same for what the ranks of a replica send each other.
std::vector<ChunkRounds> unit_rounds(const Job& job, const Schedule& schedule);

// `chunks` as gpu_memory() takes them, with what a stage keeps of a micro-batch (of all its slices)
// and needs while its largest unit runs. `units` is unit_costs().
std::vector<ChunkCost> memory_chunks(std::vector<ChunkCost> chunks,
                                     const std::vector<ChunkCost>& units);

// The share of rank k of `ranks`, by the formula of stage-aware recomputation at the top.
double recompute_share(double first_share, int rank, int ranks);

}  // namespace windtunnel
