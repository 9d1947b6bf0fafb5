// Islands that train on their own for many steps drift apart: at an exchange they wait for the
// largest of sums over those steps, not in each step for the largest of all (which is what one
// synchronous job pays). An exchange may go ahead without the last to come.
#pragma once

#include <cstdint>
#include <vector>

#include "models/machine/jitter.hpp"
#include "models/reliability/stragglers/redundancy.hpp"

namespace windtunnel {

// Gossip: an island gets the weights of the islands that stand `distances` behind it in a ring,
// `at_once` at a time, in turn or at random, and waits for them alone.
struct GossipSenders {
  std::vector<int> distances = {};  // empty: all wait for each other
  int at_once = 1;
  bool random = false;
};

struct DriftLevel {
  double steps = 1;  // between two exchanges; of the second level a multiple of the first's
  int groups = 1;    // that exchange
  int missing = 0;   // groups that an exchange does not wait for
  double slack = 0;  // steps that an island goes on before it needs the result
  GossipSenders gossip = {};
};

// [level] Means over exchanges and islands; times over that of an undisturbed step.
struct IslandDrift {
  double step = 1;                // mean factor of an island's steps
  std::vector<double> wait = {};  // until those are there that an exchange waits for
  // Islands that come too late stop where they are, and begin again with the result: what they did
  // since the last exchange is in vain, and what they would have taken for the rest is saved.
  std::vector<double> late = {};  // share of the islands
  std::vector<double> saved = {};
};

// A worker waits for its slowest unit, and an island's step ends when `within` has what it needs of
// the workers.
struct IslandWorkers {
  int units = 1;    // GPUs or nodes of a worker
  int workers = 1;  // of an island
  Redundancy within = {};
};
// Sampled step by step. Where that is too many numbers, and the law has a variance, periods are
// normal sums: their variance is that of a step times the steps times (1 + r) / (1 - r), r being
// the correlation of steps. Factors that hold for a run are drawn for many machines.
IslandDrift sample_drift(const Jitter& jitter, const IslandWorkers& island,
                         const std::vector<DriftLevel>& levels);

// The slowest of an island in a step: mean, variance, and that of a sum of many steps over their
// number.
struct IslandStep {
  double mean = 1;
  double variance = 0;
  double long_variance = 0;
};
IslandStep island_step(const Jitter& jitter, double units);
// Sampled where a step leaves some workers out.
IslandStep island_step(const Jitter& jitter, const IslandWorkers& island);

// The drift of islands with unlike steps: periods are normal sums of each island's own step, or
// constant where its variance is 0. Figures are in the unit of the steps.
IslandDrift sample_drift(const std::vector<IslandStep>& islands, std::uint64_t seed,
                         const std::vector<DriftLevel>& levels);

}  // namespace windtunnel
