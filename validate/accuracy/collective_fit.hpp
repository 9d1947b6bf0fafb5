// The laws of one network fitted on measured collectives, and how far a prediction may be off:
// a log-normal core with the rarer, wider errors of a shared fabric beside it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/calibration.hpp"
#include "models/cluster.hpp"
#include "models/collective.hpp"
#include "models/group_shape.hpp"
#include "validate/accuracy/collective_machine.hpp"

namespace windtunnel {

// One measured point: the median over its repeats, placements and variants.
struct ScoredRow {
  std::string id;  // of its first row, "file:line"
  std::string machine;
  std::string environment;
  CollectiveKind kind = CollectiveKind::all_reduce;
  CollectiveChoice choice;                         // what its notes say was forced
  std::shared_ptr<const CollectiveMachine> where;  // cluster, GPUs and their shape
  int gpus = 0;
  int nodes = 0;
  double bytes = 0;
  double seconds = 0;               // the median of:
  std::vector<double> samples;      // s, in the order of the file
  std::vector<std::string> labels;  // of each: its notes, which name the run
};

struct FittedNetwork {
  std::string machine;
  std::string environment;
  Calibration calibration;
  double sigma_log = 0.3;  // of log(measured / predicted), its core
  double tail_share = 0;   // share of rows of the wider part
  double tail_sigma_log = 0;
  int rows = 0;  // fitted on; 0: from specification alone
};

// `rows` of one machine and environment; they bring their clusters. `prior`: where it starts.
FittedNetwork fit_network(std::span<const ScoredRow> rows, const Cluster& node_template,
                          const Calibration& prior);

// The 90 % interval of measured / predicted.
struct TimeFactors {
  double low = 1;
  double high = 1;
};
TimeFactors interval(const FittedNetwork& network, int nodes, double bytes);

}  // namespace windtunnel
