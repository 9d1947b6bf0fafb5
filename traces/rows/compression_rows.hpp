// Measured steps of data-parallel training with and without compressed gradients as a table (CSV):
// one row per method of exchange, with what of the step is stated. Columns: kExchangeFields in
// compression_rows.cpp; an empty cell is "not stated". batch: samples of a GPU; throughput: of all
// GPUs. Any other column is carried along for filters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "traces/rows/row_fields.hpp"

namespace windtunnel {

struct CompressionRun {
  std::string id;        // "file:line"
  size_t table_row = 0;  // in RowFile::table
  std::string source, model, gpu_type, network, method, note;
  int gpus = 0;
  std::optional<double> parameters;
  std::optional<int> batch;
  std::optional<double> step_s;  // stated, or of the stated throughput and batch
  std::optional<double> compress_s;
  std::optional<double> communicate_s;  // of the step: exposed
  std::optional<double> compute_s;      // forward and backward
  std::optional<double> samples_per_s;
  std::optional<double> samples_sd;
  bool recalled = false;  // from memory of a paper: no evidence
};

using CompressionRuns = RowFile<CompressionRun>;

// Throws Error only where nothing can be read: no file, no header, a column twice, a needed
// column missing. A faulty row goes to `unusable` and the next one is read. Faults are:
//   - more or fewer cells than the header has, a quote that is not closed. But a row that lacks the
//     cells up to `url`, whose text stands in brackets behind its last number ("207 (script)"), is
//     read as if it did not
//   - a number with text or a unit, not finite, not positive, larger than anything ever built
//   - an empty cell in source, model, gpus, network or method
//   - a step that differs by more than 10 % from what throughput and batch imply, or is more than
//     10 % shorter than its stated parts together
CompressionRuns read_compression_runs(const std::string& path);
CompressionRuns parse_compression_runs(std::string_view text, const std::string& file);

}  // namespace windtunnel
