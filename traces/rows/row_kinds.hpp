// Which kind of measured rows a table (CSV) holds, by the names of its columns.
#pragma once

#include <optional>
#include <string>

#include "models/base/choice.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {

// In the words of `windtunnel validate`.
enum class RowKind { runs, collectives, compression, schedules, faults, checkpoints };
template <>
inline constexpr Choice<RowKind> kChoices<RowKind>[] = {{"runs", RowKind::runs},
                                                        {"collectives", RowKind::collectives},
                                                        {"compression", RowKind::compression},
                                                        {"schedules", RowKind::schedules},
                                                        {"faults", RowKind::faults},
                                                        {"checkpoints", RowKind::checkpoints}};

// None: of no kind that is known.
std::optional<RowKind> kind_of_rows(const CsvTable& table);
// The same of a file, whatever its rows hold. Throws Error where it has no header.
std::optional<RowKind> kind_of_rows(const std::string& path);

// The columns that tell each kind: "runs (seq, global_batch, tp, iter_time_s), ...".
std::string known_row_kinds();

}  // namespace windtunnel
