// Power over the time of a simulated step, from its Timeline: of a GPU by what its tasks do, and
// sums over GPUs. A task's power is constant at its mean, since the order of kernels and
// collectives inside it is unknown, so peaks are those that a meter slower than a layer shows.
#pragma once

#include <vector>

#include "models/plan/timeline.hpp"
#include "models/power/power_spec.hpp"

namespace windtunnel {

// Power is constant from each step of a curve until the next; the first step is at 0 s.
struct PowerStep {
  double at_s = 0;
  double W = 0;
};
using PowerCurve = std::vector<PowerStep>;

// Shares of a task's span in which the GPU's kernels compute, and in which they move data between
// GPUs. Time of the span beyond the task's cost counts by its category. Receives wait; copies and
// writes to storage do not use the GPU.
struct Activity {
  double computing = 0;
  double communicating = 0;
};
Activity task_activity(const Task& task, double span_s);

// Activity of a rank from at_s until the next step; ascending. It holds no watts.
struct ActivityStep {
  double at_s = 0;
  Activity activity;
};
std::vector<ActivityStep> activity_steps(const RankClass& rank_class, const RankTimeline& rank);

PowerCurve gpu_curve(const PowerSpec& spec, const NodePower& node,
                     const std::vector<ActivityStep>& steps);

struct CountedCurve {
  const PowerCurve* curve = nullptr;
  double count = 1;
};
PowerCurve sum_of(const std::vector<CountedCurve>& curves, double constant_W = 0);

struct PowerRange {
  double energy_J = 0;  // the integral
  double mean_W = 0;
  double peak_W = 0;
  double least_W = 0;
};
PowerRange range_of(const PowerCurve& curve, double from_s, double to_s);

}  // namespace windtunnel
