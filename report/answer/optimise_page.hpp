// The page of `windtunnel optimise`: the best configuration, the ranking as a picture, memory
// against step time, and where the best lies on the edge of what was searched.
#pragma once

#include <string>
#include <vector>

#include "sim/study/optimise.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

struct OptimiseAnswer {
  std::string scenario, aim, over;  // as the command line has them
  std::string run;                  // the command that simulates the best
  std::vector<VariedKey> varied;    // keys with lists of values
};

std::string optimise_page(const Optimisation& result, const OptimiseAnswer& asked);

// A sentence for each key whose best value is the least or the most of those given.
std::vector<std::string> edge_warnings(const Optimisation& result,
                                       const std::vector<VariedKey>& varied);

}  // namespace windtunnel
