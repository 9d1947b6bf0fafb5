// Converts a cluster's own records of faults (Slurm's accounting and node events, kernel logs, DCGM
// metrics) to logs of faults: one for faults that cost a node, one for faults that cost a job only
// its processes.
#pragma once

#include <limits>
#include <map>
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
  double repair_s = 0;  // until the node was back; 0: not known
};

struct ClusterRecords {
  // The observed period, which contains the time of every fault.
  double from_s = std::numeric_limits<double>::infinity();
  double until_s = -std::numeric_limits<double>::infinity();
  std::set<std::string> nodes;       // named in the records
  std::string named_in = "records";  // the kind of records that name nodes
  int fewest_nodes = 1;              // minimum number of nodes that must have existed
  double watched_node_s = 0;         // as FaultLog::watched_node_s
  // Records of a node within this time after one another are one fault, which costs the node if any
  // of them does: one fault makes a driver report several errors, for each process and each link.
  double same_fault_s = 60;
  std::vector<FaultRecord> faults;
  std::vector<std::pair<std::string, std::string>> notes;  // as FaultLog::notes

  void watch(double at_s);  // extends the period to this time
};

// `head` has name, nodes and length as far as a file states them. Nodes are numbered in the order
// of their names. Throws Error about the file if it contains no fault.
std::vector<FaultLog> fault_logs_of(ClusterRecords records, const FaultLog& head,
                                    const std::string& file);

// ---- Slurm's accounting: slurm_records.cpp ----
//
// `sacct -P -X -o JobID,State,Start,End,NNodes,NodeList` (also with -p) prints a header line and a
// line for each job, with cells separated by '|'. The state of a job tells what failed
// (slurm.schedmd.com/sacct.html, job state codes): NODE_FAIL and BOOT_FAIL cost a node, FAILED and
// OUT_OF_MEMORY the job's processes. Rates are per node time of jobs, because failures of nodes
// without a job are not recorded.

bool is_slurm_table(std::string_view text);  // of jobs or of events

// Requires the columns State, Start, End, and one of NNodes, AllocNodes and NodeList. Also uses
// FailedNode and JobID, whose steps ("12.batch") are not jobs of their own; other columns are
// ignored. A job that has not ended counts until the latest time in the table. Throws Error with
// file:line:column: a missing column, an unknown state, a malformed time or number, a job that ends
// before it starts, more cells than columns.
std::vector<FaultLog> read_slurm_jobs(std::string_view text, const std::string& file,
                                      const FaultLog& head);

// ---- Slurm's events of nodes: slurm_records.cpp ----
//
// `sacctmgr -P show event format=NodeName,Start,End,State,Reason` prints a line for each time that
// a node was out of service (slurm.schedmd.com/sacctmgr.html). A node that becomes DOWN, FAIL,
// FAILING or ERROR counts as a fault. A drained node does not, because its job ends normally.
// Events of a node within same_fault_s of one another are merged: the first gives the state, the
// last the end. If the column "Cluster Nodes" is printed, it names all nodes; otherwise only nodes
// with events are known.

bool is_slurm_events(std::string_view text);

// Requires the columns NodeName, TimeStart, TimeEnd and State; also reads Reason and "Cluster
// Nodes". Throws Error with file:line:column: a missing column, an unknown state, a malformed time,
// an event that ends before it starts, more cells than columns.
std::vector<FaultLog> read_slurm_events(std::string_view text, const std::string& file,
                                        const FaultLog& head);

// ---- Xids in DCGM metrics, exported from Prometheus: dcgm_metrics.cpp ----
//
// dcgm-exporter exports DCGM_FI_DEV_XID_ERRORS, the last Xid of each GPU, 0 before the first
// (github.com/NVIDIA/dcgm-exporter): a change of the value counts as an Xid. A value that the first
// sample already has is older than the log. The labels err_code and err_msg change with the value
// and so do not identify a GPU. DCGM_EXP_XID_ERRORS_COUNT, with its label xid, is the number of
// Xids in a time window: each increase is counted.
//
// Formats: what `promtool query range` prints (a line "NAME{LABELS} =>", then a line "79
// @[SECONDS]" for each sample), and lines "NAME{LABELS} VALUE TIME" of the text exposition format,
// of `promtool tsdb dump` (milliseconds) and of `promtool tsdb dump-openmetrics` (seconds; times
// above 1e11 are milliseconds). The node is the label Hostname, else node, else instance without
// its port.

bool is_dcgm_metrics(std::string_view text);

// The length of the log and the set of nodes come from all samples, including other metrics.
// Throws Error with file:line:column: a sample without a time, a value that is not an Xid,
// malformed labels, a GPU without a node.
std::vector<FaultLog> read_dcgm_metrics(std::string_view text, const std::string& file,
                                        const FaultLog& head);

// ---- Meaning of Xids in both formats, by NVIDIA's list (find_xid()) ----

struct XidCounts {
  std::map<std::string, int> harmless, unknown;
};

// The kind and name of the fault. If the Xid is not a fault, returns nothing and counts it.
// `fatal`: whether the record calls the error fatal; true if it does not say.
std::optional<std::pair<FailureKind, std::string>> fault_of_xid(int number, bool fatal,
                                                                XidCounts& counts);
void note_xids(const XidCounts& counts, ClusterRecords& records);

// Returns "NODE_FAIL: 3, FAILED: 1", the most frequent first; a long list ends in the number left
// out.
std::string counts_text(const std::map<std::string, int>& counts);

// ---- Kernel logs (dmesg, journalctl -k, syslog), of one node or of many: kernel_log.cpp ----
//
// A line "NVRM: Xid (PCI:0000:3b:00): 79, ..." is an error of NVIDIA's driver; find_xid() says
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

// These read the parts of such times. Each part is removed from the beginning of `text` if it
// matches.
bool take_text(std::string_view& text, std::string_view what);
bool take_whole(std::string_view& text, std::size_t least_digits, std::size_t most_digits,
                int& number);
bool take_clock(std::string_view& text, double& seconds);  // "11:11:22.5"
// Days since 1970; nothing if there is no such day.
std::optional<double> day_number(int year, int month, int day);

// What an error that NVIDIA's driver reports (an Xid) costs. fault_records.cpp has a row for each
// number.
enum class XidCost {
  nothing,  // only informs, or follows another Xid that counts
  process,  // the application has to restart; the GPU continues
  node,     // the GPU has to be reset, or the node restarted or inspected
  fatal,    // `node` if the line calls the error fatal, else `nothing`
};

struct XidError {
  int first = 0, last = 0;  // range of numbers, inclusive
  XidCost cost = XidCost::nothing;
  std::string_view what;
};

const XidError* find_xid(int number);  // null: NVIDIA's list states no action for it

}  // namespace windtunnel
