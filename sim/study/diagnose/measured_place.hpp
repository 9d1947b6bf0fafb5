// The position of a measured value in the distribution of a prediction.
#pragma once

#include "models/calibration/prediction_error.hpp"

namespace windtunnel {

// Distribution of log(measured / predicted): Student's t as in error_factors(), with a separate
// scale on either side.
class MeasuredPlace {
 public:
  MeasuredPlace(const Parameter& error, const StepSpread& spread);

  double below(double ratio) const;        // probability of a smaller ratio
  double log_density(double ratio) const;  // of the ratio's logarithm

 private:
  double scaled(double ratio) const;
  double freedom_;
  double shorter_, longer_;  // scales
};

}  // namespace windtunnel
