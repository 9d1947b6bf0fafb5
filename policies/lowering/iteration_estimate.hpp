// The step time and the memory of a job in closed form: the schedule evaluated with a time per
// message and with the collectives of data parallelism (data_parallel.hpp) beside it, all on an
// idle network. A tenth of a millisecond, for searches, fits and validation. The engine
// (sim/engine) adds contention and equals it where there is none. With pipeline stages, p, and
// micro-batches, m, the bubble is that of Narayanan et al. 2021 (arXiv 2104.04473), (p - 1) / m of
// the work, for equal stages.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/plan/job.hpp"
#include "models/plan/schedule.hpp"

namespace windtunnel {

struct BalancedBatch;

// What is known of a job before anything runs. Of sequences of unequal length: one micro-batch of
// the mean cost, with the memory of the fullest pack.
struct PreparedIteration {
  // Under Software::post_validation several iterations of it without a flush between them.
  Schedule schedule;
  std::vector<ChunkCost> chunks;                  // [stage of the model] per micro-batch
  std::vector<ChunkCost> units;                   // unit_costs()
  std::vector<double> peak_activation_bytes;      // [pipeline rank]
  std::vector<GpuMemory> memory;                  // [pipeline rank]
  std::shared_ptr<const BalancedBatch> balanced;  // where lengths are unequal
};
// Throws Error when layout, batch or schedule do not fit together.
PreparedIteration prepare_iteration(const Job& job);

// PreparedIteration::memory, of another job under the same schedule: with fewer replicas.
// `prepared` has all but that.
std::vector<GpuMemory> iteration_memory(const Job& job, const PreparedIteration& prepared);

struct IterationEstimate {
  double step_s = 0;
  // Of the rank that decides; sums to step_s. pp: the bubble and what messages add to it, without
  // data parallelism; dp: what that adds, gathers, reductions, norm and slowed kernels.
  std::array<double, kCategories> seconds{};
  OriginShares origin_s{};  // the same by origin
};
IterationEstimate estimate_iteration(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel
