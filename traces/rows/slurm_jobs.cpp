#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "models/base/units.hpp"
#include "traces/rows/fault_records.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

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
constexpr std::string_view kCommand = "sacct -P -X -o JobID,State,Start,End,NNodes,NodeList";
constexpr int kMostNames = 200'000;          // of the nodes of a job, including repetitions
constexpr std::ptrdiff_t kMostBrackets = 8;  // in a list of nodes

// The cells of a line with their places.
struct Row {
  int line = 0;
  std::string_view text;
  std::vector<std::string_view> cells;
};

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find('|', at), line.size());
    cells.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return cells;
}

class JobTable {
 public:
  JobTable(std::string_view text, std::string file) : file_(std::move(file)) {
    int number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string_view line = text.substr(at, end - at);
      at = end + 1;
      ++number;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (trimmed(line).empty()) continue;
      Row row{number, line, cells_of(line)};
      const bool is_header = header_.cells.empty();
      if (is_header) closed_ = line.ends_with('|');
      if (closed_ && line.ends_with('|')) row.cells.pop_back();
      if (is_header) {
        header_ = std::move(row);
        continue;
      }
      if (row.cells.size() != header_.cells.size()) {
        throw Error({file_, number, 1}, fmt::format("the row has {} cells, the header {}",
                                                    row.cells.size(), header_.cells.size()));
      }
      rows_.push_back(std::move(row));
    }
  }

  const std::vector<Row>& rows() const { return rows_; }

  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = std::ranges::find(header_.cells, name);
    if (found == header_.cells.end()) return {};
    return static_cast<std::size_t>(found - header_.cells.begin());
  }
  std::size_t column(std::string_view name) const {
    if (const std::optional<std::size_t> found = find(name)) return *found;
    throw Error({file_, header_.line, 1},
                fmt::format("the header has no column '{}'; print it with {}", name, kCommand));
  }
  [[noreturn]] void fail(const Row& row, std::size_t column, const std::string& what) const {
    const auto at = row.cells[column].data() - row.text.data();
    throw Error({file_, row.line, static_cast<int>(at) + 1},
                fmt::format("{} {}", header_.cells[column], what));
  }
  // Nothing if the job does not have this time yet.
  std::optional<double> time(const Row& row, std::size_t column) const {
    std::string_view text = trimmed(row.cells[column]);
    if (text.empty() || text == "Unknown" || text == "None") return {};
    std::string_view rest = text;
    const std::optional<double> at_s = take_iso_time(rest);
    if (!at_s || !rest.empty()) {
      fail(row, column, fmt::format("'{}' is no time such as 2024-08-30T11:11:22", excerpt(text)));
    }
    return at_s;
  }

 private:
  std::string file_;
  bool closed_ = false;  // the last cell is followed by '|', too, as sacct -p writes
  Row header_;
  std::vector<Row> rows_;
};

const JobState& state_of(const JobTable& table, const Row& row, std::size_t column) {
  // "CANCELLED by 1000"
  const std::string_view text = trimmed(row.cells[column]);
  const std::string_view name = text.substr(0, text.find_first_of(" +"));
  const auto* const found = std::ranges::find(kStates, name, &JobState::name);
  if (found != kStates.end()) return *found;
  std::vector<std::string> known;
  for (const JobState& state : kStates) known.emplace_back(state.name);
  table.fail(row, column, "is an " + unknown_name("state", std::string(name), known));
}

// Expands lists such as "a[1-3,07],b2" to names.
class NameLists {
 public:
  // False if the text is not a list, or has more than kMostNames names.
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
    for (std::size_t at = 0; at <= numbers.size();) {
      const std::size_t end = std::min(numbers.find(',', at), numbers.size());
      std::string_view item = numbers.substr(at, end - at);
      at = end + 1;
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

// Commas within brackets do not separate lists.
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

struct JobNodes {
  int count = 0;
  std::string only{};  // the name, if there is only one node
};

class JobReader {
 public:
  explicit JobReader(const JobTable& table)
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
    for (const Row& row : table_.rows()) {
      for (const std::size_t column : {start_, end_}) {
        latest_s = std::max(latest_s, table_.time(row, column).value_or(0));
      }
    }
    records_.from_s = latest_s;
    records_.until_s = latest_s;
    for (const Row& row : table_.rows()) read_row(row, latest_s);
    finish();
    return std::move(records_);
  }

 private:
  void read_row(const Row& row, double latest_s) {
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
    records_.from_s = std::min(records_.from_s, *start_s);
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

  int count_of(const Row& row) const {
    std::string_view rest = trimmed(row.cells[*count_]);
    int nodes = 0;
    if (!take_whole(rest, 1, 7, nodes) || !rest.empty()) {
      table_.fail(row, *count_,
                  fmt::format("'{}' is no number of nodes", excerpt(row.cells[*count_])));
    }
    return nodes;
  }

  // Also records that these nodes exist.
  JobNodes nodes_of(const Row& row, std::size_t column) {
    const std::string_view list = trimmed(row.cells[column]);
    if (list.empty() || list == "None assigned" || list == "None") return {};
    const auto [known, is_new] = lists_.try_emplace(std::string(list));
    if (!is_new) return known->second;
    const std::optional<std::set<std::string>> names = names_in(list);
    if (!names) {
      table_.fail(row, column,
                  fmt::format("'{}' is no list of nodes such as gpu[01-08,12]", excerpt(list)));
    }
    records_.nodes.insert(names->begin(), names->end());
    known->second = {static_cast<int>(names->size()), names->size() == 1 ? *names->begin() : ""};
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
    std::vector<std::string> parts;
    for (const auto& [state, count] : others_) parts.push_back(fmt::format("{}: {}", state, count));
    if (!parts.empty()) {
      records_.notes.emplace_back("no failure", fmt::format("{}", fmt::join(parts, ", ")));
    }
    records_.notes.emplace_back("process",
                                "whatever ended a job with an error, faults of its program too");
  }

  const JobTable& table_;
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
  const JobTable table(text, file);
  return fault_logs_of(JobReader(table).read(), head, file);
}

}  // namespace windtunnel
