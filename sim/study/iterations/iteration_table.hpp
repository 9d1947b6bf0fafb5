// The engine's part of a campaign: how long every kind of iteration that it can meet takes, with
// contention between training and the snapshots, and how long a copy takes to be complete and to
// come back. Made once for all campaigns that differ only in failures, recovery and intervals.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/study/iterations/simulations.hpp"

namespace windtunnel {

// Simulates a step with dense gradients where the job's compressor does not start at once.
Warmup measure_warmup(const Job& job);

struct CampaignIterations {
  DrawnIteration plain;           // without snapshots
  std::vector<SyncSeconds> sync;  // [level of Job::sync]
  IterationTable table;
};

// How iterations besides the plain one are known: of smaller jobs and with snapshots.
enum class OtherIterations {
  simulated,
  // Smaller jobs by the closed form; a snapshot that training waits for takes what its copies
  // would alone, and one beside training costs it nothing. For choices among many jobs.
  closed,
};

// On `threads` threads (0: all cores), each of which waits for an engine of its own; the same bytes
// for any number of threads.
CampaignIterations campaign_iterations(const Job& job, const PreparedIteration& prepared,
                                       int threads = 0,
                                       OtherIterations others = OtherIterations::simulated);

// `table` of a job with the same Case::table. Tiers are those of this job, with its intervals; how
// often `every_overhead` allows a snapshot is worked out by sim/campaign/pace.hpp. Throws Error
// when the campaign is too short for the iterations of the table.
CampaignInputs campaign_inputs(const Job& job, IterationTable table);

}  // namespace windtunnel
