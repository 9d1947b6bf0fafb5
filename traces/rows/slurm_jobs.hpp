// What Slurm's accounting says of jobs, as `sacct -P -X -o JobID,State,Start,End,NNodes,NodeList`
// prints it (with -p too): a header line of columns and a line for each job, cells set off by '|'.
// How a job ended tells what failed (slurm.schedmd.com/sacct.html, job state codes): NODE_FAIL and
// BOOT_FAIL cost a node, FAILED and OUT_OF_MEMORY the job's processes. A rate is by the node time
// of the jobs, as nodes without a job fail unseen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/reliability/fault_fit.hpp"

namespace windtunnel {

bool is_slurm_table(std::string_view text);

// `head` as in fault_records.hpp. Columns State, Start and End, and NNodes, AllocNodes or NodeList;
// others are not read, but for FailedNode and JobID, whose steps ("12.batch") are no jobs of their
// own. A job that has not ended counts until the latest time of the table. Throws Error with
// file:line:column: a missing column, an unknown state, a time or number that is none, a job that
// ends before it starts, more cells than columns.
std::vector<FaultLog> read_slurm_jobs(std::string_view text, const std::string& file,
                                      const FaultLog& head);

}  // namespace windtunnel
