// This table lists the texts by which training logs state a quantity. To read another program's
// log, add rows.
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
  tflops_per_gpu,   // from model FLOPs
  wall_s,           // clock time; its differences are step times
  allocated_bytes,  // peak of a GPU's memory in tensors
  reserved_bytes,   // peak of the allocator's memory, including unused parts
  forward_s,        // all forward passes of a rank in a step
  backward_s,
  gradients_s,  // wait of a rank for the reduction of gradients
  optimizer_s,
  input_s,  // wait of a rank for samples
};
inline constexpr std::size_t kLogQuantities = 15;

struct LogForm {
  const char* software;  // name in software.yaml or in common use
  const char* text;      // contained in the line; a quick test that skips most rows
  // This RE2 pattern captures the number. If it captures two, they are the smallest and the largest
  // value over ranks.
  const char* value;
  LogQuantity quantity;
  double unit = 1;  // of the number, in base units
  // Above 0: the number is the exponential mean of a progress bar, in which the steps since the
  // last update have this weight. The reader recovers the times of single steps.
  double newest = 0;
};

// In the order in which they are tried; of two rows that give one quantity the later counts.
std::span<const LogForm> log_forms();

// A column of a table, recognised by its title; the pattern must match all of the title.
struct ColumnForm {
  const char* title;
  const char* called;  // a matching title, for messages
  LogQuantity quantity;
  double unit = 1;
};
// If a table has several columns for a quantity, the earlier row counts.
std::span<const ColumnForm> column_forms();

}  // namespace windtunnel
