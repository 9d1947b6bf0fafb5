// Which text of a log is which quantity: a row for each. To read another program's log, add rows.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace windtunnel {

enum class LogQuantity {
  iteration,
  step_s,  // of a step
  steps_per_s,
  tokens_per_s,  // of the whole job
  tokens_per_s_per_gpu,
  samples_per_s,    // of the whole job
  tflops_per_gpu,   // model FLOPs
  wall_s,           // of a clock; its differences are step times
  allocated_bytes,  // the most of a GPU's memory that tensors took
  reserved_bytes,   // the most that the allocator held, with what no tensor took
  forward_s,        // all forward passes of a rank in a step
  backward_s,
  gradients_s,  // that a rank waits for gradients to be reduced
  optimizer_s,
  input_s,  // that a rank waits for samples
};
inline constexpr std::size_t kLogQuantities = 15;

struct LogForm {
  const char* software;  // as software.yaml or people call it
  const char* text;      // that the line contains, so that most rows are passed over at once
  // RE2. Its group is a number; a second one the largest over ranks, of which the first is the
  // least.
  const char* value;
  LogQuantity quantity;
  double unit = 1;  // of the number, in base units
  // Above 0: the number is an exponential mean of a progress bar, in which the steps since it was
  // last drawn weigh this share; the reader takes the mean apart.
  double newest = 0;
};

// In the order in which a line is asked; of two that give the same quantity the later counts.
std::span<const LogForm> log_forms();

// A column of a table by its title; the pattern matches all of it.
struct ColumnForm {
  const char* title;
  const char* called;  // one title that it matches, for people
  LogQuantity quantity;
  double unit = 1;
};
// Where a table has several columns of a quantity, the one counts that stands first here.
std::span<const ColumnForm> column_forms();

}  // namespace windtunnel
