#include "traces/rows/fault_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "models/base/units.hpp"
#include "traces/rows/fault_records.hpp"
#include "traces/text/csv.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

constexpr double kMost_s = 100 * 365 * kDay_s;
constexpr int kMostNodes = 10'000'000;

constexpr std::string_view kForms =
    "start_h (or _s, _min, _day, or hours) with any of repair_h, node, cause; "
    "node,start_day,end_day; system,start_min_since_2001,node,downtime_min; output of sacct -P or "
    "sacctmgr -P show event; a kernel log with Xids (NVRM: Xid); or Prometheus samples of "
    "DCGM_FI_DEV_XID_ERRORS";

// Readers of a cluster's own records. The first one that recognises the text reads it.
struct RecordForm {
  bool (*is)(std::string_view text);
  std::vector<FaultLog> (*read)(std::string_view text, const std::string& file,
                                const FaultLog& head);
};
constexpr std::array<RecordForm, 4> kRecordForms = {{{is_dcgm_metrics, read_dcgm_metrics},
                                                     {is_kernel_log, read_kernel_log},
                                                     {is_slurm_events, read_slurm_events},
                                                     {is_slurm_table, read_slurm_jobs}}};

struct TimeUnit {
  std::string_view name;
  double seconds;
};

constexpr std::array<TimeUnit, 4> kUnits = {{{"s", 1}, {"min", 60}, {"h", 3600}, {"day", kDay_s}}};

// These are the numbers of nodes of clusters whose failures LANL published (LA-UR-05-7318), by
// system.
constexpr std::array<std::pair<int, int>, 6> kLanlNodes = {
    {{8, 164}, {9, 256}, {12, 512}, {18, 1024}, {19, 1024}, {20, 512}}};

[[noreturn]] void fail(const CsvTable& table, size_t row, size_t column, const std::string& what) {
  throw Error({table.file(), table.line(row), static_cast<int>(column) + 1},
              fmt::format("column '{}' {}", table.header()[column], what));
}

[[noreturn]] void fail_unknown(const std::string& file, int header_line) {
  throw Error({file, header_line, 1},
              fmt::format("no log of faults has these columns; known: {}", kForms));
}

double seconds_at(const CsvTable& table, size_t row, size_t column, double unit_s) {
  const double seconds = table.number(row, column) * unit_s;
  if (seconds < 0)
    fail(table, row, column, fmt::format("is negative: {}", table.text(row, column)));
  if (seconds > kMost_s) {
    fail(table, row, column, fmt::format("is more than 100 years: {}", table.text(row, column)));
  }
  return seconds;
}

// `nodes` is the size of the cluster; 0: not known.
int node_at(const CsvTable& table, size_t row, size_t column, int nodes) {
  const int node = table.integer(row, column);
  if (node < 0) fail(table, row, column, fmt::format("is negative: {}", node));
  if (node >= kMostNodes)
    fail(table, row, column, fmt::format("is not the number of a node: {}", node));
  if (nodes > 0 && node >= nodes) {
    fail(table, row, column, fmt::format("is {}, beyond the last of {} nodes", node, nodes));
  }
  return node;
}

std::string cause_at(const CsvTable& table, size_t row, std::string_view column) {
  return table.has(column) ? table.text(row, table.column(column)) : "";
}

void sort_faults(FaultLog& log) {
  std::stable_sort(log.faults.begin(), log.faults.end(),
                   [](const NodeFault& a, const NodeFault& b) { return a.start_s < b.start_s; });
}

void read_intervals(const CsvTable& table, FaultLog& log) {
  const size_t node = table.column("node");
  const size_t start = table.column("start_day");
  const size_t end = table.column("end_day");
  for (size_t row = 0; row < table.rows(); ++row) {
    const double start_s = seconds_at(table, row, start, kDay_s);
    const double end_s = seconds_at(table, row, end, kDay_s);
    if (end_s < start_s) {
      fail(table, row, end,
           fmt::format("is {}, before the start at {}", table.text(row, end),
                       table.text(row, start)));
    }
    log.faults.push_back({start_s, end_s - start_s, node_at(table, row, node, log.nodes),
                          cause_at(table, row, "class")});
  }
}

std::vector<FaultLog> read_systems(const CsvTable& table) {
  const size_t system = table.column("system");
  const size_t start = table.column("start_min_since_2001");
  const size_t node = table.column("node");
  const size_t repair = table.column("downtime_min");
  std::map<int, FaultLog> logs;
  for (size_t row = 0; row < table.rows(); ++row) {
    const int number = table.integer(row, system);
    FaultLog& log = logs[number];
    if (log.name.empty()) {
      log.name = fmt::format("LANL system {}", number);
      for (const auto& known : kLanlNodes) {
        if (known.first == number) log.nodes = known.second;
      }
    }
    const double start_s = seconds_at(table, row, start, 60);
    const double repair_s = seconds_at(table, row, repair, 60);
    log.faults.push_back({start_s, repair_s, node_at(table, row, node, log.nodes),
                          cause_at(table, row, "category")});
  }
  std::vector<FaultLog> result;
  for (auto& numbered : logs) {
    FaultLog& log = numbered.second;
    sort_faults(log);
    const double begin_s = log.faults.front().start_s;  // the start of observation is not known
    for (NodeFault& fault : log.faults) fault.start_s -= begin_s;
    result.push_back(std::move(log));
  }
  return result;
}

struct TimeColumn {
  size_t column = 0;
  double unit_s = 0;
};

// The columns of the plain format; other columns are errors, because a misspelt one would be lost.
struct PlainColumns {
  std::optional<TimeColumn> start;
  std::optional<TimeColumn> repair;
  std::optional<size_t> node;
  std::optional<size_t> cause;
};

PlainColumns plain_columns(const CsvTable& table, int header_line) {
  PlainColumns columns;
  std::vector<std::string> known = {"node", "cause"};
  for (size_t i = 0; i < table.header().size(); ++i) {
    const std::string& name = table.header()[i];
    bool found = name == "node" || name == "cause";
    if (name == "hours" && !columns.start) {
      columns.start = TimeColumn{i, kHour_s};
      found = true;
    }
    if (name == "node") columns.node = i;
    if (name == "cause") columns.cause = i;
    for (const TimeUnit& unit : kUnits) {
      for (const bool is_start : {true, false}) {
        const std::string expected = fmt::format("{}_{}", is_start ? "start" : "repair", unit.name);
        known.push_back(expected);
        if (name != expected) continue;
        std::optional<TimeColumn>& column = is_start ? columns.start : columns.repair;
        if (column) {
          throw Error({table.file(), header_line, static_cast<int>(i) + 1},
                      fmt::format("columns '{}' and '{}' contain the same quantity", name,
                                  table.header()[column->column]));
        }
        column = TimeColumn{i, unit.seconds};
        found = true;
      }
    }
    if (!found && columns.start) {
      throw Error({table.file(), header_line, static_cast<int>(i) + 1},
                  unknown_name("column", name, known));
    }
  }
  if (!columns.start) fail_unknown(table.file(), header_line);
  return columns;
}

void read_plain(const CsvTable& table, int header_line, FaultLog& log) {
  const PlainColumns columns = plain_columns(table, header_line);
  const auto stated = [&](size_t row, size_t column) {
    return !trimmed(table.text(row, column)).empty();
  };
  for (size_t row = 0; row < table.rows(); ++row) {
    NodeFault fault;
    fault.start_s = seconds_at(table, row, columns.start->column, columns.start->unit_s);
    if (columns.repair && stated(row, columns.repair->column)) {
      fault.repair_s = seconds_at(table, row, columns.repair->column, columns.repair->unit_s);
    }
    if (columns.node && stated(row, *columns.node)) {
      fault.node = node_at(table, row, *columns.node, log.nodes);
    }
    if (columns.cause) fault.cause = table.text(row, *columns.cause);
    log.faults.push_back(std::move(fault));
  }
}

// Keys that only a table of faults can have.
constexpr std::string_view kKind = "kind";
constexpr std::string_view kBatchWindow = "batch-window";

// Reads "# key: value" in a line before the header. Returns the key.
std::string_view read_comment(std::string_view line, const Location& where, FaultLog& log) {
  line = trimmed(line.substr(1));
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view key = trimmed(line.substr(0, colon));
  const std::string_view value = trimmed(line.substr(colon + 1));
  const auto number = [&](double most) {
    double result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || end != value.data() + value.size() || !(result > 0) ||
        result > most) {
      throw Error(where, fmt::format("'{}' contains '{}', which is not a number above zero", key,
                                     excerpt(value)));
    }
    return result;
  };
  if (key == "name") log.name = std::string(value);
  if (key == "days") log.span_s = number(kMostNodes) * kDay_s;
  if (key == "node-days") log.watched_node_s = number(1e3 * kMostNodes) * kDay_s;
  if (key == kBatchWindow) log.batch_window_s = number(kDay_s);
  if (key == kKind) {
    if (value != "node" && value != "process") {
      throw Error(where, unknown_name("kind", std::string(value), {"node", "process"}));
    }
    log.kind = value == "node" ? FailureKind::node : FailureKind::process;
  }
  if (key == "nodes") {
    const double nodes = number(kMostNodes);
    if (nodes != std::floor(nodes)) throw Error(where, "the number of nodes is not a whole number");
    log.nodes = static_cast<int>(nodes);
  }
  return key;
}

struct Uncommented {
  std::string text;  // comments are replaced by blank lines, so that line numbers stay right
  // A key in it that only a table of faults may have; empty: none.
  std::string of_tables{};
  Location where{};
};

Uncommented without_comments(std::string_view text, const std::string& file, FaultLog& log) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Uncommented result;
  for (int line = 1; text.starts_with('#'); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view comment = text.substr(0, end);
    if (comment.ends_with('\r')) comment.remove_suffix(1);
    const std::string_view key = read_comment(comment, {file, line, 1}, log);
    if (result.of_tables.empty() && (key == kKind || key == kBatchWindow)) {
      result.of_tables = std::string(key);
      result.where = {file, line, 1};
    }
    text.remove_prefix(std::min(end + 1, text.size()));
    result.text += '\n';
  }
  result.text.append(text);
  return result;
}

std::string hours_csv(const FaultLog& log, double NodeFault::*time_s, const char* what,
                      const std::string& source) {
  std::string text =
      fmt::format("# {} of {} node faults, in hours.\n# origin: measured\n# source: {}\n", what,
                  log.faults.size(), excerpt(source));
  for (const NodeFault& fault : log.faults) {
    fmt::format_to(std::back_inserter(text), "{:.12g}\n", fault.*time_s / 3600);
  }
  return text;
}

}  // namespace

std::vector<FaultLog> parse_fault_logs(std::string_view text, const std::string& file) {
  FaultLog log;
  log.name = std::filesystem::path(file).stem().string();
  const Uncommented read = without_comments(text, file, log);
  const std::string& uncommented = read.text;
  const auto* const form = std::ranges::find_if(
      kRecordForms, [&](const RecordForm& each) { return each.is(uncommented); });
  if (form != kRecordForms.end()) {
    if (!read.of_tables.empty()) {
      throw Error(
          read.where,
          fmt::format("'{}' is only for tables of faults; it follows from the records of a cluster",
                      read.of_tables));
    }
    return form->read(uncommented, file, log);
  }
  const std::size_t header = std::min(uncommented.find_first_not_of("\r\n"), uncommented.size());
  const auto above = std::count(uncommented.begin(), uncommented.begin() + header, '\n');
  const int header_line = static_cast<int>(above) + 1;
  const std::string_view columns =
      std::string_view(uncommented).substr(header, uncommented.find('\n', header) - header);
  if (!columns.empty() && !is_header_of_faults(columns)) fail_unknown(file, header_line);
  const CsvTable table = CsvTable::parse(uncommented, file);
  if (table.rows() == 0) throw Error(Location{file}, "has no faults");
  if (table.has("start_min_since_2001")) return read_systems(table);
  if (table.has("end_day")) {
    read_intervals(table, log);
  } else {
    read_plain(table, header_line, log);
  }
  sort_faults(log);
  return {std::move(log)};
}

std::vector<FaultLog> read_fault_logs(const std::string& path) {
  return parse_fault_logs(read_file(path), path);
}

std::string fault_log_csv(const FaultLog& log) {
  std::string text = fmt::format("# name: {}\n", excerpt(log.name));
  if (log.nodes > 0) text += fmt::format("# nodes: {}\n", log.nodes);
  if (log.span_s > 0) text += fmt::format("# days: {}\n", log.span_s / kDay_s);
  if (log.watched_node_s > 0) text += fmt::format("# node-days: {}\n", log.watched_node_s / kDay_s);
  if (log.kind == FailureKind::process) text += "# kind: process\n";
  if (log.batch_window_s != FaultLog().batch_window_s) {
    text += fmt::format("# batch-window: {}\n", log.batch_window_s);
  }
  text += "start_s,repair_s,node,cause\n";
  for (const NodeFault& fault : log.faults) {
    fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", fault.start_s, fault.repair_s,
                   fault.node < 0 ? "" : fmt::format("{}", fault.node), csv_cell(fault.cause));
  }
  return text;
}

std::string arrivals_csv(const FaultLog& log, const std::string& source) {
  return hours_csv(log, &NodeFault::start_s, "Starts", source);
}

std::string repairs_csv(const FaultLog& log, const std::string& source) {
  return hours_csv(log, &NodeFault::repair_s, "Repairs", source);
}

}  // namespace windtunnel
