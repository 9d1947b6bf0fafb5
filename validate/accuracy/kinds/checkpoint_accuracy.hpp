// Saving and loading of checkpoints, predicted against measured: bytes of the row, through the
// software that its method names (models/cost/snapshot/snapshot_writer.hpp), to the place and at
// the bandwidth that it states.
#pragma once

#include <optional>
#include <vector>

#include "traces/rows/checkpoint_rows.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

struct CheckpointOptions {
  std::optional<RowFilter> where;  // the rows that are judged
};

// Rows on which the library's constants were fitted are stated, not judged. So are saves that tell
// how many bytes a job writes where its source does not: those over storage slower than any writer.
// Skipped with the reason: bytes or bandwidth that nothing tells, software that has no law. Which
// words are read and what is assumed: docs/reference/rows.md, "Checkpoints". Intervals are as wide
// as the other families were off. Throws Error for a filter that does not fit a table.
ValidationReport validate_checkpoints(const std::vector<CheckpointRows>& files,
                                      const CheckpointOptions& options = {});

}  // namespace windtunnel
