// Compares saving and loading of checkpoints with predictions: the row's bytes, written by the
// software that its method names (models/cost/snapshot/snapshot_writer.hpp), to the stated place at
// the stated bandwidth.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/rows/row_fields.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

enum class CheckpointEvent { save, load, save_rate };

// A measured save or load of a checkpoint; a table (CSV) has one row per event. Columns:
// kCheckpointFields in checkpoint_accuracy.cpp; an empty cell means "not stated". event: save,
// load, or "save throughput", whose storage_bw_Bps is the rate reached. blocking_s: the time during
// which training was paused. Other columns are kept for filters.
struct CheckpointRow {
  std::string id;        // "file:line"
  size_t table_row = 0;  // in RowFile::table
  std::string source, system, gpu_type, model, parameters, storage, method, note;
  int gpus = 0;
  CheckpointEvent event = CheckpointEvent::save;
  std::optional<double> bytes;  // of the whole checkpoint
  std::optional<double> storage_Bps;
  std::optional<double> seconds;     // of the event
  std::optional<double> blocking_s;  // time during which training is paused
};

using CheckpointRows = RowFile<CheckpointRow>;

// Throws Error only if nothing can be read: no file, no header, a repeated column, a required
// column missing. A faulty row is added to `unusable` and reading continues. Faults are:
//   - more or fewer cells than the header has, a quote that is not closed
//   - a number with text or a unit, not finite, not positive, or implausibly large
//   - an empty cell in source, gpus, storage or method; an unknown event
//   - a save or load without seconds, a throughput without storage_bw_Bps
CheckpointRows read_checkpoint_rows(const std::string& path);
CheckpointRows parse_checkpoint_rows(std::string_view text, const std::string& file);

// Rows that the library's constants were fitted on are listed but not judged. So are saves over
// storage slower than any writer, because they determine the bytes that a job writes if the source
// does not state them. Rows are skipped with the reason if nothing tells their bytes or bandwidth,
// or if the software has no law. docs/reference/rows.md, "Checkpoints", lists the words that are
// recognised and the assumptions. Intervals come from the errors of the other families. Throws
// Error for a filter that does not fit a table.
ValidationReport validate_checkpoints(const std::vector<CheckpointRows>& files,
                                      const std::optional<RowFilter>& where = {});

}  // namespace windtunnel
