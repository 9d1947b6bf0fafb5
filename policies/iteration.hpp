// An iteration of any job: prepared once, then lowered to its Plan or estimated in closed form. How
// depends on the batch: micro-batches that are all alike, or packs of sequences of unequal length.
#pragma once

#include "models/calibration/prediction_error.hpp"
#include "policies/lowering/iteration_estimate.hpp"
#include "policies/lowering/iteration_plan.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {

// Throws Error when layout, batch, lengths, exchange of gradients or schedule do not fit together.
// `geometry`: of the job, if it is known: PreparedIteration::geometry of another schedule of it.
PreparedIteration prepare_iteration(const Job& job, const SharedGeometry& geometry = nullptr);

// As above, but skips what check_conflicts() and check_layers() have already checked; only the
// schedule may still not fit.
PreparedIteration prepare_checked(const Job& job, const SharedGeometry& geometry = nullptr);
// Throws Error where layout, batch, model, overlap of tensor parallelism or the lengths of
// sequences do not fit together. The reader asks here and so does every search, so that no search
// prices a job which the reader would refuse.
void check_layers(const Job& job);
// What of it is about lengths: Error where they do not go with the rest of the job, or the longest
// sequence fits nowhere.
void check_sequences(const Job& job);

// `prepared`: prepare_iteration() of the job, or of one with other replicas.
Plan iteration_plan(const Job& job, const PreparedIteration& prepared,
                    const IterationPlanOptions& options = {});
// The mean over steps with and without exchanges between islands (Job::sync).
IterationEstimate estimate_iteration(const Job& job, const PreparedIteration& prepared);
// IterationEstimate::step_s alone: for searches.
double iteration_step_s(const Job& job, const PreparedIteration& prepared);
// The same of a job that differs in its calibration alone from the one that was
// prepared: the actions keep their order, and `prepared` gets the costs of this calibration. For
// derivatives: where the order was the best one, it changes nothing to first order.
double repriced_step_s(const Job& job, PreparedIteration& prepared);

// How much less and more time a step takes at the ends of what is known of the host that launches
// its kernels (Calibration::host_launch_s, host_kernel_s), both at once: nothing where it never
// waits for the host.
StepSpread host_spread(const Job& job, const PreparedIteration& prepared);

// The job whose steps exchange a fragment of a level layer by layer (SyncStart::layers).
Job layered_step(const Job& job, int level);
// [level of Job::sync] One exchange of a fragment, in closed form, beside steps of `step_s`.
std::vector<SyncSeconds> sync_seconds(const Job& job, const PreparedIteration& prepared,
                                      double step_s);

// For a job that check_layers() has accepted.
LeastIteration least_iteration(const Job& job);

}  // namespace windtunnel
