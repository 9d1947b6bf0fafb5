#include "models/results/step_range.hpp"

#include <algorithm>

namespace windtunnel {

ErrorFactors unheld_step_factors(const IterationReport& step, double covered) {
  return error_factors(step.error, covered, step.familiarity.not_contained(step.host_spread));
}

ErrorFactors held_at_peak(ErrorFactors off, double hfu_causal) {
  if (hfu_causal > 0) off.shorter = std::clamp(1 / hfu_causal, 1.0, off.shorter);
  return off;
}

ErrorFactors step_factors(const IterationReport& step, double covered) {
  return held_at_peak(unheld_step_factors(step, covered), step.hfu_causal);
}

}  // namespace windtunnel
