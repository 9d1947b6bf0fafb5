// What crosses a node's PCIe links, host memory, cores and drives for one of its GPUs: as flows,
// which share them with all others, and in closed form, as if all GPUs of the node did the same at
// once.
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

// So much of a resource, and the traffic of the host's memory beside it at the pace that at most
// `rate` units per second of the resource allow. Two flows, because each has an efficiency of its
// own.
std::vector<Flow> paced_by(const Job& job, Resource resource, double amount, double rate,
                           double host_bytes);
// The latter alone: `pace` shares of it per second, at most.
Flow host_traffic(const Job& job, double bytes, double pace);

enum class CopyWay { to_host, from_host };

// Of `bytes` over the GPU's PCIe link (or what leads to its processor in its place), which the host
// reads or writes once, and `host_bytes` more that it handles with them; `disk`: to or from the
// drives.
HostWork copy_work(const Job& job, CopyWay way, double bytes, double host_bytes, bool disk);

// The optimizer's step on the host's cores, which reads and writes so many bytes: bound by the
// cores or by the host's memory.
HostWork update_work(const Job& job, double bytes);
// Of a state that lies on the drives: read from there, or written back.
HostWork drive_work(const Job& job, double bytes);

}  // namespace windtunnel
