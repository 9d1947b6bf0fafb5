// Measured training runs as a table (CSV): model, layout and batch of a job, with the step time or
// memory that somebody measured. Columns (those marked * must be there; an empty cell is "not
// stated"):
//   source* model* layers hidden heads kv_heads ffn_hidden seq* vocab global_batch* micro_batch
//   gpus* gpu_type* tp* pp* vpp dp cp ep sequence_parallel recompute schedule precision
//   interconnect iter_time_s* tflops_per_gpu mfu tokens_per_s_per_gpu samples_per_s_per_gpu mem_gib
//   iter_time_is note
// Any other column is carried along for filters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/csv.hpp"

namespace windtunnel {

struct TrainingRun {
  std::string id;    // "file:line"
  size_t table_row;  // in TrainingRuns::table
  std::string source, model, gpu_type, recompute, schedule, precision, interconnect, note;
  std::optional<int> layers, hidden, heads, kv_heads, ffn_hidden, vocabulary;
  std::optional<int> sequence, global_batch, micro_batch, gpus;
  std::optional<int> tp, pp, vpp, dp, cp, ep;
  std::optional<bool> sequence_parallel;
  std::optional<double> step_s;
  std::optional<double> tflops_per_gpu;
  std::optional<double> memory_gib;  // peak, as printed

  // What the note says of `key`: "zero_stage" in "status=OOM; zero_stage=1". Empty: not there.
  std::string noted(const std::string& key) const;
};

// A row that cannot be used, and why: text in a number, a value out of range, GPUs that are not
// tp x pp x dp x cp.
struct UnusableRow {
  std::string id;
  std::string reason;
};

struct TrainingRuns {
  CsvTable table;
  std::vector<TrainingRun> runs;
  std::vector<UnusableRow> unusable;
};

// Throws Error only where nothing can be read: no file, no header, a column marked * missing. A
// malformed row goes to `unusable` and the next one is read.
TrainingRuns read_training_runs(const std::string& path);

}  // namespace windtunnel
