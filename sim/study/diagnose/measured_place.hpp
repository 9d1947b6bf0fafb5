// The place of a measured value in the distribution of a prediction.
#pragma once

#include "models/calibration/prediction_error.hpp"

namespace windtunnel {

// Distribution of log(measured / predicted): Student's t as in error_factors(), with a different
// scale on either side of 0.
class MeasuredPlace {
 public:
  MeasuredPlace(const Parameter& error, const StepSpread& spread);

  double below(double ratio) const;        // probability of a smaller ratio
  double log_density(double ratio) const;  // of the density of the ratio's logarithm

 private:
  double scaled(double ratio) const;
  double freedom_;
  double shorter_, longer_;  // scales on either side
};

}  // namespace windtunnel
