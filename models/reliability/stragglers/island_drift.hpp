// Islands that train on their own for many steps drift apart: at an exchange they wait for the
// largest of sums over those steps, not in each step for the largest of all (which is what one
// synchronous job pays). An exchange may go ahead without the last to come.
#pragma once

#include <vector>

#include "models/machine/jitter.hpp"

namespace windtunnel {

struct DriftLevel {
  double steps = 1;  // between two exchanges; of the second level a multiple of the first's
  int groups = 1;    // that exchange
  int missing = 0;   // of them, that an exchange does not wait for
  double slack = 0;  // steps that an island goes on before it needs the result
};

struct IslandDrift {
  double step = 1;                // mean factor of an island's steps
  std::vector<double> wait = {};  // [level] of an island at an exchange, over an undisturbed step
  std::vector<double> given_up = {};  // [level] likewise: work of islands that came too late
};

// By the law of large numbers, of one level without slack: the sum over many steps is normal, its
// variance that of a step times the steps times (1 + r) / (1 - r) of their correlation; the k-th of
// n is expected where that of n normal variables is.
IslandDrift expected_drift(const Jitter& jitter, double units, const DriftLevel& level);

// Sampled, step by step, or where that is too many numbers by normal sums of the periods. `units`:
// GPUs or nodes of an island, whose slowest each of its steps waits for.
IslandDrift sample_drift(const Jitter& jitter, int units, const std::vector<DriftLevel>& levels);

// The slowest of an island in a step: mean, variance, and that of a sum of many steps over their
// number.
struct IslandStep {
  double mean = 1;
  double variance = 0;
  double long_variance = 0;
};
IslandStep island_step(const Jitter& jitter, double units);

}  // namespace windtunnel
