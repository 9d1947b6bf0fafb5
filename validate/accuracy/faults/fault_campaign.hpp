// A published job as a campaign: no engine is needed, as it states its costs itself. An iteration
// is a small share of the interval, so that only what the source states counts.
#pragma once

#include <string>
#include <vector>

#include "models/reliability/recovery.hpp"
#include "models/results/campaign_report.hpp"
#include "traces/rows/fault_points.hpp"
#include "validate/accuracy/faults/fault_ranges.hpp"

namespace windtunnel {

struct FaultCampaign {
  int nodes = 1;
  double mtbf_s = 0;         // between unexpected failures of the job
  double planned_per_s = 0;  // planned stops
  double length_s = 0;       // 0: so long that its ends do not count
  double interval_s = 0;     // of work between two saves
  int iterations_per_save = 64;
  double stall_s = 0;    // training waits in each save
  double save_s = 0;     // until it is complete
  double restart_s = 0;  // from a failure until training goes on, detection and loading included
  double gap_shape = 1;  // Weibull
  bool regular = false;  // failures come at equal distances: injected ones
  double spares = -1;    // negative: another node is always there
  double repair_s = 0;
  // Share of the failures in which training diverges; its work is lost until somebody notices.
  double divergence_share = 0;
  double notice_s = 0;
  ElasticGroups elastic{};  // with it no saves: the state comes from another group
  double iteration_s = 0;   // read with elastic groups alone
};

// Simulates about 5,000 failures, with the same random numbers for every campaign.
CampaignReport simulate(const FaultCampaign& campaign);

// Time lost after each failure: iterations to do again, and the restart.
double simulated_loss_per_failure_s(const FaultCampaign& campaign);

// ---- A row as a campaign: what it states, and a range for each input that it does not. The ranges
// are one table (fault_inputs.cpp), the same for every row: their ends are what other systems
// published, or an assumption that says so, and were chosen before any row was predicted.

// The input that a range is of, as a member of FaultCampaign.
using FaultKnob = double FaultCampaign::*;

struct FaultJob {
  FaultCampaign campaign;          // at what is stated
  std::vector<int> sizes;          // in nodes; the metric is a mean over these
  double rate_per_node_s = 0;      // of unexpected failures
  std::vector<FaultInput> inputs;  // not published, or published as a range
  std::vector<FaultKnob> knobs;    // of `inputs`
  // All costs of an interruption together, where the source states how many there were, for how
  // long, and a goodput that was exceeded; 0: it does not.
  double most_cost_s = 0;
  double gap_s = 0;  // between interruptions of any kind

  FaultCampaign at(const std::vector<double>& values, int size) const;
  double cost_s(const std::vector<double>& values) const;  // of an interruption, additive
};

// Throws Error with the reason when the row states too little for a campaign.
FaultJob fault_job(const FaultPoint& point);

// The job with the table's range for the interval, where the row states one that may not be real.
FaultJob with_open_interval(FaultJob job);

// Step and stall of a job that loses the step under way and goes on (quorum per step).
std::vector<FaultInput> quorum_inputs();

}  // namespace windtunnel
