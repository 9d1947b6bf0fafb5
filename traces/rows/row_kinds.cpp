#include "traces/rows/row_kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

struct TellingColumns {
  RowKind kind;
  std::vector<std::string_view> columns;
};

const std::array<TellingColumns, 8>& telling() {
  static const std::array<TellingColumns, 8> kTelling = {{
      {RowKind::runs, {"seq", "global_batch", "tp", "iter_time_s"}},
      {RowKind::collectives, {"machine", "collective", "bytes", "time_us"}},
      {RowKind::compression, {"network", "method", "iter_time_ms"}},
      {RowKind::compression, {"bytes_fp16", "baseline_us"}},
      {RowKind::schedules, {"schedule", "T_F", "makespan"}},
      {RowKind::schedules, {"model", "T_F_ms", "T_comm_ms"}},
      {RowKind::faults, {"id", "metric", "measured", "unpublished_inputs"}},
      {RowKind::checkpoints, {"checkpoint_bytes", "method", "event", "seconds"}},
  }};
  return kTelling;
}

}  // namespace

std::optional<RowKind> kind_of_rows(const CsvTable& table) {
  for (const TellingColumns& known : telling()) {
    if (std::ranges::all_of(known.columns,
                            [&](std::string_view column) { return table.has(column); })) {
      return known.kind;
    }
  }
  return std::nullopt;
}

std::optional<RowKind> kind_of_rows(const std::string& path) {
  std::vector<CsvFault> faults;  // of rows; here only the header counts
  return kind_of_rows(CsvTable::parse(read_file(path), path, &faults));
}

std::string known_row_kinds() {
  std::vector<std::string> kinds;
  for (const TellingColumns& known : telling()) {
    kinds.push_back(fmt::format("{} ({})", name_of(known.kind), fmt::join(known.columns, ", ")));
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace windtunnel
