// Compares saving and loading of checkpoints with predictions: the row's bytes, written by the
// software that its method names (models/cost/snapshot/snapshot_writer.hpp), to the stated place at
// the stated bandwidth.
#pragma once

#include <optional>
#include <vector>

#include "traces/rows/checkpoint_rows.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

struct CheckpointOptions {
  std::optional<RowFilter> where;  // rows to judge
};

// Rows that the library's constants were fitted on are listed but not judged. So are saves over
// storage slower than any writer, because they determine the bytes that a job writes if the source
// does not state them. Rows are skipped with the reason if nothing tells their bytes or bandwidth,
// or if the software has no law. docs/reference/rows.md, "Checkpoints", lists the words that are
// recognised and the assumptions. Intervals come from the errors of the other families. Throws
// Error for a filter that does not fit a table.
ValidationReport validate_checkpoints(const std::vector<CheckpointRows>& files,
                                      const CheckpointOptions& options = {});

}  // namespace windtunnel
