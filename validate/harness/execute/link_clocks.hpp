// Emulates the scenario's links between processes of one machine, with a bucket in shared memory
// for every link of the LinkTable. A bucket is the time until which its link is busy. Sending a
// piece occupies the link for as long as the piece needs, after what was queued before. Flows that
// send piece by piece therefore share a link in turns, and a flow limited by another link takes no
// more of this one than it gets there. The engine's fluid model shares max-min fairly instead.
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
  static_assert(Bucket::is_always_lock_free);  // required for use between processes

  // `buckets` has links.count() elements, 0 before the start. `between_nodes` false: a real network
  // limits the rates of links between nodes. Keeps references.
  LinkClocks(const LinkTable& links, Bucket* buckets, bool between_nodes = true)
      : links_(links), buckets_(buckets), between_nodes_(between_nodes) {}

  // Sends what is ready at `at_s` over all these links as soon as each is free, and returns the
  // time at which all of it has passed. A link that is listed k times carries it k times. Throws
  // Error if a link has no bandwidth.
  double send(std::span<const LinkId> route, double units, double at_s) const;
  double least_capacity(std::span<const LinkId> route) const;  // infinite without links

  // Empty from a GPU to itself, and where a real network limits the rates.
  std::vector<LinkId> route(int source_gpu, int destination_gpu) const;
  std::vector<LinkId> resource(int gpu, Resource resource, int weight) const;

 private:
  const LinkTable& links_;
  Bucket* buckets_;
  bool between_nodes_;
};

}  // namespace windtunnel
