// What the three readers of nccl-tests' timings share: names of collectives and types, and the
// check that a row's numbers agree. A printed number is known to half a unit of its last digit:
// 10,000,000 us and more are printed as "1e+07" (getFloatStr, src/util.cu), and 0.00 GB/s says
// nothing about a few bytes.
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
  double half_step = 0;  // what rounding may have taken away
};

// None if the text is no finite decimal number.
std::optional<PrintedNumber> printed_number(std::string_view text);

// The tool's names, "alltoall", however they are written ("All-to-All", "alltoall_perf"): kind, or
// why it is not modelled. Throws Error with the nearest name for any other.
struct NamedCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string unusable;
};
NamedCollective collective_named(std::string_view name, const Location& where);

// "all_reduce" in "./build/all_reduce_perf"; empty where no name of the tool stands.
std::string collective_in(std::string_view text);
// The same of a file's name, where it needs no "_perf": "all-reduce" of "h100_allreduce_2n.log".
std::string collective_in_name(std::string_view path);

// Where each number of a row stands, for messages.
struct RowNumbers {
  PrintedNumber time_us;
  std::optional<PrintedNumber> algbw_GBps = {};
  std::optional<PrintedNumber> busbw_GBps = {};
  Location size_at = {}, time_at = {}, algbw_at = {}, busbw_at = {}, dtype_at = {};
};

// Sets the times and bandwidths from the numbers; the rest of the row is set. Where the time was
// printed with fewer digits than the bandwidth it is what the bandwidth implies, and `check` says
// so. Throws Error for a size that is no whole number of elements, a time that is not positive and
// bandwidths that contradict size and time.
void finish_row(const RowNumbers& numbers, CollectiveRow& row);

// The rows as a table with the CSV's columns, and back their numbers in it.
CsvTable table_of(std::vector<CollectiveRow>& rows, const std::string& file);

// 22809 -> "2.28.9"
std::string version_text(long code);

}  // namespace windtunnel
