// The largest factor among units that synchronise at every draw, by the cluster's jitter.
#pragma once

#include <span>

#include "models/machine/jitter.hpp"

namespace windtunnel {

// Fills [step or task] with the largest of the units' FactorStream factors. If a law's factor
// increases with the one random number behind it, only the largest number is transformed: for the
// eight GPUs of a node this takes a fifth of the time.
void slowest_factors(const Jitter& jitter, std::span<const int> units, int draw,
                     std::span<double> factors);

}  // namespace windtunnel
