// The scenario's links between processes of one machine: for every link of the LinkTable a bucket
// in memory that all ranks share. A bucket is the time until which its link is taken; whoever sends
// a piece takes the link for as long as the piece needs, behind what was taken before. Flows that
// send piece by piece so share a link in turns, and a flow that another link holds up takes no more
// of this one than it gets there: what the engine shares max-min fairly in a fluid.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "models/machine/links/links.hpp"

namespace windtunnel {

class LinkClocks {
 public:
  using Bucket = std::atomic<double>;          // seconds of the scenario
  static_assert(Bucket::is_always_lock_free);  // between processes, too

  // `buckets`: links.count() of them, 0 before the start. `between_nodes`: false where a real
  // network has the rates of the links there. Keeps references.
  LinkClocks(const LinkTable& links, Bucket* buckets, bool between_nodes = true)
      : links_(links), buckets_(buckets), between_nodes_(between_nodes) {}

  // Sends what is ready at `at_s` over all these links, as soon as each is free; when all of it has
  // passed. A link that is listed k times carries it k times. Throws Error where one has no
  // bandwidth.
  double send(std::span<const LinkId> route, double units, double at_s) const;
  double least_capacity(std::span<const LinkId> route) const;  // infinite: no link

  // Nothing on the route to oneself, and where others hold the rates.
  std::vector<LinkId> route(int source_gpu, int destination_gpu) const;
  std::vector<LinkId> resource(int gpu, Resource resource, int weight) const;

 private:
  const LinkTable& links_;
  Bucket* buckets_;
  bool between_nodes_;
};

}  // namespace windtunnel
