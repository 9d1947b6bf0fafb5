// Load of one GPU on its node's PCIe links, host memory, cores and drives: as flows, which share
// them with all others, and in closed form, with all GPUs of the node doing the same concurrently.
#pragma once

#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/plan.hpp"

namespace windtunnel {

struct HostWork {
  std::vector<Flow> flows;
  double seconds = 0;
  Origin origin = Origin::assumed;
};

// Returns a flow of `amount` on a resource, and one of the host memory traffic that goes with it,
// at the pace of at most `rate` units of the resource per second. There are two flows because each
// has its own efficiency.
std::vector<Flow> paced_by(const Job& job, Resource resource, double amount, double rate,
                           double host_bytes);
// Returns only the memory traffic, at no more than the share `pace` of it per second.
Flow host_traffic(const Job& job, double bytes, double pace);

enum class CopyWay { to_host, from_host };

// Copies `bytes` over the GPU's PCIe link (or the superchip's link to its CPU). The host reads or
// writes them once and has `host_bytes` of additional memory traffic; `disk`: to or from the
// drives.
HostWork copy_work(const Job& job, CopyWay way, double bytes, double host_bytes, bool disk);

// The optimizer step on the host's cores, which reads and writes these bytes: limited by cores or
// host memory.
HostWork update_work(const Job& job, double bytes);
// The transfer of state on the drives, read from there or written back.
HostWork drive_work(const Job& job, double bytes);

}  // namespace windtunnel
