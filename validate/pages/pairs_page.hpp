// The page of `windtunnel validate collectives --pairs`: bus bandwidth over pairs of nodes,
// measured and simulated, in one picture; then what makes the pairs of each machine differ.
#pragma once

#include <string>

#include "validate/accuracy/pairs/pair_spread.hpp"

namespace windtunnel {

// `command`: what makes the page again.
std::string pairs_page(const PairSpread& spread, const std::string& command);

}  // namespace windtunnel
