// Statistics of a log's steps: duration, spread, and behaviour over time. A job is needed only to
// convert rates into times.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/plan/job.hpp"
#include "scenarios/language/library/facts/causes.hpp"
#include "traces/logs/training_log.hpp"

namespace windtunnel {

// What converts rates into step times; 0: unknown.
struct StepAmounts {
  double tokens = 0;   // per step
  double samples = 0;  // per step
  double gpus = 0;
  double flops_per_gpu = 0;  // per step, in model FLOPs
};
StepAmounts amounts_of(const Job& job);

// Long steps that recur.
struct LongSteps {
  int count = 0;
  double extra_s = 0;  // median of the additional time
  double period = 0;   // steps from one to the next; 0: irregular
};

struct LogShape {
  int steps = 0;             // number of steps that count
  int left_out = 0;          // steps left out at the start of the log and after each restart
  int restarts = 0;          // how often the iteration number fell
  std::int64_t missing = 0;  // number of iterations that are not in the log
  int every = 1;             // iterations in each line of the log, which has their mean
  LogQuantity from = LogQuantity::step_s;  // quantity from which the step times are taken
  double median_s = 0;
  double mean_s = 0;
  double fast_s = 0, slow_s = 0;  // 5 % and 95 % quantile
  double spread = 0;              // of the logarithm of steps, without long steps and changes
  LongSteps longer;
  // If the run changes: step times before and after, or at both ends of a trend.
  std::optional<StepPattern> change;  // phase or trend
  double before_s = 0, after_s = 0;
  int change_iteration = -1;                       // iteration at which the change begins
  std::vector<StepPattern> patterns;               // seen in the log; empty: all steps are alike
  double allocated_bytes = 0, reserved_bytes = 0;  // maxima; 0: not in the log
  // Medians of the timers of a step.
  std::array<std::optional<LoggedValue>, kLogQuantities> parts;

  bool shows(StepPattern pattern) const;
  // Returns the step time in the slower part of a run that changes; the median of other runs.
  double level_s() const;
  // Returns the undisturbed step time: in the faster part of a run that changes; the median else.
  double calm_s() const;
};

// Leaves out the first steps: five, or a tenth of them if there are fewer than fifty, but at least
// one. A line that is the mean of several iterations counts as one step.
LogShape shape_of(const TrainingLog& log, const StepAmounts& amounts);

}  // namespace windtunnel
