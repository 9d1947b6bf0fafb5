#include "traces/rows/fault_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

bool is_decimal(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Merges records of one node within same_fault_s into faults, sorted by time.
std::vector<FaultRecord> faults_of(const ClusterRecords& records) {
  std::vector<FaultRecord> faults;
  struct Last {
    std::size_t fault;
    double at_s;
  };
  std::map<std::string, Last> last_of_node;
  for (const FaultRecord& record : records.faults) {
    const auto last = last_of_node.find(record.node);
    const bool same = !record.node.empty() && last != last_of_node.end() &&
                      record.at_s - last->second.at_s <= records.same_fault_s;
    if (!same) {
      faults.push_back(record);
      last_of_node[record.node] = {faults.size() - 1, record.at_s};
      continue;
    }
    last->second.at_s = record.at_s;
    FaultRecord& fault = faults[last->second.fault];
    if (record.kind == FailureKind::node && fault.kind != FailureKind::node) {
      fault.kind = record.kind;
      fault.cause = record.cause;
    }
  }
  return faults;
}

std::map<std::string, int> causes_of(const FaultLog& log) {
  std::map<std::string, int> counts;
  for (const NodeFault& fault : log.faults) ++counts[fault.cause];
  return counts;
}

}  // namespace

void ClusterRecords::watch(double at_s) {
  from_s = std::min(from_s, at_s);
  until_s = std::max(until_s, at_s);
}

std::vector<FaultLog> fault_logs_of(ClusterRecords records, const FaultLog& head,
                                    const std::string& file) {
  if (records.faults.empty()) {
    throw Error(Location{file}, "has no record of a fault that costs a node or a job");
  }
  std::ranges::stable_sort(records.faults, {}, &FaultRecord::at_s);
  std::map<std::string, int> number_of;
  for (const std::string& node : records.nodes) {
    number_of.emplace(node, static_cast<int>(number_of.size()));
  }
  FaultLog nodes = head;
  nodes.batch_window_s = records.same_fault_s;
  nodes.kind = FailureKind::node;
  if (head.watched_node_s == 0) nodes.watched_node_s = records.watched_node_s;
  if (head.nodes == 0) {
    const int named = static_cast<int>(number_of.size());
    nodes.nodes = std::max(named, records.fewest_nodes);
    const std::string which =
        named == nodes.nodes
            ? fmt::format("the nodes named in {}", records.named_in)
            : fmt::format("the number of nodes that ran jobs at the same time; {} name {}",
                          records.named_in, named);
    nodes.notes.emplace_back("nodes", which + "; state the true number with --nodes");
  }
  if (head.span_s == 0) {
    nodes.span_s = records.until_s - records.from_s;
    nodes.notes.emplace_back(
        "days", "from the first record to the last; state the true length with --days");
  }
  FaultLog processes = nodes;
  processes.kind = FailureKind::process;
  processes.notes.clear();
  const std::vector<FaultRecord> faults = faults_of(records);
  for (const FaultRecord& fault : faults) {
    const auto known = number_of.find(fault.node);
    FaultLog& log = fault.kind == FailureKind::node ? nodes : processes;
    log.faults.push_back({std::max(0.0, fault.at_s - records.from_s), fault.repair_s,
                          known == number_of.end() ? -1 : known->second, fault.cause});
  }
  std::ranges::move(records.notes, std::back_inserter(nodes.notes));
  if (faults.size() < records.faults.size()) {
    nodes.notes.emplace_back(
        "same fault", fmt::format("{} records became {} faults: records of a node within {} s of "
                                  "the one before count as one fault",
                                  records.faults.size(), faults.size(), records.same_fault_s));
  }
  std::vector<FaultLog> logs;
  for (FaultLog* log : {&nodes, &processes}) {
    if (log->faults.empty()) continue;
    if (logs.empty()) log->notes = nodes.notes;
    log->notes.emplace_back("causes", counts_text(causes_of(*log)));
    logs.push_back(*log);
  }
  return logs;
}

std::string counts_text(const std::map<std::string, int>& counts) {
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [name, count] : counts) sorted.emplace_back(-count, name);
  std::ranges::sort(sorted);
  constexpr std::size_t kShown = 8;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(sorted.size(), kShown); ++i) {
    parts.push_back(fmt::format("{}: {}", sorted[i].second, -sorted[i].first));
  }
  if (sorted.size() > kShown) parts.push_back(fmt::format("{} more", sorted.size() - kShown));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::optional<std::pair<FailureKind, std::string>> fault_of_xid(int number, bool fatal,
                                                                XidCounts& counts) {
  const XidError* const error = find_xid(number);
  const std::string name = fmt::format("Xid {}", number);
  if (error == nullptr) {
    ++counts.unknown[name];
    return {};
  }
  if (error->cost == XidCost::nothing || (error->cost == XidCost::fatal && !fatal)) {
    ++counts.harmless[name];
    return {};
  }
  return std::pair{error->cost == XidCost::process ? FailureKind::process : FailureKind::node,
                   fmt::format("{} ({})", name, error->what)};
}

void note_xids(const XidCounts& counts, ClusterRecords& records) {
  const auto note = [&](const char* what, const std::map<std::string, int>& some, const char* why) {
    if (!some.empty())
      records.notes.emplace_back(what, fmt::format("{} ({})", counts_text(some), why));
  };
  note("no failure", counts.harmless,
       "Xids by NVIDIA's list, and SXids that are not marked as fatal");
  note("left out", counts.unknown, "NVIDIA's list gives no action for it");
}

bool is_header_of_faults(std::string_view line) {
  return contains_text(line, "start") || contains_text(line, "hours");
}

bool take_text(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

bool take_whole(std::string_view& text, std::size_t least_digits, std::size_t most_digits,
                int& number) {
  std::size_t digits = 0;
  while (digits < std::min(text.size(), most_digits) && is_decimal(text[digits])) ++digits;
  if (digits < least_digits) return false;
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  return true;
}

bool take_clock(std::string_view& text, double& seconds) {
  std::string_view rest = text;
  int hour = 0, minute = 0, second = 0;
  const bool whole = take_whole(rest, 2, 2, hour) && take_text(rest, ":") &&
                     take_whole(rest, 2, 2, minute) && take_text(rest, ":") &&
                     take_whole(rest, 2, 2, second);
  if (!whole || hour > 23 || minute > 59 || second > 60) return false;
  seconds = hour * 3600.0 + minute * 60.0 + second;
  if (rest.size() > 1 && (rest[0] == '.' || rest[0] == ',') && is_decimal(rest[1])) {
    rest.remove_prefix(1);
    for (double unit = 0.1; !rest.empty() && is_decimal(rest[0]); unit /= 10) {
      seconds += unit * (rest[0] - '0');
      rest.remove_prefix(1);
    }
  }
  text = rest;
  return true;
}

std::optional<double> day_number(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (year < 1970 || year > 2200 || !date.ok()) return {};
  return static_cast<double>(std::chrono::sys_days{date}.time_since_epoch().count());
}

std::optional<double> take_iso_time(std::string_view& text) {
  std::string_view rest = text;
  int year = 0, month = 0, day = 0;
  double clock_s = 0;
  const bool whole = take_whole(rest, 4, 4, year) && take_text(rest, "-") &&
                     take_whole(rest, 2, 2, month) && take_text(rest, "-") &&
                     take_whole(rest, 2, 2, day) &&
                     (take_text(rest, "T") || take_text(rest, " ")) && take_clock(rest, clock_s);
  const std::optional<double> days = whole ? day_number(year, month, day) : std::nullopt;
  if (!days) return {};
  double zone_s = 0;
  std::string_view zone = rest;
  if (take_text(zone, "Z")) {
    rest = zone;
  } else if (zone.starts_with("+") || zone.starts_with("-")) {
    const double sign = zone[0] == '+' ? 1 : -1;
    zone.remove_prefix(1);
    int hours = 0, minutes = 0;
    const bool has_hours = take_whole(zone, 2, 2, hours);
    take_text(zone, ":");
    if (has_hours && take_whole(zone, 2, 2, minutes)) {
      zone_s = sign * (hours * 3600.0 + minutes * 60.0);
      rest = zone;
    }
  }
  text = rest;
  return *days * kDay_s + clock_s - zone_s;
}

namespace {

// From the immediate action in NVIDIA's catalog for A100 and later GPUs
// (docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html): RESTART_APP is process;
// RESET_GPU, RESTART_BM, RESTART_VM, CHECK_MECHANICALS and the workflows of Xid 48 and of NVLink
// are node; IGNORE, UPDATE_SWFW and errors that only accompany another Xid (45, 154, 171, 172) are
// nothing. Xid 43 is IGNORE in the catalog because the GPU is healthy, but the application has to
// end. The actions for Xid 144 to 150 depend on a subcode, which the line summarises as Fatal or
// Nonfatal. Numbers that the catalog calls unused, or without an action, have no row.
constexpr auto kXids = std::to_array<XidError>({
    {8, 8, XidCost::process, "GPU stopped processing"},
    {11, 11, XidCost::process, "invalid push buffer"},
    {13, 13, XidCost::process, "exception in a kernel"},
    {14, 14, XidCost::nothing, "injected error"},
    {25, 25, XidCost::process, "illegal push buffer"},
    {31, 31, XidCost::process, "memory page fault"},
    {32, 32, XidCost::process, "corrupted push buffer"},
    {37, 38, XidCost::nothing, "driver firmware"},
    {39, 41, XidCost::process, "copy engine"},
    {43, 43, XidCost::process, "fault of the application"},
    {44, 45, XidCost::nothing, "clean-up after another error"},
    {46, 46, XidCost::node, "GPU timed out"},
    {48, 48, XidCost::node, "double-bit ECC error"},
    {54, 54, XidCost::node, "auxiliary power not connected"},
    {60, 60, XidCost::process, "video processor"},
    {62, 62, XidCost::node, "micro-controller halted"},
    {63, 63, XidCost::nothing, "row of memory remapped"},
    {64, 64, XidCost::node, "row of memory not remapped"},
    {66, 67, XidCost::nothing, "illegal access by the driver"},
    {68, 68, XidCost::process, "video decoder"},
    {69, 69, XidCost::process, "class error"},
    {70, 72, XidCost::process, "copy engine"},
    {74, 74, XidCost::node, "NVLink"},
    {75, 77, XidCost::process, "copy engine"},
    {78, 78, XidCost::nothing, "virtual GPU not started"},
    {79, 79, XidCost::node, "GPU fell off the bus"},
    {80, 80, XidCost::process, "corrupted data sent to the GPU"},
    {82, 86, XidCost::process, "codec or copy engine"},
    {88, 89, XidCost::process, "video decoder"},
    {92, 92, XidCost::nothing, "many single-bit ECC errors"},
    {93, 93, XidCost::nothing, "wear limit of the InfoROM"},
    {94, 94, XidCost::process, "contained memory error"},
    {95, 95, XidCost::node, "uncontained memory error"},
    {96, 105, XidCost::process, "codec"},
    {106, 107, XidCost::nothing, "test message"},
    {108, 108, XidCost::nothing, "remote translation over NVLink"},
    {109, 109, XidCost::node, "context switch timed out"},
    {110, 110, XidCost::node, "security fault"},
    {119, 119, XidCost::node, "GSP timed out"},
    {120, 120, XidCost::node, "GSP"},
    {121, 121, XidCost::nothing, "corrected error of C2C"},
    {126, 135, XidCost::process, "copy engine"},
    {136, 136, XidCost::node, "link not trained"},
    {137, 137, XidCost::nothing, "privilege error of NVLink"},
    {139, 139, XidCost::process, "optical flow"},
    {140, 140, XidCost::node, "ECC error not recovered"},
    {141, 141, XidCost::nothing, "fast path of CUDA"},
    {143, 143, XidCost::node, "GPU not initialised"},
    {144, 150, XidCost::fatal, "NVLink"},
    {151, 151, XidCost::node, "key rotation"},
    {152, 153, XidCost::nothing, "deep learning accelerator"},
    {154, 154, XidCost::nothing, "recovery action of another Xid"},
    {155, 155, XidCost::node, "NVLink down"},
    {156, 156, XidCost::node, "resource retired"},
    {157, 157, XidCost::nothing, "resource not retired"},
    {158, 158, XidCost::node, "GPU timed out fatally"},
    {160, 161, XidCost::nothing, "channel retired"},
    {162, 165, XidCost::nothing, "power smoothing"},
    {171, 172, XidCost::nothing, "details of Xid 48"},
});

}  // namespace

const XidError* find_xid(int number) {
  const auto* const found = std::ranges::find_if(
      kXids, [&](const XidError& each) { return number >= each.first && number <= each.last; });
  return found == kXids.end() ? nullptr : found;
}

}  // namespace windtunnel
