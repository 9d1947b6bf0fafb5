#include "scenarios/language/library/time_series.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <sstream>

#include "models/base/units.hpp"
#include "scenarios/language/library/library.hpp"
#include "traces/rows/fault_log.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kArrivals = "arrivals/";
constexpr std::string_view kRepairs = "repairs/";
constexpr std::string_view kSuffix = ".csv";
constexpr std::string_view kHeader = "hours";  // optional header above the numbers
constexpr double kMostHours = 100 * 365 * 24.0;

std::string name_below(const LibraryFile& file, std::string_view folder) {
  if (!file.path.starts_with(folder)) return "";
  std::string_view name = file.path.substr(folder.size());
  name.remove_suffix(kSuffix.size());
  return std::string(name);
}

std::vector<std::string> names_below(std::string_view folder) {
  std::vector<std::string> names;
  for (const LibraryFile& file : library_files()) {
    if (std::string name = name_below(file, folder); !name.empty()) names.push_back(name);
  }
  return names;
}

// "# source: text" sets the source.
void read_comment(const std::string& line, const Location& where, Evidence& evidence) {
  const size_t colon = line.find(": ");
  if (line.starts_with("# origin: ")) evidence.origin = parse_origin(line.substr(colon + 2), where);
  if (line.starts_with("# source: ")) evidence.source = line.substr(colon + 2);
}

// Whether the first line that is not a comment names columns.
bool is_fault_log(const std::string& text) {
  std::istringstream stream(text);
  std::string line;
  while (std::getline(stream, line) && (line.empty() || line.front() == '#')) {
  }
  const bool columns = line.find(',') != std::string::npos || line.starts_with("start");
  return columns && std::isalpha(static_cast<unsigned char>(line.front())) != 0;
}

TimeSeries series_of_log(const std::string& name, const std::string& text, const std::string& file,
                         bool arrivals) {
  const std::vector<FaultLog> logs = parse_fault_logs(text, file);
  if (logs.size() != 1) {
    throw Error(Location{file},
                fmt::format("has the faults of {} systems; keep only one system", logs.size()));
  }
  TimeSeries series{name, {}, {}, {Origin::assumed, file}};
  std::istringstream stream(text);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (line.starts_with("#")) read_comment(line, {file, number, 1}, series.evidence);
  }
  bool all_known = true;
  for (const NodeFault& fault : logs.front().faults) {
    if (arrivals) series.seconds.push_back(fault.start_s);
    if (!arrivals && fault.repair_s > 0) series.seconds.push_back(fault.repair_s);
    if (arrivals) series.nodes.push_back(fault.node);
    all_known = all_known && fault.node >= 0;
  }
  if (!all_known) series.nodes.clear();
  if (series.seconds.empty()) throw Error(Location{file}, "has no times");
  return series;
}

TimeSeries parse_series(const std::string& name, const std::string& text, const std::string& file,
                        bool ascending) {
  if (is_fault_log(text)) return series_of_log(name, text, file, ascending);
  TimeSeries series{name, {}, {}, {Origin::assumed, file}};
  std::istringstream stream(text);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const Location where{file, number, 1};
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.starts_with("#")) read_comment(line, where, series.evidence);
    if (line.empty() || line.starts_with("#")) continue;
    if (line == kHeader && series.seconds.empty()) continue;
    double hours = 0;
    try {
      hours = parse_quantity(line, Dimension::number);
    } catch (const Error&) {
      throw Error(where, fmt::format("'{}' is not a number of hours", line));
    }
    if (hours < 0) throw Error(where, fmt::format("{} hours is negative", line));
    if (hours > kMostHours) {
      throw Error(where, fmt::format("{} hours is more than 100 years", line));
    }
    const double seconds = hours * 3600;
    if (ascending && !series.seconds.empty() && seconds < series.seconds.back()) {
      throw Error(
          where,
          fmt::format("{} hours is before the line above; arrivals must be in ascending order",
                      line));
    }
    series.seconds.push_back(seconds);
  }
  if (series.seconds.empty()) throw Error(Location{file}, "has no times");
  return series;
}

TimeSeries find_series(std::string_view library_folder, const std::string& name, NamedFiles& files,
                       const Location& where, bool ascending) {
  if (name.ends_with(kSuffix)) {
    try {
      return parse_series(name, files.text(name), files.path(name), ascending);
    } catch (const Error& error) {
      throw Error(where, error.what());
    }
  }
  for (const LibraryFile& file : library_files()) {
    if (name_below(file, library_folder) == name) {
      return parse_series(name, std::string(file.text), std::string(file.path), ascending);
    }
  }
  throw Error(where, unknown_name("recorded times", name, names_below(library_folder)));
}

}  // namespace

Counts read_counts(const std::string& name, std::string_view column, int most, NamedFiles& files) {
  const CsvTable table = CsvTable::parse(files.text(name), files.path(name));
  const std::size_t time = table.column("time_s");
  const std::size_t count = table.column(column);
  Counts all;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const double at_s = table.number(row, time);
    const int there = table.integer(row, count);
    const auto fail = [&](std::size_t at, const std::string& what) {
      throw Error(Location{table.file(), table.line(row), static_cast<int>(at) + 1}, what);
    };
    if (at_s < (all.seconds.empty() ? 0 : all.seconds.back())) {
      fail(time, "time_s: must be at least 0 and at least that of the row above");
    }
    if (there < 0 || there > most) {
      fail(count, fmt::format("{}: expected a number from 0 to {}", column, most));
    }
    all.seconds.push_back(at_s);
    all.counts.push_back(there);
  }
  if (all.seconds.empty()) throw Error(Location{table.file()}, "has no rows");
  return all;
}

std::vector<std::string> arrival_trace_names() {
  return names_below(kArrivals);
}
std::vector<std::string> repair_names() {
  return names_below(kRepairs);
}

TimeSeries find_arrival_trace(const std::string& name, NamedFiles& files, const Location& where) {
  return find_series(kArrivals, name, files, where, true);
}

TimeSeries find_repairs(const std::string& name, NamedFiles& files, const Location& where) {
  return find_series(kRepairs, name, files, where, false);
}

}  // namespace windtunnel
