// Expected time of a collective on a machine over sizes, with 90 % intervals. The law and its
// uncertainty are those that `windtunnel validate collectives` judges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/network/collectives/collective.hpp"

namespace windtunnel {

struct ExpectRequest {
  CollectiveKind kind = CollectiveKind::all_reduce;
  CollectiveChoice choice = {};    // forced choice, as by NCCL_ALGO and NCCL_PROTO
  std::vector<double> sizes = {};  // bytes, as in collective_cost()
  Cluster cluster = {};
  std::vector<std::int32_t> gpus = {};  // GPUs that take part
  Calibration calibration = {};
  bool fitted = false;           // whether the law was fitted on collectives of this machine
  bool nvls = true;              // whether NVLink SHARP may be picked
  int nccl_release = 0;          // 23 for NCCL 2.23: its table is used; 0: that of the law
  int process_gpus = 1;          // GPUs on which one process launches, one after the other
  bool process_assumed = false;  // process_gpus was not given
};

struct ExpectedSize {
  double bytes = 0;
  double seconds = 0, low_s = 0, high_s = 0;  // the ends of the 90 % interval
  double log_sd = 0;  // half of the interval as a standard deviation of the logarithm
  Origin origin = Origin::assumed;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  Protocol protocol = Protocol::simple;
};

struct ExpectedCurve {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 0, nodes = 0;
  std::vector<ExpectedSize> sizes;
  // What the intervals are based on. With a law these are the noise of large and of small messages.
  // Otherwise they are the ends of the calibration's intervals, with the reason in `why_no_law`.
  Parameter noise, small_noise;
  Parameter slow_share, slow_log;  // slow nodes (interconnect_law.hpp); 0 for a single node
  std::string why_no_law;
  int process_gpus = 1;  // ExpectRequest::process_gpus
  bool process_assumed = false;
};

// Throws Error if the group has fewer than two members.
ExpectedCurve expect_collective(const ExpectRequest& request);

// Returns the bus bandwidth in bytes per second, as nccl-tests define it (doc/PERFORMANCE.md).
double bus_bandwidth(const ExpectedCurve& curve, double bytes, double seconds);

}  // namespace windtunnel
