// The fit of what makes pairs of nodes differ to timings of all pairs: leaves from who is slow with
// whom, uplinks from quantiles of how slow, shared NICs by maximum likelihood.
#pragma once

#include "validate/accuracy/pairs/pair_rows.hpp"
#include "validate/accuracy/pairs/pair_variation.hpp"

namespace windtunnel {

// Sizes 2^k bytes with odd k are fitted on, even ones are left for the verdict.
bool fitted_size(double bytes);

// Throws Error when a machine has no all-to-all of whole nodes at a size that is fitted on.
PairVariation fit_pair_variation(const PairMachine& machine);

}  // namespace windtunnel
