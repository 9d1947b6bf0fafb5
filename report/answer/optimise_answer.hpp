// The answer of `windtunnel optimise`: the best configuration, the ranking, memory against step
// time, and keys whose best value is at the edge of the searched values.
#pragma once

#include <string>
#include <vector>

#include "report/text/answer.hpp"
#include "sim/study/optimise.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

struct OptimiseAsked {
  std::string scenario, aim, over;  // as on the command line
  std::string run;                  // the command that simulates the best
  std::vector<VariedKey> varied;    // keys with lists of values
};

// `result` and `asked` must outlive the answer.
Answer optimise_answer(const Optimisation& result, const OptimiseAsked& asked);

}  // namespace windtunnel
