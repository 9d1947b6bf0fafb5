// What a cluster's own records say of faults (Slurm's accounting, kernel logs), as logs of faults:
// one for the faults that cost a node, one for those that cost a job its processes alone.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/reliability/fault_fit.hpp"

namespace windtunnel {

struct FaultRecord {
  double at_s = 0;                       // on any clock, the same for all records
  std::string node;                      // empty: not known
  FailureKind kind = FailureKind::node;  // or process
  std::string cause;
};

struct ClusterRecords {
  double from_s = 0, until_s = 0;  // watched
  std::set<std::string> nodes;     // that the records name
  int fewest_nodes = 1;            // that there must have been
  double watched_node_s = 0;       // as of FaultLog
  // Records of a node that follow each other within it are one fault, which costs the node if any
  // of them does. One fault makes a driver report several errors, of each process and each link.
  double same_fault_s = 60;
  std::vector<FaultRecord> faults;
  std::vector<std::pair<std::string, std::string>> notes;  // as of FaultLog
};

// `head`: name, nodes and length as far as a file states them. Nodes get numbers in the order of
// their names. Throws Error of the file where it has no fault.
std::vector<FaultLog> fault_logs_of(ClusterRecords records, const FaultLog& head,
                                    const std::string& file);

// "2024-08-30T11:11:22", with a blank in the place of the T, with parts of a second and a zone
// (Z, +02:00, +0200), at the begin of `text`, which is left what stands behind it. Seconds since
// 1970 of that zone; without one of its own.
std::optional<double> take_iso_time(std::string_view& text);

// Parts of such times. Each takes from the begin of `text` if it succeeds.
bool take_text(std::string_view& text, std::string_view what);
bool take_whole(std::string_view& text, std::size_t least_digits, std::size_t most_digits,
                int& number);
bool take_clock(std::string_view& text, double& seconds);  // "11:11:22.5"
// Days since 1970; nothing: there is no such day.
std::optional<double> day_number(int year, int month, int day);

}  // namespace windtunnel
