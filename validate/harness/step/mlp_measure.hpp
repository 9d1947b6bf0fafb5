// Steps of an MLP between processes of this machine, measured: one core each, as they come one
// behind the other in training.
#pragma once

#include "models/calibration/kernel_work.hpp"
#include "validate/harness/step/mlp_step.hpp"
#include "validate/harness/timing/series.hpp"

namespace windtunnel {

struct MeasuredStep {
  int steps = 0;         // that count: those that others disturbed least
  int all_steps = 0;     // that ran
  double disturbed = 0;  // share of time, of the steps that count
  SeriesSummary step;    // of the slowest rank
  // By phase the mean over ranks, in the median over steps. Of what is counted as communication
  // `waiting_s` is more than the rank has that waits least: for others to come.
  StepSeconds phases;
  double waiting_s = 0;
  KernelSteps work;  // what a rank runs
};

// As many processes as the plan has ranks, `budget_s` of steps after some to warm up. Throws Error
// where there are fewer cores than ranks: time-sliced, a step says nothing.
MeasuredStep measure_mlp_step(const MlpPlan& plan, double budget_s);

}  // namespace windtunnel
