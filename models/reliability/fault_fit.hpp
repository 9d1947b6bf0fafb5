// Fits a recorded or simulated list of node faults: rate, shape of the gaps, repair times, batches,
// unequal hazards; each with its 95 % confidence interval.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/reliability/failure_process.hpp"

namespace windtunnel {

// One fault of one node.
struct NodeFault {
  double start_s = 0;
  double repair_s = 0;  // 0: unknown or none
  int node = -1;        // -1: unknown
  std::string cause{};
  bool operator==(const NodeFault&) const = default;
};

struct FaultLog {
  std::string name;
  int nodes = 0;                  // observed nodes, with or without faults; 0: unknown
  double span_s = 0;              // observed time; 0: from the first to the last fault
  std::vector<NodeFault> faults;  // by start
  // FailureKind::node, or process if the node stays up and the job restarts from its snapshot.
  FailureKind kind = FailureKind::node;
  // Node time in which a fault would have been recorded, e.g. only while nodes ran jobs; 0: nodes *
  // span_s.
  double watched_node_s = 0;
  double batch_window_s = 1;  // faults less than this apart are one event
  // What a reader assumed because its files do not say: subject ("nodes", "days") and a sentence,
  // printed above the fit.
  std::vector<std::pair<std::string, std::string>> notes = {};
};

struct FittedValue {
  double value = 0;
  double low = 0;
  double high = 0;
};

// Faults that each begin within the window of the one before are one event.
struct FaultEvent {
  double start_s = 0;  // of the first
  int faults = 0;
  int nodes = 0;  // distinct nodes; a fault with unknown node counts as one
};

struct FaultFit {
  int faults = 0;
  int nodes = 0;                // of the log, or one more than the highest node number
  double span_s = 0;            // of the log, but at least to its last fault
  FittedValue rate_per_node_s;  // exact Poisson interval, widened by the overdispersion of counts
  FittedValue gap_shape;        // Weibull by maximum likelihood on the gaps above zero; 0: too few
  FittedValue gap_mean_s;       // between faults, including zeros
  double zero_gap_share = 0;
  // A batch: faults of different nodes that begin together (within FaultLog::batch_window_s).
  std::vector<double> batch_shares;  // [i]: share of events that hit i + 1 nodes
  FittedValue faults_in_batches;     // share of faults
  FittedValue repair_median_s;       // of repairs above zero; 0: none known
  FittedValue repair_lognormal_sigma;
  double repair_mean_s = 0;  // of all repairs, including zeros
  // time average over the span; overlapping repairs of a node count once
  double mean_nodes_down = 0;
  int most_nodes_down = 0;
  // Gamma-Poisson (negative binomial) fit of faults per node and time up, including nodes without
  // faults; 0 if the number of nodes is unknown.
  FittedValue frailty_variance;
  int nodes_with_five = 0;

  FittedValue repair_lognormal_median_s{};  // from the mean of logarithms
  double rate_per_node_up_s = 0;  // for an average node, per time that it is not in repair
  double dispersion = 1;          // variance / mean of the counts per time window
  int nodes_with_fault = 0;
};

// Throws Error if there is no fault, fewer than 3 in a log without a span, all faults begin
// together, or a fault is a day or more after the span (spans are given in whole days). 600 faults
// take 2 ms, 4,000 30 ms.
FaultFit fit_faults(const FaultLog& log);

std::vector<FaultEvent> fault_events(const FaultLog& log);

// The failure class that simulates such a log: events as a Weibull stream, with unequal hazards.
// Node faults also have batches with their shares, and recorded repair times.
FailureClass fitted_class(const FaultLog& log, const FaultFit& fit);

// Fits the FailureClass::growth that leads from the rate per node at one size to that at another.
double fit_growth(double nodes_a, double rate_a_per_node_s, double nodes_b,
                  double rate_b_per_node_s);

}  // namespace windtunnel
