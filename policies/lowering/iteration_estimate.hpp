// Step time and memory of a job in closed form. The schedule is evaluated with a time per message
// and with overlapping collectives of data parallelism (data_parallel.hpp), all on an idle network.
// It takes 0.1 ms; searches, fits and validation use it. The engine (sim/engine) adds contention,
// and agrees if there is none. With p equal pipeline stages and m micro-batches, the bubble is (p -
// 1) / m of the compute (Narayanan et al. 2021, arXiv 2104.04473).
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
  // The step of the rank that determines its length, by category; adds up to step_s. pp: the bubble
  // of the pipeline, with what messages add, without data parallelism. dp: what data parallelism
  // adds to the step: gathers, reductions, norm and slowed kernels.
  std::array<double, kCategories> seconds{};
  OriginShares origin_s{};  // these seconds by origin
};
// `undisturbed` estimates the job without offload, input and filling. These three are then added
// one by one, and each gets the seconds by which it lengthens the step.
IterationEstimate estimate_with_rest(
    const Job& job, const std::function<IterationEstimate(const Job&)>& undisturbed,
    const std::function<double(const Job&)>& step_s);

// Estimates a job whose micro-batches all have the same length; policies/iteration.hpp handles any
// job.
IterationEstimate estimate_microbatches(const Job& job, const PreparedIteration& prepared);
// Returns only step_s of estimate_microbatches(), without attribution.
double microbatches_step_s(const Job& job, const PreparedIteration& prepared);
// Returns the same; or nothing, without making a Plan, if `too_long` is true of a lower bound.
using TooLong = std::function<bool(double least_s)>;
std::optional<double> microbatches_step_s_unless(const TooLong& too_long, const Job& job,
                                                 const PreparedIteration& prepared);

}  // namespace windtunnel
