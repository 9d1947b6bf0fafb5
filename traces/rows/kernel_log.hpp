// Errors of NVIDIA's driver in what a kernel logged (dmesg, journalctl -k, syslog, of one node or
// of many): lines with "NVRM: Xid (PCI:0000:3b:00): 79, ...", and of switches
// "SXid (...): 12028, Fatal, ...". Which number costs what: xid_errors.hpp; of SXids those that
// the line calls fatal cost the node (docs.nvidia.com, Fabric Manager user guide).
//
// A line begins with its time: "[123.456]" since the node's boot, "[Fri Aug 30 11:11:22 2024]",
// "Aug 30 11:11:22 HOST", "2024-08-30T11:11:22+00:00 HOST"; before it may stand "HOST: ", as pdsh
// writes, or a priority "<3>". Dates without a year are taken to lie as close together as they can,
// within a year. A node is a host; where no line names one, all are of one node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/reliability/fault_fit.hpp"

namespace windtunnel {

bool is_kernel_log(std::string_view text);

// `head` as in fault_records.hpp. All lines with a time tell how long the log is and which nodes
// there are. Throws Error with file:line:column: an Xid without a number, without a time, with a
// time of another form than the first one's; a clock since boot of a second node or boot.
std::vector<FaultLog> read_kernel_log(std::string_view text, const std::string& file,
                                      const FaultLog& head);

}  // namespace windtunnel
