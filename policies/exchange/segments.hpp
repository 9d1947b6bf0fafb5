// An action of a schedule cut into segments, at the points where collectives of data parallelism
// begin or end; each segment knows what is gathered before it and reduced behind it.
#pragma once

#include <vector>

#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

// Part of an action: `share` of its cost, times `slowdown` because collectives run beside it and
// take SMs and memory bandwidth from it.
struct Segment {
  double share = 1;
  double slowdown = 1;
  std::vector<Transfer> gathers;
  std::vector<Transfer> reductions;
};
using Segments = std::vector<Segment>;

}  // namespace windtunnel
