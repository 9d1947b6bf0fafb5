// Recorded times, from the library or a file of the user: one number of hours per line, optionally
// under the header "hours"; '#' starts a comment. "origin:" and "source:" in the comments state the
// evidence. A log of node faults with the columns of traces/rows/fault_log.hpp is also accepted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/text/evidence.hpp"
#include "scenarios/language/text/scenario_text.hpp"

namespace windtunnel {

struct TimeSeries {
  std::string name;
  std::vector<double> seconds;
  std::vector<std::int32_t> nodes = {};  // [arrival] its node; empty unless every line has a node
  Evidence evidence;
};

// A number that changes over time: counts[i] from seconds[i] on; seconds ascend.
struct Counts {
  std::vector<double> seconds;
  std::vector<int> counts;
};

// Reads a .csv file with the columns time_s and `column`, whose numbers are at most `most`. Throws
// Error with the place in the file.
Counts read_counts(const std::string& name, std::string_view column, int most, NamedFiles& files);

std::vector<std::string> arrival_trace_names();
std::vector<std::string> repair_names();

// `name` is a recording of the library or a .csv file of `files`. Throws Error at `where` (unknown
// name, unreadable file) or in the file (not a number, negative; arrivals: descending).
TimeSeries find_arrival_trace(const std::string& name, NamedFiles& files, const Location& where);
TimeSeries find_repairs(const std::string& name, NamedFiles& files, const Location& where);

}  // namespace windtunnel
