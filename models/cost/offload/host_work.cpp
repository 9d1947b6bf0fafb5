#include "models/cost/offload/host_work.hpp"

#include <algorithm>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/offload/offload.hpp"
#include "models/machine/pcie_rate.hpp"

namespace windtunnel {
namespace {

double closed_seconds(const Job& job, const Flow& flow) {
  const NodeSpec& node = job.cluster.node;
  double seconds = flow.amount / flow.max_rate;
  for (const Demand& demand : flow.demands) {
    double capacity = 0;
    switch (demand.resource) {
      case Resource::pcie_out:
      case Resource::pcie_in:
        capacity = node.pcie_one_way_Bps();
        break;
      case Resource::host_memory:
        capacity = node.host_memory_Bps.value / node.gpus;
        break;
      case Resource::cpu:
        capacity = node.cpu_cores.value / node.gpus;
        break;
      case Resource::local_disk:
        capacity = node.local_disk_Bps.value / node.gpus;
        break;
      default:
        CHECK(false, "work of the host on resource {}", static_cast<int>(demand.resource));
    }
    seconds = std::max(seconds, demand.weight * flow.amount / capacity);
  }
  return seconds;
}

HostWork work_of(const Job& job, std::vector<Flow> flows, Origin origin) {
  std::erase_if(flows, [](const Flow& flow) { return flow.amount <= 0; });
  HostWork work{std::move(flows), 0, origin};
  for (const Flow& flow : work.flows) {
    work.seconds = std::max(work.seconds, closed_seconds(job, flow));
  }
  return work;
}

}  // namespace

Flow host_traffic(const Job& job, double bytes, double pace) {
  Flow host;
  host.amount = bytes / job.calibration.host_memory_efficiency.value;
  host.max_rate = pace * host.amount;
  host.demands = {{Resource::host_memory, 1}};
  return host;
}

std::vector<Flow> paced_by(const Job& job, Resource resource, double amount, double rate,
                           double host_bytes) {
  Flow through;
  through.amount = amount;
  through.demands = {{resource, 1}};
  return {through, host_traffic(job, host_bytes, rate / amount)};
}

HostWork copy_work(const Job& job, CopyWay way, double bytes, double host_bytes, bool disk) {
  const Parameter& efficiency = job.calibration.pcie_efficiency;
  const Resource link = way == CopyWay::to_host ? Resource::pcie_out : Resource::pcie_in;
  std::vector<Flow> flows =
      paced_by(job, link, bytes / efficiency.value, job.cluster.node.pcie_one_way_Bps(),
               bytes + host_bytes + (disk ? bytes : 0));
  if (disk) {
    flows.push_back({.amount = bytes / job.calibration.storage_efficiency.value,
                     .demands = {{Resource::local_disk, 1}}});
  }
  return work_of(job, std::move(flows),
                 origin_of_rate(one_way_limit(job.cluster.node).origin, efficiency.origin));
}

HostWork update_work(const Job& job, double bytes) {
  const Offload& offload = offload_of(job);
  const NodeSpec& node = job.cluster.node;
  const double cores = offload.cores > 0 ? offload.cores : node.cpu_cores.value / node.gpus;
  std::vector<Flow> flows =
      paced_by(job, Resource::cpu, bytes / offload.core_Bps.value, cores, bytes);
  flows.front().max_rate = cores;
  return work_of(job, std::move(flows),
                 weakest(offload.core_Bps.origin,
                         origin_of_rate(node.host_memory_Bps.origin,
                                        job.calibration.host_memory_efficiency.origin)));
}

HostWork drive_work(const Job& job, double bytes) {
  const Parameter& disk_Bps = job.cluster.node.local_disk_Bps;
  const Parameter& efficiency = job.calibration.storage_efficiency;
  return work_of(
      job, paced_by(job, Resource::local_disk, bytes / efficiency.value, disk_Bps.value, bytes),
      origin_of_rate(disk_Bps.origin, efficiency.origin));
}

}  // namespace windtunnel
