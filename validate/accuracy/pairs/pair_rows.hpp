// Timings of every pair of nodes of a machine, gathered so that pairs can be compared: one series
// per machine, collective, GPUs per node and size.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "traces/nccl/nccl_tests.hpp"

namespace windtunnel {

struct PairPoint {
  int a = 0;  // places in PairMachine::nodes, a < b
  int b = 0;
  double busbw_Bps = 0;  // in place and out of place, geometric mean
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

// Rows of two nodes whose names are stated, or are the last two parts of the log's file name
// ("..._G8_node-1_node-2.log"), of all-to-all and send-receive. Other rows and those marked as
// unusable are left out.
std::vector<PairMachine> pair_machines(const CollectiveRows& rows);

}  // namespace windtunnel
