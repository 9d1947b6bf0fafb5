// Periods of local training that grow as the learning rate falls. Quadratic Synchronization Rule
// (Gu et al. 2024, arXiv 2310.14423, equation 2): an exchange that follows step t is due after H =
// max(H_base, floor((alpha / rate(t))^2)) more steps.
#pragma once

#include <vector>

namespace windtunnel {

// The learning rate at one step. Between two such steps the rate changes linearly.
struct LearningRate {
  double step = 0;
  double rate = 0;
};

// Mean number of steps between two exchanges, over all steps that the rates span; the last step
// ends with an exchange. `rates`: at least two, in the order of their steps; `base_steps` (H_base)
// >= 1; `growth` (alpha) in the unit of the rate.
double quadratic_period_steps(const std::vector<LearningRate>& rates, double base_steps,
                              double growth);

}  // namespace windtunnel
