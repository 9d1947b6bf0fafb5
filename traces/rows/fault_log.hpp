// Reads logs of node faults. The content tells the format: a cluster's own records, such as Slurm's
// accounting or a kernel's log (fault_records.hpp), or a CSV file with one of these sets of
// columns:
// - InfiniteHBD (stepfun-ai/InfiniteHBD-Trace, as intervals):
//   node,start_day,end_day,level,class,desc
// - LANL (LA-UR-05-7318): system,start_min_since_2001,node,downtime_min,category,detail; one log
//   per system, from its first failure on; the numbers of nodes of systems 8, 9, 12, 18, 19, 20 are
//   known
// - plain: start, [repair], [node], [cause], with the unit in the header: start_h, start_s,
//   start_day, repair_h, ...; "hours", the header of a file of recorded times, means start_h
// Comments before the header may state what no column does: "# nodes: 400", "# days: 348", "# name:
// ...", "# kind: process", "# node-days: 96.5" (time in which a fault would have been seen), "#
// batch-window: 60" (seconds; faults within this time after one another are one event). A cluster's
// own records imply the kind and the window.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/reliability/fault_fit.hpp"

namespace windtunnel {

// A cluster's own records give one log for each kind of fault, all with the same name. Throws Error
// with file:line:column: unknown columns, a malformed number, an end before its start, a negative
// time, a time of more than 100 years, a node number beyond the last node, or a kind or window
// stated for a cluster's own records.
std::vector<FaultLog> read_fault_logs(const std::string& path);
std::vector<FaultLog> parse_fault_logs(std::string_view text, const std::string& file);

// Writes the plain format in seconds, which reads back as the same log.
std::string fault_log_csv(const FaultLog& log);

// Write one column of hours, in the format that scenarios read: the starts, or the repairs.
std::string arrivals_csv(const FaultLog& log, const std::string& source);
std::string repairs_csv(const FaultLog& log, const std::string& source);

}  // namespace windtunnel
