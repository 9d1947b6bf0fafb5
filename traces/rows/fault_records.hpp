// Converts a cluster's own records of faults (Slurm's accounting, kernel logs) to logs of faults:
// one for faults that cost a node, one for faults that cost a job only its processes.
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
  double from_s = 0, until_s = 0;    // observed period
  std::set<std::string> nodes;       // named in the records
  std::string named_in = "records";  // the kind of records that name nodes
  int fewest_nodes = 1;              // minimum number of nodes that must have existed
  double watched_node_s = 0;         // as FaultLog::watched_node_s
  // Records of a node within this time after one another are one fault, which costs the node if any
  // of them does: one fault makes a driver report several errors, for each process and each link.
  double same_fault_s = 60;
  std::vector<FaultRecord> faults;
  std::vector<std::pair<std::string, std::string>> notes;  // as FaultLog::notes
};

// `head` has name, nodes and length as far as a file states them. Nodes are numbered in the order
// of their names. Throws Error about the file if it contains no fault.
std::vector<FaultLog> fault_logs_of(ClusterRecords records, const FaultLog& head,
                                    const std::string& file);

// ---- Slurm's accounting: slurm_jobs.cpp ----
//
// `sacct -P -X -o JobID,State,Start,End,NNodes,NodeList` (also with -p) prints a header line and a
// line for each job, with cells separated by '|'. The state of a job tells what failed
// (slurm.schedmd.com/sacct.html, job state codes): NODE_FAIL and BOOT_FAIL cost a node, FAILED and
// OUT_OF_MEMORY the job's processes. Rates are per node time of jobs, because failures of nodes
// without a job are not recorded.
// fail unseen.

bool is_slurm_table(std::string_view text);

// Requires the columns State, Start, End, and one of NNodes, AllocNodes and NodeList. Also uses
// FailedNode and JobID, whose steps ("12.batch") are not jobs of their own; other columns are
// ignored. A job that has not ended counts until the latest time in the table. Throws Error with
// file:line:column: a missing column, an unknown state, a malformed time or number, a job that ends
// before it starts, more cells than columns.
std::vector<FaultLog> read_slurm_jobs(std::string_view text, const std::string& file,
                                      const FaultLog& head);

// ---- Kernel logs (dmesg, journalctl -k, syslog), of one node or of many: kernel_log.cpp ----
//
// A line "NVRM: Xid (PCI:0000:3b:00): 79, ..." is an error of NVIDIA's driver; xid_errors.hpp says
// what each number costs. A line "SXid (...): 12028, Fatal, ..." is an error of a switch, and costs
// the node if it says Fatal (docs.nvidia.com, Fabric Manager user guide).
//
// A line begins with its time: "[123.456]" since the node's boot, "[Fri Aug 30 11:11:22 2024]",
// "Aug 30 11:11:22 HOST", "2024-08-30T11:11:22+00:00 HOST". "HOST: ", as pdsh writes, or a priority
// "<3>" may precede it. Dates without a year are taken to lie as close together as possible within
// a year. A node is a host; if no line names one, all lines are from one node.

bool is_kernel_log(std::string_view text);

// Whether a line is the header of a table of faults (fault_log.hpp), whose causes may name Xids.
bool is_header_of_faults(std::string_view line);

// All lines with a time determine the length of the log. Only lines of the kernel ("HOST kernel: ",
// or any after "HOST: ") name nodes, so a node without such a line is not counted. Throws Error
// with file:line:column: an Xid without a number, without a time, or with a time in another form
// than the first one's; a clock since boot for a second node or boot.
std::vector<FaultLog> read_kernel_log(std::string_view text, const std::string& file,
                                      const FaultLog& head);

// ---- Times ----

// Takes "2024-08-30T11:11:22" from the beginning of `text`; a blank may replace the T, and a
// fraction of a second and a zone (Z, +02:00, +0200) may follow. Returns seconds since 1970 in UTC;
// a time without a zone counts as UTC.
std::optional<double> take_iso_time(std::string_view& text);

// Parts of such times. Each is removed from the beginning of `text` if it matches.
bool take_text(std::string_view& text, std::string_view what);
bool take_whole(std::string_view& text, std::size_t least_digits, std::size_t most_digits,
                int& number);
bool take_clock(std::string_view& text, double& seconds);  // "11:11:22.5"
// Days since 1970; nothing if there is no such day.
std::optional<double> day_number(int year, int month, int day);

}  // namespace windtunnel
