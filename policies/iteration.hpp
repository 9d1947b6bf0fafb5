// An iteration of any job is prepared once, then lowered to its Plan or estimated in closed form.
// Its micro-batches are all alike, or are packs of sequences of unequal length.
#pragma once

#include <optional>

#include "models/calibration/prediction_error.hpp"
#include "policies/lowering/iteration_estimate.hpp"
#include "policies/lowering/iteration_plan.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// Throws Error if layout, batch, lengths, exchange of gradients or schedule cannot be combined.
// `geometry` and `packs`: PreparedIteration::geometry and balanced of another schedule of the job,
// if available.
PreparedIteration prepare_iteration(const Job& job, const SharedGeometry& geometry = nullptr,
                                    const SharedPacks& packs = nullptr);

// Does the same for a job that has passed check_conflicts() and check_layers(). Only the schedule
// may still not fit.
PreparedIteration prepare_checked(const Job& job, const SharedGeometry& geometry = nullptr,
                                  const SharedPacks& packs = nullptr);
// Throws Error if layout, batch, model, overlap of tensor parallelism or sequence lengths cannot be
// combined. Both the scenario reader and every search call this, so no search considers a job that
// the reader would refuse.
void check_layers(const Job& job);
// Throws Error if the sequence lengths do not go with the job's other settings, or if the longest
// sequence does not fit anywhere.
void check_sequences(const Job& job);

// `prepared` is prepare_iteration() of the job, or of one with another number of replicas.
Plan iteration_plan(const Job& job, const PreparedIteration& prepared,
                    const IterationPlanOptions& options = {});
// Returns the mean over steps with and without exchanges between islands (Job::sync).
IterationEstimate estimate_iteration(const Job& job, const PreparedIteration& prepared);
// Returns only IterationEstimate::step_s, for searches.
double iteration_step_s(const Job& job, const PreparedIteration& prepared);
// Returns iteration_step_s(). Returns nothing if `too_long` is true of one of its lower bounds,
// which are found faster.
std::optional<double> iteration_step_s_unless(const TooLong& too_long, const Job& job,
                                              const PreparedIteration& prepared);
// Returns iteration_step_s() of a job that differs from the prepared one only in its calibration.
// Keeps the order of actions, and gives `prepared` the new costs. The result is meant for
// derivatives: to first order, changes of the optimal order have no effect on it.
double repriced_step_s(const Job& job, PreparedIteration& prepared);

// Returns how much shorter and longer a step is at both ends of the interval of the host's launches
// (Calibration::host_launch_s and host_kernel_s together). It is zero if the step never waits for
// the host.
StepSpread host_spread(const Job& job, const PreparedIteration& prepared);

// The steps of this job exchange a fragment of a level layer by layer (SyncStart::layers).
Job layered_step(const Job& job, int level);
// [level of Job::sync] Returns an exchange of a fragment, in closed form, with steps of `step_s`.
std::vector<SyncSeconds> sync_seconds(const Job& job, const PreparedIteration& prepared,
                                      double step_s);

// Returns lower bounds for the job, which must pass check_layers().
LeastIteration least_iteration(const Job& job);

}  // namespace windtunnel
