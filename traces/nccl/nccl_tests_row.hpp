// The three readers of nccl-tests' timings share these names of collectives and types, and the
// check that the numbers of a row agree. A printed number is known to half a unit of its last
// digit: from 10,000,000 us on times are printed as "1e+07" (getFloatStr, src/util.cu), and 0.00
// GB/s says nothing about a few bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "traces/nccl/nccl_tests.hpp"

namespace windtunnel {

struct PrintedNumber {
  double value = 0;
  double half_step = 0;  // maximum rounding error
};

// Returns nothing if the text is not a finite decimal number.
std::optional<PrintedNumber> printed_number(std::string_view text);

// The kind of a collective, or why it is not modelled.
struct NamedCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string unusable;
};
// Accepts the tool's name in any spelling ("alltoall", "All-to-All", "alltoall_perf"). Throws Error
// that suggests the nearest name if it is not known.
NamedCollective collective_named(std::string_view name, const Location& where);

// Returns "all_reduce" for "./build/all_reduce_perf"; empty if the text contains no name of the
// tool.
std::string collective_in(std::string_view text);
// The same for a file name, without "_perf": "all-reduce" from "h100_allreduce_2n.log".
std::string collective_in_name(std::string_view path);

// The numbers of a row with their places, for messages.
struct RowNumbers {
  PrintedNumber time_us;
  std::optional<PrintedNumber> algbw_GBps = {};
  std::optional<PrintedNumber> busbw_GBps = {};
  Location size_at = {}, time_at = {}, algbw_at = {}, busbw_at = {}, dtype_at = {};
};

// Sets the times and bandwidths from the numbers; the rest of the row must be set. If the time has
// fewer digits than the bandwidth, it is computed from the bandwidth, and `check` says so. Throws
// Error for a size that is not a whole number of elements, a time that is not positive, and
// bandwidths that contradict size and time.
void finish_row(const RowNumbers& numbers, CollectiveRow& row);

// The rows as a table with the CSV's columns; sets each row's index in it.
CsvTable table_of(std::vector<CollectiveRow>& rows, const std::string& file);

// Returns "2.28.9" for 22809.
std::string version_text(long code);

// Parses the JSON that nccl-tests writes with -J FILE (src/util.cu, file versions 1 and 2): `args`,
// `nccl_version`, `config.devices`, and `results`, each with `out_of_place` and `in_place`. Throws
// Error with file:line:column of the faulty result.
std::vector<CollectiveRow> parse_nccl_tests_json(std::string_view text, const std::string& file,
                                                 const LogContext& log);

}  // namespace windtunnel
