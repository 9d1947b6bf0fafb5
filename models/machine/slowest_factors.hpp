// The largest factor among units that wait for each other at every draw, by the cluster's jitter.
#pragma once

#include <span>

#include "models/machine/jitter.hpp"

namespace windtunnel {

// [step or task] What FactorStream gives each of the units, the largest of it. Where a law's factor
// rises with the one number that it is made of, that is computed of the largest number alone: of
// the eight GPUs of a node in a fifth of the time.
void slowest_factors(const Jitter& jitter, std::span<const int> units, int draw,
                     std::span<double> factors);

}  // namespace windtunnel
