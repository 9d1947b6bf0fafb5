// Where a measured value lies in the range of a prediction.
#pragma once

#include "models/calibration/prediction_error.hpp"

namespace windtunnel {

// A law of the logarithm of measured over predicted: Student's, as error_factors() has it, with a
// scale on either side.
class MeasuredPlace {
 public:
  MeasuredPlace(const Parameter& error, const StepSpread& spread);

  double below(double ratio) const;        // chance of a smaller one
  double log_density(double ratio) const;  // of the ratio's logarithm

 private:
  double scaled(double ratio) const;
  double freedom_;
  double shorter_, longer_;  // scales
};

}  // namespace windtunnel
