// The step time and the memory of a job in closed form: the schedule evaluated with a time per
// message and with the collectives of data parallelism (data_parallel.hpp) beside it, all on an
// idle network. A tenth of a millisecond, for searches, fits and validation. The engine
// (sim/engine) adds contention and equals it where there is none. With pipeline stages, p, and
// micro-batches, m, the bubble is that of Narayanan et al. 2021 (arXiv 2104.04473), (p - 1) / m of
// the work, for equal stages.
#pragma once

#include <array>
#include <functional>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

struct IterationEstimate {
  double step_s = 0;
  // The step of the rank that decides it, by category; sums to step_s. pp: the bubble, and what
  // messages add to it, without data parallelism. dp: what data parallelism adds: gathers,
  // reductions, norm and slowed kernels.
  std::array<double, kCategories> seconds{};
  OriginShares origin_s{};  // the same by origin
};
// `undisturbed` estimates the job without offload, input and filling. These are added one by one:
// each takes by how much `step_s` of the job with it is more than with those before it alone.
IterationEstimate estimate_with_rest(
    const Job& job, const std::function<IterationEstimate(const Job&)>& undisturbed,
    const std::function<double(const Job&)>& step_s);

// Estimates a job whose micro-batches all have one length; policies/iteration.hpp estimates any
// job.
IterationEstimate estimate_microbatches(const Job& job, const PreparedIteration& prepared);
// Its step_s, without what attributes it.
double microbatches_step_s(const Job& job, const PreparedIteration& prepared);

}  // namespace windtunnel
