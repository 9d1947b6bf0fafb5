// The figures of a captured rank's step: medians over its steps. The first of three or more steps
// is left out, because it contains one-time work.
#pragma once

#include <array>
#include <cstddef>

#include "traces/profile/captured_steps.hpp"

namespace windtunnel {

struct StepFigures {
  std::size_t steps = 0;
  double step_s = 0;
  double low_s = 0;  // 5 and 95 % quantiles over the steps
  double high_s = 0;
  double compute_s = 0;
  double exposed_s = 0;
  double hidden_s = 0;
  double copy_s = 0;
  double idle_s = 0;
  double host_bound_s = 0;
  std::array<double, kWorkKinds> kind_s = {};
};

StepFigures figures_of(const CapturedRank& rank);
double kind_s(const StepFigures& figures, WorkKind kind);

// The step with the median time, without the first of three or more.
const CapturedStep& replayed_step(const CapturedRank& rank);

}  // namespace windtunnel
