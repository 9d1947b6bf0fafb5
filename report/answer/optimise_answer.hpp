// What `windtunnel optimise` found: the best configuration, the ranking, memory against step time,
// and where the best lies on the edge of what was searched.
#pragma once

#include <string>
#include <vector>

#include "report/text/answer.hpp"
#include "sim/study/optimise.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

struct OptimiseAsked {
  std::string scenario, aim, over;  // as the command line has them
  std::string run;                  // the command that simulates the best
  std::vector<VariedKey> varied;    // keys with lists of values
};

// `result` and `asked` have to outlive it.
Answer optimise_answer(const Optimisation& result, const OptimiseAsked& asked);

}  // namespace windtunnel
