#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "models/base/units.hpp"
#include "traces/rows/fault_records.hpp"
#include "traces/rows/slurm_table.hpp"
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
    records_.from_s = latest_s;
    records_.until_s = latest_s;
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

}  // namespace windtunnel
