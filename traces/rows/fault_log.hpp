// Logs of node faults. Which form a file has is told by what stands in it: a record of a cluster,
// such as Slurm's accounting or a kernel's log (fault_records.hpp), or a CSV file, told by its
// columns:
// - InfiniteHBD (stepfun-ai/InfiniteHBD-Trace, as intervals):
// node,start_day,end_day,level,class,desc
// - LANL (LA-UR-05-7318): system,start_min_since_2001,node,downtime_min,category,detail; one log
//   per system, from its first failure on; the nodes of systems 8, 9, 12, 18, 19, 20 are known
// - plain: start, [repair], [node], [cause], header with the unit: start_h, start_s, start_day,
//   repair_h, ...; "hours", which a file of recorded times has for its header, is start_h
// Comments before the header may say what no column does: "# nodes: 400", "# days: 348",
// "# name: ...", "# kind: process", "# node-days: 96.5" (in which a fault would have been seen),
// "# batch-window: 60" (seconds; faults that follow each other within it are one event). A
// cluster's own records tell the kind and the window themselves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/reliability/fault_fit.hpp"

namespace windtunnel {

// A cluster's own records give one log for each kind of fault, all of the same name.
// Throws Error with file:line:column: no known columns, a number that is none, an end before its
// start, a negative time, a time of more than 100 years, a node beyond the last, a kind or a window
// above a cluster's own records.
std::vector<FaultLog> read_fault_logs(const std::string& path);
std::vector<FaultLog> parse_fault_logs(std::string_view text, const std::string& file);

// The plain form in seconds, which reads back as the same log.
std::string fault_log_csv(const FaultLog& log);

// One column of hours, as scenarios read them: the starts, and the repairs.
std::string arrivals_csv(const FaultLog& log, const std::string& source);
std::string repairs_csv(const FaultLog& log, const std::string& source);

}  // namespace windtunnel
