#include "models/results/step_range.hpp"

#include <algorithm>

namespace windtunnel {

ErrorFactors unheld_step_factors(const IterationReport& step, double covered) {
  return error_factors(step.error, covered, step.host_spread);
}

ErrorFactors step_factors(const IterationReport& step, double covered) {
  ErrorFactors off = unheld_step_factors(step, covered);
  if (step.hfu_causal > 0) off.shorter = std::clamp(1 / step.hfu_causal, 1.0, off.shorter);
  return off;
}

}  // namespace windtunnel
