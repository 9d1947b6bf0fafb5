// Measured steps of data-parallel training with and without compressed gradients as a table (CSV):
// one row per method of exchange, with the stated parts of the step. Columns: kExchangeFields in
// compression_rows.cpp; an empty cell means "not stated". batch: samples per GPU; throughput: of
// all GPUs. Other columns are kept for filters.
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
  std::optional<double> step_s;  // stated, or computed from throughput and batch
  std::optional<double> compress_s;
  std::optional<double> communicate_s;  // exposed communication in the step
  std::optional<double> compute_s;      // forward and backward
  std::optional<double> samples_per_s;
  std::optional<double> samples_sd;
  bool recalled = false;  // from memory of a paper, so not evidence
};

using CompressionRuns = RowFile<CompressionRun>;

// Throws Error only if nothing can be read: no file, no header, a repeated column, a required
// column missing. A faulty row is added to `unusable` and reading continues. Faults are:
//   - more or fewer cells than the header has, a quote that is not closed; but a row that lacks the
//     cells up to `url` and has its text in brackets after its last number ("207 (script)") is
//     repaired
//   - a number with text or a unit, not finite, not positive, or implausibly large
//   - an empty cell in source, model, gpus, network or method
//   - a step that differs by more than 10 % from what throughput and batch imply, or is more than
//     10 % shorter than the sum of its stated parts
CompressionRuns read_compression_runs(const std::string& path);
CompressionRuns parse_compression_runs(std::string_view text, const std::string& file);

}  // namespace windtunnel
