// An action of a schedule, cut into segments where collectives of data parallelism begin or end;
// each segment knows what is gathered before it and reduced after it.
#pragma once

#include <vector>

#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

inline constexpr double kSameShare = 1e-9;  // shares of an action nearer than this are equal

// Bytes of a segment moved between the GPU and the tiers outside it (Job::offload).
struct HostCopies {
  double weights = 0;
  double gradients = 0;
  double activations = 0;

  bool any() const { return weights + gradients + activations > 0; }
};

// A part of an action: `share` of its cost, times `slowdown` because overlapping collectives take
// SMs and memory bandwidth from it.
struct Segment {
  double share = 1;
  double slowdown = 1;
  std::vector<Transfer> gathers;
  std::vector<Transfer> reductions;
  HostCopies fetched = {};  // before the segment, and before its gathers
  HostCopies evicted = {};  // after it; gradients after its reductions
  // If gradients arrive in the next step: parameters that the host updates, instead of the GPU,
  // once the segment's gathers have brought their gradients.
  double on_host_parameters = 0;
};
using Segments = std::vector<Segment>;

// Segments of a forward and a backward that run as one and take `forward_s` and `backward_s` alone:
// one after the other, merged where they meet if no collective is between them.
Segments joined(const Segments& forward, double forward_s, const Segments& backward,
                double backward_s);

// The same segments, also cut at these shares of the action, ascending.
Segments cut_at(const Segments& segments, const std::vector<double>& shares);

}  // namespace windtunnel
