// Measures the iterations of a campaign with the engine: the duration of every kind that can occur,
// with contention between training and snapshots, and the times to complete and to restore copies.
// The table is shared by all campaigns that differ only in failures, recovery and intervals.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/study/iterations/simulations.hpp"

namespace windtunnel {

// Simulates a step with dense gradients if the job's compressor starts later.
Warmup measure_warmup(const Job& job);

struct CampaignIterations {
  DrawnIteration plain;           // without snapshots
  std::vector<SyncSeconds> sync;  // [level of Job::sync]
  IterationTable table;
};

// How other iterations than the plain one are obtained: those of smaller jobs and with snapshots.
enum class OtherIterations {
  simulated,
  // Smaller jobs by the closed form; a blocking snapshot takes the time of its copies alone, and an
  // asynchronous one is free. For choices among many jobs.
  closed,
};

// Uses `threads` threads (0: all cores), each waiting for its own engine process; the results are
// identical for any number of threads.
CampaignIterations campaign_iterations(const Job& job, const PreparedIteration& prepared,
                                       int threads = 0,
                                       OtherIterations others = OtherIterations::simulated);

// `table`: of a job with the same Case::table. Tiers are those of this job, with its intervals;
// sim/campaign/pace.hpp computes the interval of `every_overhead`. Throws Error if the campaign is
// too short for the iterations of the table.
CampaignInputs campaign_inputs(const Job& job, IterationTable table);

}  // namespace windtunnel
