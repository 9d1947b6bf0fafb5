// Joins settings of a scenario, for tests that vary a common beginning.
#pragma once

#include "models/results/resolved_value.hpp"

namespace windtunnel {

inline Overrides joined(Overrides first, const Overrides& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace windtunnel
