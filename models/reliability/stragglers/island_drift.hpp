// Islands that train independently for many steps drift apart. An exchange waits for the island
// whose steps took longest in sum, while a synchronous job waits for the slowest in each step. An
// exchange may proceed without the last islands.
#pragma once

#include <cstdint>
#include <vector>

#include "models/machine/jitter.hpp"
#include "models/reliability/stragglers/redundancy.hpp"

namespace windtunnel {

// Gossip: an island receives the weights of the islands at `distances` behind it in a ring,
// `at_once` of them at a time, in turn or at random, and waits for these alone.
struct GossipSenders {
  std::vector<int> distances = {};  // empty: all islands wait for each other
  int at_once = 1;
  bool random = false;
};

struct DriftLevel {
  double steps = 1;  // between two exchanges; at the second level a multiple of the first level's
  int groups = 1;    // groups that take part
  int missing = 0;   // groups that an exchange does not wait for
  double slack = 0;  // steps that an island can continue before it needs the result
  GossipSenders gossip = {};
};

// [level] Means over exchanges and islands, in units of an undisturbed step.
struct IslandDrift {
  double step = 1;                // mean factor of an island's steps
  std::vector<double> wait = {};  // waiting time for the members that an exchange needs
  // Islands that are too late stop and restart from the result: their steps since the last exchange
  // are lost, and the time of the remaining ones is saved.
  std::vector<double> late = {};  // share of the islands
  std::vector<double> saved = {};
};

// A worker waits for its slowest unit. An island's step ends when `within` has what it needs from
// its workers.
struct IslandWorkers {
  int units = 1;    // GPUs or nodes of a worker
  int workers = 1;  // in an island
  Redundancy within = {};
};
// Samples step by step. If that needs too many numbers and the law has a variance, sums over a
// period are drawn from a normal law: their variance is that of a step times the number of steps
// times (1 + r) / (1 - r), r being the correlation of steps. Factors that are kept for a run are
// drawn for many machines.
IslandDrift sample_drift(const Jitter& jitter, const IslandWorkers& island,
                         const std::vector<DriftLevel>& levels);

// The slowest worker of an island in a step: mean, variance, and the variance of a sum over many
// steps divided by their number.
struct IslandStep {
  double mean = 1;
  double variance = 0;
  double long_variance = 0;
};
IslandStep island_step(const Jitter& jitter, double units);
// Sampled if a step does not wait for some workers.
IslandStep island_step(const Jitter& jitter, const IslandWorkers& island);

// The drift of islands with different steps: the length of a period is a normal sum of each
// island's own steps, or constant if its variance is 0. Results are in the unit of the steps.
IslandDrift sample_drift(const std::vector<IslandStep>& islands, std::uint64_t seed,
                         const std::vector<DriftLevel>& levels);

}  // namespace windtunnel
