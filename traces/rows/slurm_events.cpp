#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/printable.hpp"
#include "traces/rows/fault_records.hpp"
#include "traces/rows/slurm_table.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
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

// Reads "DOWN*", "IDLE+DRAIN", "drained". If there are several words, the worst state wins: planned
// before lost before drained.
Service service_of(const SlurmTable& table, const SlurmTable::Row& row, std::size_t column) {
  std::string text(trimmed(row.cells[column]));
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  if (text.size() > 1 && text.ends_with('+')) text.pop_back();  // some of its jobs are completing
  Service worst = Service::up;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('+', at), text.size());
    std::string word = text.substr(at, end - at);
    at = end + 1;
    // The marks of sinfo: not responding, powered off, in maintenance, to be restarted, planned.
    word.erase(std::min(word.find_first_of("*~#!%$@^- "), word.size()));
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
      if (at_s) watch(*at_s);
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

  void watch(double at_s) {
    records_.from_s = any_ ? std::min(records_.from_s, at_s) : at_s;
    records_.until_s = any_ ? std::max(records_.until_s, at_s) : at_s;
    any_ = true;
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
  bool any_ = false;        // whether a time was seen
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
