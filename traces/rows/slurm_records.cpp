#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "models/base/units.hpp"
#include "traces/rows/fault_records.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

// Reads a table that a command of Slurm prints with -P or -p: a header and a line per row, with
// cells separated by '|'; with -p each line also ends with a '|'. Slurm does not quote cells, so a
// cell cannot contain a '|'. Also reads the lists of nodes in the cells.
class SlurmTable {
 public:
  // A line and its cells, which are parts of the table's text, so that errors can name their place.
  struct Row {
    int line = 0;
    std::string_view text;
    std::vector<std::string_view> cells;
  };

  // `command` prints such a table; the error about a missing column suggests it. Throws Error with
  // file:line:column for a row with more or fewer cells than the header. `text` must outlive the
  // table.
  SlurmTable(std::string_view text, std::string file, std::string command);

  const std::vector<Row>& rows() const { return rows_; }
  std::optional<std::size_t> find(std::string_view column) const;
  // Throws Error if the header has no such column.
  std::size_t column(std::string_view name) const;
  [[noreturn]] void fail(const Row& row, std::size_t column, const std::string& what) const;
  // Returns nothing if the cell states no time yet. Throws Error if the cell is not a time.
  std::optional<double> time(const Row& row, std::size_t column) const;
  // The names in a list of nodes; empty if none is assigned. Throws Error if the cell is not a list
  // or has more than 200,000 names.
  std::set<std::string> node_names(const Row& row, std::size_t column) const;

 private:
  std::string file_, command_;
  bool closed_ = false;  // each line also ends with a '|'
  Row header_;
  std::vector<Row> rows_;
};

constexpr int kMostNames = 200'000;          // in one list, including repeated names
constexpr std::ptrdiff_t kMostBrackets = 8;  // of a list of nodes

// The names of lists such as "a[1-3,07],b2".
class NameLists {
 public:
  // Returns false if the text is not a list, or has more than kMostNames names.
  bool add(std::string_view list, const std::string& before = "") {
    const std::size_t bracket = list.find('[');
    if (bracket == std::string_view::npos) {
      if (before.empty() && list.empty()) return false;
      names_.insert(before + std::string(list));
      return ++added_ <= kMostNames;
    }
    const std::size_t close = list.find(']', bracket);
    if (close == std::string_view::npos) return false;
    return add_numbers(list.substr(bracket + 1, close - bracket - 1),
                       before + std::string(list.substr(0, bracket)), list.substr(close + 1));
  }

  const std::set<std::string>& names() const { return names_; }

 private:
  // Adds a name for each number of "1-3,07", with the text before and after the brackets.
  bool add_numbers(std::string_view numbers, const std::string& before, std::string_view behind) {
    for (std::string_view item : split(numbers, ',')) {
      const std::size_t digits = std::min(item.find('-'), item.size());
      int first = 0;
      if (!take_whole(item, 1, 9, first)) return false;
      int last = first;
      if (take_text(item, "-") && !take_whole(item, 1, 9, last)) return false;
      if (!item.empty() || last < first) return false;
      for (int i = first; i <= last; ++i) {
        if (!add(behind, fmt::format("{}{:0{}}", before, i, digits))) return false;
      }
    }
    return true;
  }

  std::set<std::string> names_;
  int added_ = 0;
};

// Splits several lists at commas outside of brackets.
std::optional<std::set<std::string>> names_in(std::string_view lists) {
  NameLists names;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= lists.size(); ++at) {
    if (at < lists.size() && lists[at] == '[') ++depth;
    if (at < lists.size() && lists[at] == ']') --depth;
    if (at < lists.size() && (lists[at] != ',' || depth > 0)) continue;
    const std::string_view list = lists.substr(begin, at - begin);
    if (std::ranges::count(list, '[') > kMostBrackets) return {};
    if (!names.add(list)) return {};
    begin = at + 1;
  }
  return names.names();
}

SlurmTable::SlurmTable(std::string_view text, std::string file, std::string command)
    : file_(std::move(file)), command_(std::move(command)) {
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (trimmed(line).empty()) continue;
    Row row{number, line, split(line, '|')};
    const bool is_header = header_.cells.empty();
    if (is_header) closed_ = line.ends_with('|');
    if (closed_ && line.ends_with('|')) row.cells.pop_back();
    if (is_header) {
      header_ = std::move(row);
      continue;
    }
    if (row.cells.size() != header_.cells.size()) {
      throw Error({file_, number, 1}, fmt::format("the row has {} cells, but the header has {}",
                                                  row.cells.size(), header_.cells.size()));
    }
    rows_.push_back(std::move(row));
  }
}

std::optional<std::size_t> SlurmTable::find(std::string_view name) const {
  const auto found = std::ranges::find(header_.cells, name);
  if (found == header_.cells.end()) return {};
  return static_cast<std::size_t>(found - header_.cells.begin());
}

std::size_t SlurmTable::column(std::string_view name) const {
  if (const std::optional<std::size_t> found = find(name)) return *found;
  throw Error({file_, header_.line, 1},
              fmt::format("the header has no column '{}'; print it with {}", name, command_));
}

void SlurmTable::fail(const Row& row, std::size_t column, const std::string& what) const {
  const auto at = row.cells[column].data() - row.text.data();
  throw Error({file_, row.line, static_cast<int>(at) + 1},
              fmt::format("{} {}", header_.cells[column], what));
}

std::optional<double> SlurmTable::time(const Row& row, std::size_t column) const {
  std::string_view text = trimmed(row.cells[column]);
  if (text.empty() || text == "Unknown" || text == "None") return {};
  std::string_view rest = text;
  const std::optional<double> at_s = take_iso_time(rest);
  if (!at_s || !rest.empty()) {
    fail(row, column, fmt::format("'{}' is not a time such as 2024-08-30T11:11:22", excerpt(text)));
  }
  return at_s;
}

std::set<std::string> SlurmTable::node_names(const Row& row, std::size_t column) const {
  const std::string_view list = trimmed(row.cells[column]);
  if (list.empty() || list == "None assigned" || list == "None") return {};
  const std::optional<std::set<std::string>> names = names_in(list);
  if (names) return *names;
  fail(row, column,
       fmt::format("'{}' is not a list of nodes such as gpu[01-08,12]", excerpt(list)));
}

enum class JobEnd { none, node, process };

struct JobState {
  const char* name;
  JobEnd end;
};

// slurm.schedmd.com/sacct.html and squeue.html, job state codes. `none` is not a failure: TIMEOUT
// and DEADLINE are limits, CANCELLED and PREEMPTED decisions.
constexpr std::array kStates = {
    JobState{"BOOT_FAIL", JobEnd::node},        JobState{"CANCELLED", JobEnd::none},
    JobState{"COMPLETED", JobEnd::none},        JobState{"COMPLETING", JobEnd::none},
    JobState{"CONFIGURING", JobEnd::none},      JobState{"DEADLINE", JobEnd::none},
    JobState{"FAILED", JobEnd::process},        JobState{"NODE_FAIL", JobEnd::node},
    JobState{"OUT_OF_MEMORY", JobEnd::process}, JobState{"PENDING", JobEnd::none},
    JobState{"PREEMPTED", JobEnd::none},        JobState{"REQUEUED", JobEnd::none},
    JobState{"REQUEUE_FED", JobEnd::none},      JobState{"REQUEUE_HOLD", JobEnd::none},
    JobState{"RESIZING", JobEnd::none},         JobState{"RESV_DEL_HOLD", JobEnd::none},
    JobState{"REVOKED", JobEnd::none},          JobState{"RUNNING", JobEnd::none},
    JobState{"SIGNALING", JobEnd::none},        JobState{"SPECIAL_EXIT", JobEnd::none},
    JobState{"STAGE_OUT", JobEnd::none},        JobState{"STOPPED", JobEnd::none},
    JobState{"SUSPENDED", JobEnd::none},        JobState{"TIMEOUT", JobEnd::none}};
constexpr const char* kCommand = "sacct -P -X -o JobID,State,Start,End,NNodes,NodeList";

const JobState& state_of(const SlurmTable& table, const SlurmTable::Row& row, std::size_t column) {
  // "CANCELLED by 1000"
  const std::string_view text = trimmed(row.cells[column]);
  const std::string_view name = text.substr(0, text.find_first_of(" +"));
  const auto* const found = std::ranges::find(kStates, name, &JobState::name);
  if (found != kStates.end()) return *found;
  std::vector<std::string> known;
  for (const JobState& state : kStates) known.emplace_back(state.name);
  table.fail(row, column, "is an " + unknown_name("state", std::string(name), known));
}

struct JobNodes {
  int count = 0;
  std::string only{};  // the name, if there is only one node
};

class JobReader {
 public:
  explicit JobReader(const SlurmTable& table)
      : table_(table),
        state_(table.column("State")),
        start_(table.column("Start")),
        end_(table.column("End")),
        id_(table.find("JobID")),
        list_(table.find("NodeList")),
        failed_(table.find("FailedNode")) {
    count_ = table.find("NNodes");
    if (!count_) count_ = table.find("AllocNodes");
    if (!count_ && !list_) table.column("NNodes");
    records_.named_in = "jobs";
  }

  ClusterRecords read() {
    double latest_s = 0;
    for (const SlurmTable::Row& row : table_.rows()) {
      for (const std::size_t column : {start_, end_}) {
        latest_s = std::max(latest_s, table_.time(row, column).value_or(0));
      }
    }
    records_.watch(latest_s);
    for (const SlurmTable::Row& row : table_.rows()) read_row(row, latest_s);
    finish();
    return std::move(records_);
  }

 private:
  void read_row(const SlurmTable::Row& row, double latest_s) {
    const bool step = id_ && row.cells[*id_].find('.') != std::string_view::npos;
    const JobState& state = state_of(table_, row, state_);
    const std::optional<double> start_s = table_.time(row, start_);
    if (step || !start_s) return;  // a job that never ran cannot fail
    const double end_s = table_.time(row, end_).value_or(latest_s);
    if (end_s < *start_s) {
      table_.fail(row, end_, fmt::format("is before Start, {}", row.cells[start_]));
    }
    JobNodes on;
    if (list_) on = nodes_of(row, *list_);
    const int nodes = count_ ? count_of(row) : on.count;
    records_.watched_node_s += nodes * (end_s - *start_s);
    records_.fewest_nodes = std::max(records_.fewest_nodes, nodes);
    records_.watch(*start_s);
    ++jobs_;
    if (state.end == JobEnd::none) {
      ++others_[state.name];
      return;
    }
    if (failed_) {
      const JobNodes failed = nodes_of(row, *failed_);
      if (failed.count > 0) on = failed;
    }
    records_.faults.push_back({end_s, on.only,
                               state.end == JobEnd::node ? FailureKind::node : FailureKind::process,
                               state.name});
  }

  int count_of(const SlurmTable::Row& row) const {
    std::string_view rest = trimmed(row.cells[*count_]);
    int nodes = 0;
    if (!take_whole(rest, 1, 7, nodes) || !rest.empty()) {
      table_.fail(row, *count_,
                  fmt::format("'{}' is not a number of nodes", excerpt(row.cells[*count_])));
    }
    return nodes;
  }

  // Reads the cell's list of nodes, and adds its nodes to those of the cluster.
  JobNodes nodes_of(const SlurmTable::Row& row, std::size_t column) {
    const std::string_view list = trimmed(row.cells[column]);
    const auto [known, is_new] = lists_.try_emplace(std::string(list));
    if (!is_new) return known->second;
    const std::set<std::string> names = table_.node_names(row, column);
    records_.nodes.insert(names.begin(), names.end());
    known->second = {static_cast<int>(names.size()), names.size() == 1 ? *names.begin() : ""};
    return known->second;
  }

  void finish() {
    if (records_.until_s > records_.from_s) {
      const double mean = records_.watched_node_s / (records_.until_s - records_.from_s);
      records_.fewest_nodes =
          std::max(records_.fewest_nodes, static_cast<int>(std::ceil(std::min(mean, 1e6))));
    }
    records_.notes.emplace_back(
        "watched", fmt::format("{:.4g} node-days of {} jobs; nodes that jobs share count for each",
                               records_.watched_node_s / kDay_s, jobs_));
    if (!others_.empty()) records_.notes.emplace_back("no failure", counts_text(others_));
    records_.notes.emplace_back(
        "process", "everything that ended a job with an error, including faults of its program");
  }

  const SlurmTable& table_;
  std::size_t state_, start_, end_;
  std::optional<std::size_t> id_, list_, failed_, count_;
  ClusterRecords records_;
  int jobs_ = 0;
  std::map<std::string, int> others_;  // jobs, by state
  std::map<std::string, JobNodes> lists_;
};

}  // namespace

bool is_slurm_table(std::string_view text) {
  const std::string_view head = text.substr(std::min(text.find_first_not_of("\r\n"), text.size()));
  return head.substr(0, head.find('\n')).find('|') != std::string_view::npos;
}

std::vector<FaultLog> read_slurm_jobs(std::string_view text, const std::string& file,
                                      const FaultLog& head) {
  const SlurmTable table(text, file, kCommand);
  return fault_logs_of(JobReader(table).read(), head, file);
}

namespace {

constexpr const char* kEventCommand =
    "sacctmgr -P show event format=NodeName,Start,End,State,Reason";

enum class Service {
  up,       // the node is not out of service
  drained,  // taken out by a decision; the job on it ends normally
  planned,  // restarted, powered off or kept free on purpose, even with other states
  lost      // failed, with the job on it
};

struct NodeState {
  const char* name;
  Service service;
};

// slurm.schedmd.com/sinfo.html, node state codes, and the flags that follow a '+'. BLOCKED,
// POWER_DOWN and the like are decisions of the cluster's manager.
constexpr auto kNodeStates = std::to_array<NodeState>({
    {"ALLOCATED", Service::up},
    {"BLOCKED", Service::planned},
    {"CLOUD", Service::up},
    {"COMPLETING", Service::up},
    {"DOWN", Service::lost},
    {"DRAIN", Service::drained},
    {"DRAINED", Service::drained},
    {"DRAINING", Service::drained},
    {"DYNAMIC_FUTURE", Service::up},
    {"DYNAMIC_NORM", Service::up},
    {"ERROR", Service::lost},
    {"FAIL", Service::lost},
    {"FAILING", Service::lost},
    {"FUTURE", Service::planned},
    {"IDLE", Service::up},
    {"INVAL", Service::drained},
    {"INVALID_REG", Service::drained},
    {"MAINT", Service::planned},
    {"MIXED", Service::up},
    {"NOT_RESPONDING", Service::up},
    {"NO_RESPOND", Service::up},
    {"NPC", Service::up},
    {"PERFCTRS", Service::up},
    {"PLANNED", Service::up},
    {"POWERED_DOWN", Service::planned},
    {"POWERING_DOWN", Service::planned},
    {"POWERING_UP", Service::planned},
    {"POWER_DOWN", Service::planned},
    {"POWER_UP", Service::planned},
    {"REBOOT", Service::planned},
    {"REBOOT_ISSUED", Service::planned},
    {"REBOOT_REQUESTED", Service::planned},
    {"RESERVED", Service::up},
    {"RESUME", Service::up},
    {"UNDRAIN", Service::up},
    {"UNKNOWN", Service::up},
});

// Reads "DOWN*", "IDLE+DRAIN", "drained". If there are several words, a planned state decides
// before a lost one, and a lost one before a drained one.
Service service_of(const SlurmTable& table, const SlurmTable::Row& row, std::size_t column) {
  std::string text(trimmed(row.cells[column]));
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  if (text.size() > 1 && text.ends_with('+')) text.pop_back();  // some of its jobs are completing
  Service worst = Service::up;
  for (const std::string_view part : split(text, '+')) {
    // The marks of sinfo: not responding, powered off, in maintenance, to be restarted, planned.
    const std::string_view word = part.substr(0, part.find_first_of("*~#!%$@^- "));
    const auto* const found = std::ranges::find(kNodeStates, word, &NodeState::name);
    if (found == kNodeStates.end()) {
      std::vector<std::string> known;
      for (const NodeState& state : kNodeStates) known.emplace_back(state.name);
      table.fail(row, column, "is an " + unknown_name("state", excerpt(word), known));
    }
    const Service service = found->service;
    const bool decides = service == Service::planned ||
                         (service == Service::lost && worst != Service::planned) ||
                         (service == Service::drained && worst == Service::up);
    if (decides) worst = service;
  }
  return worst;
}

struct NodeEvent {
  double start_s = 0;
  std::optional<double> end_s;  // nothing: it still lasts
  Service service = Service::up;
  std::string cause;  // the state, with its reason
};

class EventReader {
 public:
  explicit EventReader(const SlurmTable& table)
      : table_(table),
        node_(table.column("NodeName")),
        start_(table.column("TimeStart")),
        end_(table.column("TimeEnd")),
        state_(table.column("State")),
        reason_(table.find("Reason")),
        all_(table.find("Cluster Nodes")) {
    records_.named_in = "events";
  }

  ClusterRecords read() {
    for (const SlurmTable::Row& row : table_.rows()) read_row(row);
    for (auto& [node, events] : events_) add_outages(node, events);
    if (!others_.empty()) {
      records_.notes.emplace_back("no failure",
                                  fmt::format("{} (a drained node lets its job end; if faulty "
                                              "nodes are drained here, use the kernel log or DCGM)",
                                              counts_text(others_)));
    }
    if (!names_all_) {
      records_.notes.emplace_back(
          "events",
          "do not contain nodes that never left service, so without --nodes rates are too high");
    }
    return std::move(records_);
  }

 private:
  void read_row(const SlurmTable::Row& row) {
    const std::optional<double> start_s = table_.time(row, start_);
    const std::optional<double> end_s = table_.time(row, end_);
    if (start_s && end_s && *end_s < *start_s) {
      table_.fail(row, end_, fmt::format("is before TimeStart, {}", row.cells[start_]));
    }
    for (const std::optional<double>& at_s : {start_s, end_s}) {
      if (at_s) records_.watch(*at_s);
    }
    const std::string node(trimmed(row.cells[node_]));
    if (node.empty()) {  // an event of the cluster: its nodes changed, or its controller was down
      if (!all_) return;
      const std::set<std::string> names = table_.node_names(row, *all_);
      names_all_ = names_all_ || !names.empty();
      records_.nodes.insert(names.begin(), names.end());
      return;
    }
    const Service service = service_of(table_, row, state_);
    if (!start_s) return;
    std::string cause(trimmed(row.cells[state_]));
    if (reason_ && !trimmed(row.cells[*reason_]).empty()) {
      cause += fmt::format(" ({})", excerpt(trimmed(row.cells[*reason_])));
    }
    records_.nodes.insert(node);
    events_[node].push_back({*start_s, end_s, service, std::move(cause)});
  }

  // Merges events that follow each other. The first one decides whether it is a fault, so a drained
  // node that is then restarted is not.
  void add_outages(const std::string& node, std::vector<NodeEvent>& events) {
    std::ranges::stable_sort(events, {}, &NodeEvent::start_s);
    for (std::size_t i = 0; i < events.size();) {
      const NodeEvent& first = events[i];
      std::optional<double> end_s = first.end_s;
      for (++i; i < events.size(); ++i) {
        const double known_s = end_s.value_or(events[i - 1].start_s);
        if (events[i].start_s > known_s + records_.same_fault_s) break;
        const std::optional<double>& next_s = events[i].end_s;
        end_s = end_s && next_s ? std::max(*end_s, *next_s) : next_s;
      }
      if (first.service == Service::lost) {
        records_.faults.push_back({.at_s = first.start_s,
                                   .node = node,
                                   .kind = FailureKind::node,
                                   .cause = first.cause,
                                   .repair_s = end_s ? *end_s - first.start_s : 0});
      } else {
        ++others_[first.cause];
      }
    }
  }

  const SlurmTable& table_;
  std::size_t node_, start_, end_, state_;
  std::optional<std::size_t> reason_, all_;
  ClusterRecords records_;
  bool names_all_ = false;  // whether the nodes of the cluster are named
  std::map<std::string, std::vector<NodeEvent>> events_;
  std::map<std::string, int> others_;  // [cause] times out of service that are not faults
};

}  // namespace

bool is_slurm_events(std::string_view text) {
  const std::string_view head = text.substr(std::min(text.find_first_not_of("\r\n"), text.size()));
  const std::string_view columns = head.substr(0, head.find('\n'));
  return is_slurm_table(columns) && columns.find("TimeStart") != std::string_view::npos;
}

std::vector<FaultLog> read_slurm_events(std::string_view text, const std::string& file,
                                        const FaultLog& head) {
  const SlurmTable table(text, file, kEventCommand);
  return fault_logs_of(EventReader(table).read(), head, file);
}

}  // namespace windtunnel
