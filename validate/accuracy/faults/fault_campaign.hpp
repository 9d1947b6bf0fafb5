// Simulates a published job as a campaign. It needs no engine, because the source states its costs.
// An iteration is a small share of the interval, so only stated numbers matter.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/base/origin.hpp"
#include "models/reliability/recovery.hpp"
#include "models/results/campaign_report.hpp"
#include "traces/rows/fault_points.hpp"

namespace windtunnel {

struct FaultInput {
  std::string name;
  std::string unit;  // empty: a plain number
  double low = 0;
  double high = 0;
  std::string why;                  // reason for both ends, chosen before any prediction
  Origin origin = Origin::assumed;  // published: both ends are published elsewhere
  int effect = 0;                   // 1 or -1: the result rises or falls with it; 0: not known
  bool stated = false;              // the source states the range
  double swing = 0;  // |change of the result| between the ends, with other inputs in the middle

  // Returns the value at a share of the range (0: low, 1: high); geometric if the ends differ by a
  // factor of 3 or more.
  double at(double share) const;
};

struct PredictedRange {
  double value = 0;  // with all inputs in the middle of their ranges
  double low = 0;
  double high = 0;
  int points = 0;
};

// The argument has one value per input, in order.
using FaultPredictor = std::function<double(const std::vector<double>&)>;
using FaultConstraint = std::function<bool(const std::vector<double>&)>;

// Predicts with inputs that the source does not publish: the smallest and largest result over the
// box of the inputs' ranges. If the result is known to rise or fall with an input, its two ends
// suffice; other inputs take five levels each. Points inside the box check both, and also count.
// Sets the swings of `inputs`.
PredictedRange range_over(std::vector<FaultInput>& inputs, const FaultPredictor& predict,
                          int threads);

// Returns the range over the part of the box where `allowed` holds: points outside are moved
// towards the best corner until it does. Throws Error if that corner is not allowed either.
PredictedRange range_within(const std::vector<FaultInput>& inputs, const FaultPredictor& predict,
                            const FaultConstraint& allowed, int threads);

struct FaultCampaign {
  int nodes = 1;
  double mtbf_s = 0;         // between unexpected failures of the job
  double planned_per_s = 0;  // planned stops
  double length_s = 0;       // 0: so long that its ends do not matter
  double interval_s = 0;     // work between two saves
  int iterations_per_save = 64;
  double stall_s = 0;    // how long training waits in each save
  double save_s = 0;     // until it is complete
  double restart_s = 0;  // from a failure until training continues, including detection and loading
  double gap_shape = 1;  // shape of the Weibull law of gaps between failures
  bool regular = false;  // failures are equally spaced, as injected ones are
  double spares = -1;    // negative: a spare node is always available
  double repair_s = 0;
  // Share of the failures in which training diverges; work is lost until someone notices.
  double divergence_share = 0;
  double notice_s = 0;
  ElasticGroups elastic{};  // replaces saves: the state comes from another group
  double iteration_s = 0;   // only used with elastic groups
};

// Simulates about 5,000 failures, with the same random numbers for every campaign.
CampaignReport simulate(const FaultCampaign& campaign);

// Returns the time lost per failure: iterations to repeat, and the restart.
double simulated_loss_per_failure_s(const FaultCampaign& campaign);

// ---- A row as a campaign: its stated inputs, and a range for each missing one. One table has the
// ranges for all rows (fault_inputs.cpp). Their ends were published for other systems, or are
// marked as assumptions, and were chosen before any row was predicted.

// The member of FaultCampaign that an input sets.
using FaultKnob = double FaultCampaign::*;

struct FaultJob {
  FaultCampaign campaign;          // with stated inputs
  std::vector<int> sizes;          // in nodes; the metric is the mean over these
  double rate_per_node_s = 0;      // of unexpected failures
  std::vector<FaultInput> inputs;  // missing in the source, or stated as a range
  std::vector<FaultKnob> knobs;    // of `inputs`
  // The most that an interruption can cost, if the source states the number of interruptions, the
  // duration and a goodput that was exceeded; 0 if it does not.
  double most_cost_s = 0;
  double gap_s = 0;  // mean time between interruptions of any kind

  FaultCampaign at(const std::vector<double>& values, int size) const;
  double cost_s(const std::vector<double>& values) const;  // of an interruption; additive
};

// Throws Error with the reason if the row states too little for a campaign.
FaultJob fault_job(const FaultPoint& point);

// Returns the job with the table's range for the interval, because the row's stated interval may
// not be real.
FaultJob with_open_interval(FaultJob job);

// Returns the inputs of a job that loses the current step and continues (quorum per step): step and
// stall.
std::vector<FaultInput> quorum_inputs();

}  // namespace windtunnel
