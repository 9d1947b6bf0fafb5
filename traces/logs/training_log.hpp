// What a training program prints while it runs, as steps: the lines of Megatron-LM, NeMo,
// torchtitan, DeepSpeed, Trainer and others, MLPerf's log, and tables that TensorBoard and W&B
// write. Which texts mean which quantity is a table (log_forms.hpp); nothing here knows a program.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "traces/logs/log_forms.hpp"

namespace windtunnel {

// Holds one value, or the least and the largest over ranks, in base units.
struct LoggedValue {
  double low = 0;
  double high = 0;
};

struct LoggedStep {
  int line = 0;        // where it begins
  int iteration = -1;  // -1: the log does not number it
  std::array<std::optional<LoggedValue>, kLogQuantities> values;

  const std::optional<LoggedValue>& of(LogQuantity quantity) const {
    return values[static_cast<std::size_t>(quantity)];
  }
};

// Text of a known form whose number is none: another process wrote into the line, or it was cut.
struct LogFault {
  Location where;
  std::string what;
};

struct TrainingLog {
  std::string file;
  std::vector<std::string> software;  // whose lines were read, those with the most values first
  std::vector<LoggedStep> steps;      // as they were printed; each has a pace
  std::vector<LogFault> faults;       // the first ones
  std::size_t unreadable = 0;         // all of them
};

// Terminal colours are skipped, and so are time stamps and ranks before what is printed. A line
// that a carriage return parts is several. What several ranks print in one step is one range from
// the least to the largest. The mean of a progress bar is taken apart into the steps that it is of.
// Throws Error: the text says of no step how long it took (with what does read it, where it is a
// log of nccl-tests or a trace), or of fewer steps than numbers are damaged, with the place of the
// first such number.
TrainingLog parse_training_log(std::string_view text, const std::string& file);

}  // namespace windtunnel
