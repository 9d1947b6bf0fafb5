#include "models/calibration/slowdown.hpp"

#include <algorithm>
#include <cmath>

#include "models/calibration/sample.hpp"

namespace windtunnel {

Sample alone(Sample sample, const Slowdown& slowdown) {
  constexpr double kInterval95 = 1.96;  // standard deviations, as the interval of a sample has
  const double factor = std::exp(-slowdown.log * sample.disturbed);
  const double wider = std::exp(kInterval95 * kSizesDiffer * sample.disturbed);
  for (double* seconds :
       {&sample.median_s, &sample.low_s, &sample.high_s, &sample.p05_s, &sample.p95_s}) {
    *seconds *= factor;
  }
  sample.low_s /= wider;
  sample.high_s *= wider;
  sample.disturbed = 0;
  return sample;
}

double share_of_rest(double share, double part, double longer) {
  return std::clamp(share - part * longer / Slowdown{}.log, 0.0, share);
}

}  // namespace windtunnel
