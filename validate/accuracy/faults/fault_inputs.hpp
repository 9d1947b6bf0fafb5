// A published row as a campaign: what it states, and a range for each input that it does not. The
// ranges are one table (fault_inputs.cpp), the same for every row: their ends are what other
// systems published, or an assumption that says so, and were chosen before any row was predicted.
#pragma once

#include <string>
#include <vector>

#include "traces/rows/fault_points.hpp"
#include "validate/accuracy/faults/fault_campaign.hpp"
#include "validate/accuracy/faults/fault_ranges.hpp"

namespace windtunnel {

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
