// Simulates the iterations of a campaign: the duration of every kind that can occur, with
// contention between training and snapshots, and the times to complete and to restore copies. All
// campaigns that differ only in failures, recovery and intervals share the table.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/study/iterations/simulations.hpp"

namespace windtunnel {

// If the job's compressor starts later, simulates a step with dense gradients.
Warmup measure_warmup(const Job& job);

struct CampaignIterations {
  DrawnIteration plain;           // without snapshots
  std::vector<SyncSeconds> sync;  // [level of Job::sync]
  IterationTable table;
};

// How iterations of smaller jobs, and those with snapshots, are obtained.
enum class OtherIterations {
  simulated,
  // Smaller jobs take the time of the closed form. A blocking snapshot takes the time of its copies
  // alone, and an asynchronous one takes none. This is for choices among many jobs.
  closed,
};

// Uses `threads` threads (0: all cores), each of which waits for an engine process. The results do
// not depend on their number.
CampaignIterations campaign_iterations(const Job& job, const PreparedIteration& prepared,
                                       int threads = 0,
                                       OtherIterations others = OtherIterations::simulated);

// `table`: of a job with the same Case::table. The tiers are those of this job, with its intervals;
// sim/campaign/pace.hpp computes the interval of `every_overhead`. Throws Error if the campaign is
// too short for the iterations of the table.
CampaignInputs campaign_inputs(const Job& job, IterationTable table);

}  // namespace windtunnel
