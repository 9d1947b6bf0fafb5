// What one unit of a schedule costs: a micro-batch, or a slice of its sequence; and how much of it
// each stage recomputes.
//
// A slice cuts the rows of every GEMM (small ones run less efficiently) and of every activation;
// its causal attention sees the keys of the slices before it, so later slices do more. Summed over
// the slices, fused attention does what it does over a whole sequence; unfused attention skips the
// blocks above the diagonal.
//
// Stage-aware recomputation (Merak: Lai et al. 2023, arXiv 2206.04959): under 1F1B later stages
// hold fewer micro-batches, so that at equal memory they recompute less. With r_0 the share of its
// layers that stage 0 recomputes (ScheduleChoice::recompute_share), the stages of rank k of p do
// 1 - (1 - r_0) (p - 1) / (p - 1 - k) of theirs, but at least none; those of the last rank none.
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

// `chunks` as gpu_memory() takes them, with what a stage keeps of a micro-batch (of all its slices)
// and needs while its largest unit runs. `units` is unit_costs().
std::vector<ChunkCost> memory_chunks(std::vector<ChunkCost> chunks,
                                     const std::vector<ChunkCost>& units);

// Rank k of `ranks`, see above.
double recompute_share(double first_share, int rank, int ranks);

}  // namespace windtunnel
