// Notes for readers of a result, in addition to its figures. sim/study/record_notes.cpp says which
// notes a record gets, and in which order.
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

// Notes on choices that are slower or larger for this job than a plainer alternative, contrary to
// what their names promise: zero3 that needs more memory than zero2, bucketed reductions slower
// than none during the backward pass, mxfp8 slower than fp8. They give both figures, by
// estimate_iteration(), and the reason. Plainer choices that `software` rejects (null: none is
// named) are left out. `prepared`: prepare_iteration() of the job.
std::vector<Note> dearer_choices(const Job& job, const PreparedIteration& prepared,
                                 const Framework* software);

// A note if the timeline covers only a sample of the different ranks.
std::vector<Note> timeline_notes(const Timeline& timeline);

// A note if the critical path waits at least a tenth of the step for the host that launches
// kernels, or would if the host were as slow as possible.
std::vector<Note> host_bound_notes(const Job& job, const IterationReport& iteration);

// A note if a pipeline waits for messages that share ports with those of the other direction, and
// is faster in a simulation with one message at a time.
std::vector<Note> message_order_notes(const Job& job, const PreparedIteration& prepared,
                                      const IterationReport& iteration);

// A note if one pipeline rank computes much longer per micro-batch than the others, which then
// idle. The bubble, counted beyond the busiest rank, does not show this. There is at most one note,
// on the busiest rank.
std::vector<Note> uneven_stage_notes(const Job& job, const PreparedIteration& prepared);

// A note on a NIC that is more than three times as fast as that of the library's node of this name:
// presumably bytes were stated for bits.
std::vector<Note> unlikely_machine_notes(const Cluster& cluster);

// A note if the speeds of NICs are drawn at random (cluster.fabric.variation): the result is that
// of one draw.
std::vector<Note> drawn_nics_notes(const Cluster& cluster);

// Notes on traits of a job that no measured run has; empty if there are none.
std::vector<Note> unfamiliar_notes(const Familiarity& familiarity);

// Notes on levels of Job::sync whose links cannot carry exchanges as often as the steps would
// require, so that steps wait for links whatever delay is allowed.
std::vector<Note> late_exchange_notes(const Job& job, const IterationReport& report);

// Notes on ways in which a step may teach less than a dense one over the whole batch and all
// replicas. They are needed because the time of steps is predicted, not the number of steps. They
// cover fewer synchronisations and compressed exchanges, unless the scenario gives the number of
// steps (job.steps, job.quality), and gradients that lack replicas or are late (redundancy).
std::vector<Note> learning_notes(const Job& job, const IterationReport& report);

// A note if fewer than 30 failures are expected over all trials of a campaign. Student's intervals
// of the mean are then too narrow, because trials are far from normal if few of them meet a
// failure. (For a job with one failure in 75 trials of 100, the intervals of 17 out of 40 seeds
// held the mean of 5,000 trials.)
std::vector<Note> few_failures_notes(const CampaignInputs& inputs);

// Notes on tiers whose writer has not finished a snapshot when the next one is due, with the
// consequence (SnapshotTier::when_busy).
std::vector<Note> busy_writer_notes(const CampaignInputs& inputs);

// Notes on loss spikes that reach back further than the kept copies. Then all copies are unusable
// and the job restarts from nothing, unless it keeps more copies or takes them less often. There is
// a note for each such failure class. `tiers`: tier_reports() of the job.
std::vector<Note> spoilt_copies(const Job& job, const std::vector<TierReport>& tiers);

// A note on a job that is to go on smaller without a spare (recovery.when_no_spare: shrink,
// relayout) but has no valid smaller form, so it waits. There is one note with the reason, or none.
// `most_out`: CampaignReport::most_out.
std::vector<Note> whole_job_notes(const Job& job, const PreparedIteration& prepared, int most_out);

}  // namespace windtunnel
