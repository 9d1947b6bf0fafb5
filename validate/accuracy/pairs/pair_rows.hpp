// Groups timings of every pair of nodes for comparison: a series has one machine, collective,
// number of GPUs per node and size.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "traces/nccl/nccl_tests.hpp"

namespace windtunnel {

struct PairPoint {
  int a = 0;  // indices in PairMachine::nodes, a < b
  int b = 0;
  double busbw_Bps = 0;  // geometric mean of in place and out of place
};

struct PairSeries {
  CollectiveKind kind = CollectiveKind::all_to_all;
  int gpus_per_node = 1;
  double bytes = 0;
  std::vector<PairPoint> points;
};

struct PairMachine {
  std::string name;
  std::vector<std::string> nodes;  // sorted
  std::vector<PairSeries> series;  // by collective, GPUs per node and size
  int node_gpus() const;           // the most that any series uses
};

// Selects rows of all-to-all and send-receive on two nodes whose names are stated, or are the last
// two parts of the log's file name ("..._G8_node-1_node-2.log"). Ignores other rows and those
// marked as unusable.
std::vector<PairMachine> pair_machines(const CollectiveRows& rows);

}  // namespace windtunnel
