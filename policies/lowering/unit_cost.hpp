// Cost of one unit of a schedule (a micro-batch, or a slice of its sequence), and how much of it
// each stage recomputes. Later slices take longer, because causal attention reads the keys of
// earlier slices. Slices are less efficient than whole sequences, because their GEMMs are smaller.
// Stage-aware recomputation (Merak: Lai et al. 2023, arXiv 2206.04959): rank k of p recomputes the
// share 1 - (1 - r_0) (p - 1) / (p - 1 - k) of its layers, at least 0, where r_0 is the share of
// rank 0 (ScheduleChoice::recompute_share); the last rank recomputes none. More:
// docs/physics/cost.md.
#pragma once

#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

// Returns [stage of the model * slices + slice]. Each slice has all parameters of its stage in
// `chunks`, which is chunk_costs(job). If the schedule has recompute actions, stages without them
// keep all activations and recompute nothing. For stages with them, recomputed_bytes is what a
// recompute action allocates; transient_bytes does not contain it.
std::vector<ChunkCost> unit_costs(const Job& job, const Schedule& schedule,
                                  const std::vector<ChunkCost>& chunks);

// Returns the communication inside a replica, with the same indices.
std::vector<ChunkRounds> unit_rounds(const Job& job, const Schedule& schedule);

// Changes `chunks` for gpu_memory(): each gets a stage's activations of a micro-batch (all its
// slices) and the transient memory of its largest unit. `units`: unit_costs().
std::vector<ChunkCost> memory_chunks(std::vector<ChunkCost> chunks,
                                     const std::vector<ChunkCost>& units);

// Returns the share that rank k of `ranks` recomputes, by the formula above.
double recompute_share(double first_share, int rank, int ranks);

}  // namespace windtunnel
