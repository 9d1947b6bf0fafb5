// The page of `windtunnel validate collectives --pairs`: a chart of measured and simulated bus
// bandwidth over pairs of nodes, then the causes of differences on each machine.
#pragma once

#include <string>

#include "validate/accuracy/pairs/pair_spread.hpp"

namespace windtunnel {

// `command` makes the page again.
std::string pairs_page(const PairSpread& spread, const std::string& command);

}  // namespace windtunnel
