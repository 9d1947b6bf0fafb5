// These kernel laws have linear times, so that the time of several calls follows from the number of
// calls and the total bytes.
#pragma once

#include "models/calibration/kernel_law.hpp"

namespace windtunnel {

// The law is t = fixed_s + flop_s flops + byte_s bytes.
inline KernelLaw line_of(const char* key, double fixed_s, double flop_s, double byte_s) {
  KernelLaw law;
  law.key = key;
  law.fixed_s = fixed_s;
  law.flop_s = flop_s;
  law.byte_s = byte_s;
  return law;
}

// The law is t = fixed_s + byte_s bytes, as a curve over bytes.
inline KernelLaw curve_of(const char* key, double fixed_s, double byte_s) {
  KernelLaw law;
  law.key = key;
  law.least = 1;
  law.most = 1e9;
  law.curve.sizes = {1, 1e9};
  law.curve.seconds = {fixed_s + byte_s, fixed_s + 1e9 * byte_s};
  return law;
}

}  // namespace windtunnel
