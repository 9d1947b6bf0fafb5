// The steps of a log by themselves: how long they take, how they spread, and what they look like
// over time. No job is asked but for what a rate is of.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/library/facts/causes.hpp"
#include "traces/logs/training_log.hpp"

namespace windtunnel {

// By which a rate becomes the time of a step; 0: not known.
struct StepAmounts {
  double tokens = 0;   // of a step
  double samples = 0;  // of a step
  double gpus = 0;
  double flops_per_gpu = 0;  // of a step, as model FLOPs are counted
};

// Long steps that come again.
struct LongSteps {
  int count = 0;
  double extra_s = 0;  // median of what they are longer by
  double period = 0;   // steps from one to the next; 0: irregular
};

struct LogShape {
  int steps = 0;             // that count
  int left_out = 0;          // first ones, of the log and behind each restart
  int restarts = 0;          // the number of the iteration fell
  std::int64_t missing = 0;  // iterations that the log jumps over
  int every = 1;             // iterations from one line to the next: each is then their mean
  LogQuantity from = LogQuantity::step_s;  // what step times were read off
  double median_s = 0;
  double mean_s = 0;
  double fast_s = 0, slow_s = 0;  // 5 % and 95 % quantile
  double spread = 0;  // log standard deviation of the steps that are not long, changes left out
  LongSteps longer;
  // Where the run changes: before and after it does, of a trend at both ends.
  std::optional<StepPattern> change;  // phase or trend
  double before_s = 0, after_s = 0;
  int change_iteration = -1;                       // from which on
  std::vector<StepPattern> patterns;               // what was seen; empty: all steps alike
  double allocated_bytes = 0, reserved_bytes = 0;  // the most; 0: the log does not say
  // Medians of the timers of a step.
  std::array<std::optional<LoggedValue>, kLogQuantities> parts;

  bool shows(StepPattern pattern) const;
  // What a step takes where it takes longest for longer than a few: behind a change to the worse.
  double level_s() const;
  // What it takes where nothing is the matter, as far as the log shows it: before such a change.
  double calm_s() const;
};

// First steps that are left out: five, or a tenth of them where they are fewer than fifty, one at
// least; a line that is the mean of several iterations counts as one.
LogShape shape_of(const TrainingLog& log, const StepAmounts& amounts);

}  // namespace windtunnel
