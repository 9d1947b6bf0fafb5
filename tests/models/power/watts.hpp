// Makes power figures of an invented machine.
#pragma once

#include "models/base/origin.hpp"

namespace windtunnel {

inline Parameter watts(double value) {
  return {value, value, value, Origin::assumed, "a test"};
}

}  // namespace windtunnel
