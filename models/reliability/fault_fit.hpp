// What a recorded or simulated list of node faults follows: rate, shape of the gaps, repair,
// batches, lemons; each with its 95 % confidence interval.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/reliability/failure_process.hpp"

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
  int nodes = 0;                  // nodes that were watched, with or without a fault; 0: not known
  double span_s = 0;              // how long; 0: from the first to the last fault
  std::vector<NodeFault> faults;  // by start
  // node, or process: the node stays, and the job begins again from its last snapshot.
  FailureKind kind = FailureKind::node;
  // Node time in which a fault would have been seen, as of nodes that ran jobs; 0: nodes * span_s.
  double watched_node_s = 0;
  double batch_window_s = 1;  // faults that follow each other within it are one event
  // What a reader of files assumed where its files say nothing: subject ("nodes", "days") and a
  // sentence about it, which are printed above the fit.
  std::vector<std::pair<std::string, std::string>> notes = {};
};

struct FittedValue {
  double value = 0;
  double low = 0;
  double high = 0;
};

// Of the faults that begin within the window one after the other, the nodes they hit.
struct FaultEvent {
  double start_s = 0;  // of the first
  int faults = 0;
  int nodes = 0;  // different ones; a fault whose node is not known counts as one
};

struct FaultFit {
  int faults = 0;
  int nodes = 0;                // of the log, or up to the highest node with a fault
  double span_s = 0;            // of the log, but not less than to its last fault
  FittedValue rate_per_node_s;  // exact Poisson interval, widened by the dispersion of the counts
  FittedValue gap_shape;        // Weibull by maximum likelihood on the gaps above zero; 0: too few
  FittedValue gap_mean_s;       // between faults, zeros too
  double zero_gap_share = 0;
  // A batch: faults of different nodes that begin together (within FaultLog::batch_window_s).
  std::vector<double> batch_shares;  // [i]: share of events that hit i + 1 nodes
  FittedValue faults_in_batches;     // share of faults
  FittedValue repair_median_s;       // of repairs above zero; 0: none known
  FittedValue repair_lognormal_sigma;
  double repair_mean_s = 0;    // all, zeros too
  double mean_nodes_down = 0;  // time average over the span, overlaps of a node counted once
  int most_nodes_down = 0;
  // Gamma-Poisson (negative binomial) fit of faults per node and time up, nodes without a fault
  // too; 0 where the log knows no nodes.
  FittedValue frailty_variance;
  int nodes_with_five = 0;

  FittedValue repair_lognormal_median_s{};  // the mean of the logarithms
  double rate_per_node_up_s = 0;            // of a mean node, in its time out of repair
  double dispersion = 1;                    // variance / mean of the counts per window of time
  int nodes_with_fault = 0;
};

// Throws Error without a fault, with fewer than 3 where the log does not say how long it is, with
// faults that all begin together, or a fault after the span (by a day or more: spans are told in
// whole days). 600 faults take 2 ms, 4,000 30 ms.
FaultFit fit_faults(const FaultLog& log);

std::vector<FaultEvent> fault_events(const FaultLog& log);

// The class that simulates such a log: events as a Weibull stream, lemons; of nodes also batches
// with their shares, and repairs as recorded.
FailureClass fitted_class(const FaultLog& log, const FaultFit& fit);

// FailureClass::growth by which a rate per node at one size becomes that at another.
double fit_growth(double nodes_a, double rate_a_per_node_s, double nodes_b,
                  double rate_b_per_node_s);

}  // namespace windtunnel
