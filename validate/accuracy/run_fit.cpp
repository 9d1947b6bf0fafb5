#include "validate/accuracy/run_fit.hpp"

#include <cmath>

namespace windtunnel {
namespace {

constexpr double kNormal95 = 1.6448536269514722;  // 95 % quantile of the normal distribution

}  // namespace

RunFit fit_runs(const std::vector<FitRow>& rows, const Calibration& prior, const FitOptions&) {
  RunFit fit;
  fit.calibration = prior;
  fit.rows = static_cast<int>(rows.size());
  return fit;
}

RunFit fit_one_point(const FitRow& row, const Calibration& prior, const FitOptions& options) {
  FitOptions one = options;
  one.only = {"kernel.sustained"};
  one.fixed.clear();
  one.flat_prior = true;
  return fit_runs({row}, prior, one);
}

PredictionInterval interval(const RunPrediction& prediction, const Calibration& calibration) {
  const double step = std::exp(kNormal95 * calibration.step_error.value);
  const double memory = std::exp(kNormal95 * calibration.memory_error.value);
  return {.step_low_s = prediction.step_s / step,
          .step_high_s = prediction.step_s * step,
          .memory_low_bytes = prediction.memory_bytes / memory,
          .memory_high_bytes = prediction.memory_bytes * memory};
}

}  // namespace windtunnel
