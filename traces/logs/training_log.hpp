// Reads the output of a training program as steps: lines of Megatron-LM, NeMo, torchtitan,
// DeepSpeed, Trainer and others, MLPerf's log, and tables that TensorBoard and W&B export. A table
// (log_forms.hpp) maps texts to quantities; no code here depends on a program.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "traces/logs/log_forms.hpp"

namespace windtunnel {

// Holds one value, or the smallest and the largest over ranks, in base units.
struct LoggedValue {
  double low = 0;
  double high = 0;
};

struct LoggedStep {
  int line = 0;        // first line
  int iteration = -1;  // -1: not in the log
  std::array<std::optional<LoggedValue>, kLogQuantities> values;

  const std::optional<LoggedValue>& of(LogQuantity quantity) const {
    return values[static_cast<std::size_t>(quantity)];
  }
};

// A text of a known form without a valid number: another process wrote into the line, or it was
// cut.
struct LogFault {
  Location where;
  std::string what;
};

struct TrainingLog {
  std::string file;
  // Programs whose lines were read, in descending order of the number of values.
  std::vector<std::string> software;
  std::vector<LoggedStep> steps;  // in the order of the log; each has a step time or a rate
  std::vector<LogFault> faults;   // the first few
  std::size_t unreadable = 0;     // number of all faults
};

// Skips terminal colours, and time stamps and ranks before the text. A carriage return separates
// lines. Values that several ranks print in one step become a range. The mean of a progress bar is
// converted to times of single steps. Throws Error if the text has no step times (naming a command
// for it if it is a log of nccl-tests or a trace), or if more numbers are damaged than there are
// steps (with the place of the first such number).
TrainingLog parse_training_log(std::string_view text, const std::string& file);

// Whether parse_training_log() can read the text.
bool is_training_log(std::string_view text, const std::string& file);

}  // namespace windtunnel
