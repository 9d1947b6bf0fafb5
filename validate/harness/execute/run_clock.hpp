// The clock of an execution: seconds of the scenario, computed from this machine's clock. All ranks
// have the same clock, because they are processes of one machine.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/machine/links/links.hpp"

namespace windtunnel {

// How a Plan is scaled to a machine: T seconds of the scenario take T / times real seconds, and B
// bytes become B / bytes real bytes. A link of R bytes per second then becomes one of R * times /
// bytes. All durations scale alike, so the order of events does not change. Values below 1 stretch.
struct ExecutionScale {
  double times = 1;
  double bytes = 1;
};

class RunClock {
 public:
  // `spins`: the process has a core of its own, so the last moments of a wait are spent spinning.
  // `sleeps_until_ns` receives the latest time slept until, for the watcher; may be null.
  RunClock(std::int64_t start_ns, double times, bool spins,
           std::atomic<std::int64_t>* sleeps_until_ns = nullptr)
      : start_ns_(start_ns), times_(times), spins_(spins), sleeps_until_ns_(sleeps_until_ns) {}

  double now_s() const;  // of the scenario, since the start
  void sleep_until(double scenario_s) const;
  std::int64_t real_ns(double scenario_s) const;  // on CLOCK_MONOTONIC

  static std::int64_t monotonic_ns();

 private:
  std::int64_t start_ns_;
  double times_;
  bool spins_;
  std::atomic<std::int64_t>* sleeps_until_ns_;
};

// Makes threads of this process that start later wake within microseconds of the requested time.
void wake_exactly();

// Emulates the scenario's links between processes of one machine, with a bucket in shared memory
// for every link of the LinkTable. A bucket is the time until which its link is busy. Sending a
// piece occupies the link for as long as the piece needs, after what was queued before. Flows that
// send piece by piece therefore share a link in turns, and a flow limited by another link takes no
// more of this one than it gets there. The engine's fluid model shares max-min fairly instead.
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
