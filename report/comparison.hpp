// The points of a compare: each with its result or the reason why there is none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/record.hpp"
#include "scenarios/case.hpp"
#include "sim/sweep.hpp"

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
