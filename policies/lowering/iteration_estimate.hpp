// Step time and memory of a job in closed form: the schedule evaluated with a time per message and
// with overlapping collectives of data parallelism (data_parallel.hpp), all on an idle network. It
// takes a tenth of a millisecond, for searches, fits and validation. The engine (sim/engine) adds
// contention, and agrees if there is none. With p equal pipeline stages and m micro-batches, the
// bubble is (p - 1) / m of the work (Narayanan et al. 2021, arXiv 2104.04473).
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

struct IterationEstimate {
  double step_s = 0;
  // The step of the rank that determines it, by category; sums to step_s. pp: the bubble, and what
  // messages add to it, without data parallelism. dp: what data parallelism adds: gathers,
  // reductions, norm and slowed kernels.
  std::array<double, kCategories> seconds{};
  OriginShares origin_s{};  // these seconds by origin
};
// `undisturbed` estimates the job without offload, input and filling. These are then added one by
// one; each accounts for the increase of `step_s` over the job with only those before it.
IterationEstimate estimate_with_rest(
    const Job& job, const std::function<IterationEstimate(const Job&)>& undisturbed,
    const std::function<double(const Job&)>& step_s);

// Estimates a job whose micro-batches all have the same length; policies/iteration.hpp handles any
// job.
IterationEstimate estimate_microbatches(const Job& job, const PreparedIteration& prepared);
// Returns only step_s of estimate_microbatches(), without attribution.
double microbatches_step_s(const Job& job, const PreparedIteration& prepared);
// Returns the same, or nothing if a lower bound of it, known before its Plan is made, is
// `too_long`.
using TooLong = std::function<bool(double least_s)>;
std::optional<double> microbatches_step_s_unless(const TooLong& too_long, const Job& job,
                                                 const PreparedIteration& prepared);

}  // namespace windtunnel
