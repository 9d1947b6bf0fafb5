// An action of a schedule, cut into segments where collectives of data parallelism begin or end;
// each segment knows what is gathered before it and reduced after it.
#pragma once

#include <vector>

#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

inline constexpr double kSameShare = 1e-9;  // shares of an action closer than this are equal

// Bytes of a segment that move between the GPU and the memory or drives outside it (Job::offload).
struct HostCopies {
  double weights = 0;
  double gradients = 0;
  double activations = 0;

  bool any() const { return weights + gradients + activations > 0; }
};

// A part of an action: it takes `share` of the action's time, times `slowdown` because overlapping
// collectives use SMs and memory bandwidth.
struct Segment {
  double share = 1;
  double slowdown = 1;
  std::vector<Transfer> gathers;
  std::vector<Transfer> reductions;
  HostCopies fetched = {};  // before the segment, and before its gathers
  HostCopies evicted = {};  // after the segment; gradients after its reductions
  // Parameters that the host updates, instead of the GPU, after the segment's gathers have brought
  // their gradients. Only if gradients arrive in the next step.
  double on_host_parameters = 0;
};
using Segments = std::vector<Segment>;

// Returns the segments of a forward and a backward that run as one and alone take `forward_s` and
// `backward_s`. They are joined where they meet if no collective is there.
Segments joined(const Segments& forward, double forward_s, const Segments& backward,
                double backward_s);

// Returns the segments, cut also at these ascending shares of the action.
Segments cut_at(const Segments& segments, const std::vector<double>& shares);

}  // namespace windtunnel
