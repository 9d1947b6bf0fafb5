// Makes a number of a cost model for tests: exact, with a stated origin.
#pragma once

#include "models/base/origin.hpp"

namespace windtunnel {

inline Parameter parameter(double value, Origin origin = Origin::spec) {
  return {value, value, value, origin, "test"};
}

}  // namespace windtunnel
