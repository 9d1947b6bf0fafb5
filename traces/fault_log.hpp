// Logs of node faults, from CSV files. Which form a file has is told by its columns:
// - InfiniteHBD (stepfun-ai/InfiniteHBD-Trace, as intervals): node,start_day,end_day,level,class,desc
// - LANL (LA-UR-05-7318): system,start_min_since_2001,node,downtime_min,category,detail; one log
//   per system
// - plain: start, [repair], [node], [cause], header with the unit: start_h, start_s, start_day,
//   repair_h, ...
#pragma once

#include <string>
#include <vector>

#include "models/fault_fit.hpp"

namespace windtunnel {

// Throws Error with file:line:column: no known columns, a number that is none, an end before its
// start, a negative time.
std::vector<FaultLog> read_fault_logs(const std::string& path);

// The plain form.
std::string fault_log_csv(const FaultLog& log);

}  // namespace windtunnel
