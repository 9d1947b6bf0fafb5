// A published job as a campaign: no engine is needed, as it states its costs itself. An iteration
// is a small share of the interval, so that only what the source states counts.
#pragma once

#include "models/reliability/recovery.hpp"
#include "models/results/campaign_report.hpp"

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
  // Of the failures: training diverges, and what it does until somebody notices is worth nothing.
  double divergence_share = 0;
  double notice_s = 0;
  ElasticGroups elastic{};  // with it no saves: the state comes from another group
  double iteration_s = 0;   // read with elastic groups alone
};

// Of about 5,000 failures, the same random numbers for every campaign.
CampaignReport simulate(const FaultCampaign& campaign);

// Time lost after each failure: iterations to do again, and the restart.
double simulated_loss_per_failure_s(const FaultCampaign& campaign);

}  // namespace windtunnel
