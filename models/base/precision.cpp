#include "models/base/precision.hpp"

namespace windtunnel {

bool is_mixed(Precision precision) {
  return precision != Precision::fp32 && precision != Precision::tf32;
}

bool is_scaled(Precision precision) {
  return precision == Precision::fp8 || precision == Precision::mxfp8 ||
         precision == Precision::nvfp4;
}

double bytes_of(Precision precision) {
  return is_mixed(precision) ? 2 : 4;
}

}  // namespace windtunnel
