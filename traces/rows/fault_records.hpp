// What a cluster's own records say of faults (Slurm's accounting and events of nodes, kernel logs,
// metrics of DCGM), as logs of faults: one for the faults that cost a node, one for those that cost
// a job its processes alone.
#pragma once

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
  double from_s = 0, until_s = 0;    // watched
  std::set<std::string> nodes;       // that the records name
  std::string named_in = "records";  // which records name nodes
  int fewest_nodes = 1;              // that there must have been
  double watched_node_s = 0;         // as of FaultLog
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

// ---- Slurm's accounting: slurm_jobs.cpp ----
//
// `sacct -P -X -o JobID,State,Start,End,NNodes,NodeList` (with -p too) prints a header line of
// columns and a line for each job, cells set off by '|'. How a job ended tells what failed
// (slurm.schedmd.com/sacct.html, job state codes): NODE_FAIL and BOOT_FAIL cost a node, FAILED and
// OUT_OF_MEMORY the job's processes. A rate is by the node time of the jobs, as nodes without a job
// fail unseen.

bool is_slurm_table(std::string_view text);  // of jobs or of events

// Columns State, Start and End, and NNodes, AllocNodes or NodeList are needed; others are not read,
// but for FailedNode and JobID, whose steps ("12.batch") are no jobs of their own. A job that has
// not ended counts until the latest time of the table. Throws Error with file:line:column: a
// missing column, an unknown state, a time or number that is none, a job that ends before it
// starts, more cells than columns.
std::vector<FaultLog> read_slurm_jobs(std::string_view text, const std::string& file,
                                      const FaultLog& head);

// ---- Slurm's events of nodes: slurm_events.cpp ----
//
// `sacctmgr -P show event format=NodeName,Start,End,State,Reason` prints a line for each time that
// a node was out of service (slurm.schedmd.com/sacctmgr.html). A node that leaves service as DOWN,
// FAIL or ERROR is a fault; one that is drained lets its job end, and is none. Events of a node
// that follow each other within same_fault_s are one time out of service, whose first state tells
// what it was and whose end is that of the last. The column "Cluster Nodes" of events of the
// cluster names all nodes, where it is printed; else only nodes with an event are known.

bool is_slurm_events(std::string_view text);

// Columns NodeName, TimeStart, TimeEnd and State are needed; Reason and "Cluster Nodes" are read
// too. Throws Error with file:line:column: a missing column, an unknown state, a time that is none,
// an event that ends before it starts, more cells than columns.
std::vector<FaultLog> read_slurm_events(std::string_view text, const std::string& file,
                                        const FaultLog& head);

// ---- Xids in metrics of DCGM, as Prometheus keeps them: dcgm_metrics.cpp ----
//
// dcgm-exporter exports DCGM_FI_DEV_XID_ERRORS, the last Xid of each GPU, 0 before the first
// (github.com/NVIDIA/dcgm-exporter): an Xid is counted where the value becomes another one. A value
// that stands there from the first sample is older than the log. The labels err_code and err_msg
// follow the value and tell GPUs not apart. DCGM_EXP_XID_ERRORS_COUNT with its label xid counts
// those of a window of time: each rise is counted.
//
// Forms: what `promtool query range` prints (a line "NAME{LABELS} =>", then a line "79 @[SECONDS]"
// a sample), and lines "NAME{LABELS} VALUE TIME" of the text exposition format, of `promtool tsdb
// dump` (milliseconds) and of `promtool tsdb dump-openmetrics` (seconds; times above 1e11 are
// milliseconds). The node is the label Hostname, else node, else instance without its port.

bool is_dcgm_metrics(std::string_view text);

// All samples tell how long the log is and which nodes there are, those of other metrics too.
// Throws Error with file:line:column: a sample without a time, a value that is no Xid, labels that
// are none, a GPU without a node.
std::vector<FaultLog> read_dcgm_metrics(std::string_view text, const std::string& file,
                                        const FaultLog& head);

// ---- Xids of both, by NVIDIA's list (xid_errors.hpp) ----

struct XidCounts {
  std::map<std::string, int> harmless, unknown;
};

// The kind and the name of the fault; nothing, but counted, where it is none. `fatal`: as far as
// the record says so, else true.
std::optional<std::pair<FailureKind, std::string>> fault_of_xid(int number, bool fatal,
                                                                XidCounts& counts);
void note_xids(const XidCounts& counts, ClusterRecords& records);

// "NODE_FAIL: 3, FAILED: 1", the most frequent first, and of many how many more there are.
std::string counts_text(const std::map<std::string, int>& counts);

// ---- Kernel logs (dmesg, journalctl -k, syslog), of one node or of many: kernel_log.cpp ----
//
// A line "NVRM: Xid (PCI:0000:3b:00): 79, ..." is an error of NVIDIA's driver; which number costs
// what stands in xid_errors.hpp. A line "SXid (...): 12028, Fatal, ..." is one of a switch, and
// costs the node where it calls itself fatal (docs.nvidia.com, Fabric Manager user guide).
//
// A line begins with its time: "[123.456]" since the node's boot, "[Fri Aug 30 11:11:22 2024]",
// "Aug 30 11:11:22 HOST", "2024-08-30T11:11:22+00:00 HOST"; before it may stand "HOST: ", as pdsh
// writes, or a priority "<3>". Dates without a year are taken to lie as close together as they can,
// within a year. A node is a host; where no line names one, all are of one node.

bool is_kernel_log(std::string_view text);

// Whether a line is the header of a table of faults (fault_log.hpp), whose causes may name Xids.
bool is_header_of_faults(std::string_view line);

// All lines with a time tell how long the log is; those of the kernel ("HOST kernel: ", or behind a
// "HOST: ") name the nodes, so a node without such a line is not counted. Throws Error with
// file:line:column: an Xid without a number, without a time, with a time of another form than the
// first one's; a clock since boot of a second node or boot.
std::vector<FaultLog> read_kernel_log(std::string_view text, const std::string& file,
                                      const FaultLog& head);

// ---- Times ----

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
