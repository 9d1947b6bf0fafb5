// An action of a schedule cut into segments, at the points where collectives of data parallelism
// begin or end; each segment knows what is gathered before it and reduced behind it.
#pragma once

#include <vector>

#include "policies/exchange/shard_transfers.hpp"

namespace windtunnel {

// What a segment has on its way between the GPU and the tiers beside it, in bytes
// (Job::offload).
struct HostCopies {
  double weights = 0;
  double gradients = 0;
  double activations = 0;

  bool any() const { return weights + gradients + activations > 0; }
};

// Part of an action: `share` of its cost, times `slowdown` because collectives run beside it and
// take SMs and memory bandwidth from it.
struct Segment {
  double share = 1;
  double slowdown = 1;
  std::vector<Transfer> gathers;
  std::vector<Transfer> reductions;
  HostCopies fetched = {};  // before it, and before its gathers
  HostCopies evicted = {};  // behind it; gradients behind its reductions
  // Parameters that the host, and not the GPU, updates when the gathers have brought their
  // gradients: where gradients arrive in the next step.
  double on_host_parameters = 0;
};
using Segments = std::vector<Segment>;

// Segments of a forward and a backward that run as one and take `forward_s` and `backward_s` apart:
// one behind the other; where they meet, one segment if no collective stands between them.
Segments joined(const Segments& forward, double forward_s, const Segments& backward,
                double backward_s);

// The same segments, cut besides at these shares of the action, ascending.
Segments cut_at(const Segments& segments, const std::vector<double>& shares);

}  // namespace windtunnel
