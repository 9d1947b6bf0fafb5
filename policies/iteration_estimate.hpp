// The step time and the memory of a job in closed form: the schedule evaluated without a network,
// collectives on an idle network, what overlaps hidden. About a millisecond, for searches, fits and
// validation; the engine (sim/engine) adds contention, and agrees where there is none.
#pragma once

#include <array>
#include <vector>

#include "models/chunk_cost.hpp"
#include "models/job.hpp"
#include "models/memory.hpp"
#include "models/schedule.hpp"

namespace windtunnel {

// What is known of a job before anything runs.
struct PreparedIteration {
  Schedule schedule;
  std::vector<ChunkCost> chunks;
  std::vector<double> peak_activation_bytes;  // [pipeline rank]
  std::vector<GpuMemory> memory;              // [pipeline rank]
};
// Throws Error when layout, batch or schedule do not fit together.
PreparedIteration prepare_iteration(const Job& job);

struct IterationEstimate {
  double step_s = 0;
  // Of the rank that decides; sums to step_s, the pipeline's bubble counted under pp.
  std::array<double, kCategories> seconds{};
  OriginShares origin_s{};  // the same by origin
};
IterationEstimate estimate_iteration(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel
