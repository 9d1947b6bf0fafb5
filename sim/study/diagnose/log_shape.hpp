// Statistics of a log's steps: duration, spread, and behaviour over time. A job is only needed to
// convert rates into times.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/library/facts/causes.hpp"
#include "traces/logs/training_log.hpp"

namespace windtunnel {

// Converts rates into step times; 0: unknown.
struct StepAmounts {
  double tokens = 0;   // per step
  double samples = 0;  // per step
  double gpus = 0;
  double flops_per_gpu = 0;  // per step, in model FLOPs
};

// Recurring long steps.
struct LongSteps {
  int count = 0;
  double extra_s = 0;  // median excess
  double period = 0;   // steps from one to the next; 0: irregular
};

struct LogShape {
  int steps = 0;             // number of steps that count
  int left_out = 0;          // skipped steps at the start of the log and after each restart
  int restarts = 0;          // occasions on which the iteration number fell
  std::int64_t missing = 0;  // iterations missing from the log
  int every = 1;             // iterations per line; each line is then their mean
  LogQuantity from = LogQuantity::step_s;  // source of the step times
  double median_s = 0;
  double mean_s = 0;
  double fast_s = 0, slow_s = 0;  // 5 % and 95 % quantile
  double spread = 0;  // log standard deviation of steps, excluding long ones and changes
  LongSteps longer;
  // If the run changes: step times before and after, or at both ends of a trend.
  std::optional<StepPattern> change;  // phase or trend
  double before_s = 0, after_s = 0;
  int change_iteration = -1;                       // where the change begins
  std::vector<StepPattern> patterns;               // what was seen; empty: all steps alike
  double allocated_bytes = 0, reserved_bytes = 0;  // maxima; 0: not in the log
  // Medians of the timers of a step.
  std::array<std::optional<LoggedValue>, kLogQuantities> parts;

  bool shows(StepPattern pattern) const;
  // The step time in the slower part of a run that changes: after a change for the worse. The
  // median of a run that does not change.
  double level_s() const;
  // The undisturbed step time, as far as the log shows it: before such a change, or the median.
  double calm_s() const;
};

// Skips first steps: five, or a tenth if there are fewer than fifty, but at least one; a line that
// is the mean of several iterations counts as one.
LogShape shape_of(const TrainingLog& log, const StepAmounts& amounts);

}  // namespace windtunnel
