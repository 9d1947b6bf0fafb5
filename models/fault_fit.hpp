// What a recorded or simulated list of node faults follows: rate, shape of the gaps, repair,
// batches, lemons; each with its 95 % confidence interval.
#pragma once

#include <string>
#include <vector>

namespace windtunnel {

// One fault of one node.
struct NodeFault {
  double start_s = 0;
  double repair_s = 0;  // 0: not known or none
  int node = -1;        // -1: not known
  std::string cause{};
  bool operator==(const NodeFault&) const = default;
};

struct FaultLog {
  std::string name;
  int nodes = 0;       // watched, with or without a fault; 0: not known
  double span_s = 0;   // watched; 0: from the first to the last fault
  std::vector<NodeFault> faults;  // by start
};

struct FittedValue {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct FaultFit {
  int faults = 0;
  int nodes = 0;
  double span_s = 0;
  FittedValue rate_per_node_s;  // exact Poisson interval, widened by the dispersion of the counts
  FittedValue gap_shape;        // Weibull by maximum likelihood on the gaps above zero
  FittedValue gap_mean_s;
  double zero_gap_share = 0;
  // A batch: faults of different nodes that begin together (within batch_window_s).
  std::vector<double> batch_shares;   // [i]: share of events that hit i + 1 nodes
  FittedValue faults_in_batches;      // share of faults
  FittedValue repair_median_s;        // of repairs above zero
  FittedValue repair_lognormal_sigma;
  double repair_mean_s = 0;           // all, zeros too
  double mean_nodes_down = 0;         // time average over the span, overlaps of a node counted once
  int most_nodes_down = 0;
  FittedValue frailty_variance;       // gamma-Poisson (negative binomial) fit of faults per node
  int nodes_with_five = 0;
};

// Intervals: profile likelihood or bootstrap with a fixed seed; state which at each in the .cpp.
// Throws Error with fewer than 3 faults.
FaultFit fit_faults(const FaultLog& log, double batch_window_s = 1);

}  // namespace windtunnel
