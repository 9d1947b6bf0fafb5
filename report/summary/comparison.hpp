// The points of a compare, each with its result or the reason why it has none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/results/record.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

struct ComparedPoint {
  Overrides set;                 // the varied keys, in the order of the command line
  std::optional<Record> record;  // none: infeasible
  std::string reason;
};

struct Comparison {
  std::vector<VariedKey> vary;
  std::vector<ComparedPoint> points;  // in the order of the cross product
};

}  // namespace windtunnel
