// Fits the causes of differences between pairs of nodes to timings of all pairs: leaves from which
// pairs are slow, uplinks from quantiles of their slowness, shared NICs by maximum likelihood.
#pragma once

#include "validate/accuracy/pairs/pair_rows.hpp"
#include "validate/accuracy/pairs/pair_variation.hpp"

namespace windtunnel {

// True for sizes 2^k bytes with odd k; even ones are for judging.
bool fitted_size(double bytes);

// Throws Error if a machine has no all-to-all of whole nodes at a fitted size.
PairVariation fit_pair_variation(const PairMachine& machine);

}  // namespace windtunnel
