// What a reader of a result should know besides its figures. Which of them a record has, and in
// which order: sim/study/record_notes.cpp.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/timeline.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "models/results/note.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {

struct Framework;  // scenarios/language/library/facts/training_software.hpp

// Choices that cost this job more than the plainer one that they were made instead of, which is not
// what their names promise: zero3 that needs more memory than zero2, bucketed reductions that are
// slower than none beside the backward pass, mxfp8 that is slower than fp8. Both figures, by
// estimate_iteration(), and why. A plainer choice that `software` (null: none is named) refuses is
// left out. `prepared`: prepare_iteration() of the job.
std::vector<Note> dearer_choices(const Job& job, const PreparedIteration& prepared,
                                 const Framework* software);

// Where not every rank that differs was simulated.
std::vector<Note> timeline_notes(const Timeline& timeline);

// Where the critical path waits a tenth of the step or more for the host that launches kernels, or
// would if the host were as slow as it may be.
std::vector<Note> host_bound_notes(const Job& job, const IterationReport& iteration);

// Where a pipeline waits for messages that share ports with those of the other direction, and takes
// less with one at a time: simulated again so.
std::vector<Note> message_order_notes(const Job& job, const PreparedIteration& prepared,
                                      const IterationReport& iteration);

// A pipeline in which one rank computes much longer per micro-batch than the others, so that these
// idle beside it: what a bubble, which is counted beyond the busiest rank, does not show. One, of
// the busiest rank, or none.
std::vector<Note> uneven_stage_notes(const Job& job, const PreparedIteration& prepared);

// What of a job has not been held against measured runs; nothing where all of it has.
std::vector<Note> unfamiliar_notes(const Familiarity& familiarity);

// Levels of Job::sync whose links cannot carry exchanges as often as steps alone would ask for
// them, so that steps wait for the links, however late the result may come.
std::vector<Note> late_exchange_notes(const Job& job, const IterationReport& report);

// What a step may teach less than one over the whole batch, dense and of all replicas: its time is
// predicted, not how many are needed. About fewer synchronisations and compressed exchanges, unless
// the scenario says how many steps are due (job.steps, job.quality); about gradients that lack
// replicas or come late (redundancy).
std::vector<Note> learning_notes(const Job& job, const IterationReport& report);

// Where fewer than 30 failures are due in all trials of a campaign, Student's intervals of the mean
// are narrower than they should be: trials of which few met one are far from normal. (Of 40 seeds
// of a job with one failure in 75 trials of 100, 17 intervals held the mean of 5,000 trials.)
std::vector<Note> few_failures_notes(const CampaignInputs& inputs);

// Tiers whose writer is not through with a snapshot when the next one is due: what gives way
// (SnapshotTier::when_busy).
std::vector<Note> busy_writer_notes(const CampaignInputs& inputs);

// Loss spikes that reach further back than the copies that are kept: all of them are spoilt, and
// the job begins again from nothing, unless more are kept or they are taken less often. A note for
// each class of such failures; `tiers`: tier_reports() of the job.
std::vector<Note> spoilt_copies(const Job& job, const std::vector<TierReport>& tiers);

// A job that is to go on smaller without a spare (recovery.when_no_spare: shrink, relayout) and has
// no smaller form that can be: it waits, as if nothing were said. One with the reason, or none.
// `most_out`: CampaignReport::most_out.
std::vector<Note> whole_job_notes(const Job& job, const PreparedIteration& prepared, int most_out);

}  // namespace windtunnel
