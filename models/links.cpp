#include "models/links.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

int nodes_per_pod(const Cluster& cluster) {
  const int wanted = cluster.fabric.nodes_per_pod;
  return wanted > 0 ? std::min(wanted, cluster.nodes) : cluster.nodes;
}

}  // namespace

int nic_of(const Cluster& cluster, int gpu) {
  const NodeSpec& node = cluster.node;
  return cluster.node_of(gpu) * node.nics + gpu % node.gpus * node.nics / node.gpus;
}

int pod_of(const Cluster& cluster, int gpu) {
  return cluster.node_of(gpu) / nodes_per_pod(cluster);
}

int nodes_of_pod(const Cluster& cluster, int pod) {
  const int full = nodes_per_pod(cluster);
  return std::min(full, cluster.nodes - pod * full);
}

int uplinks_per_pod(const Cluster& cluster) {
  return cluster.fabric.topology == Topology::rail_fat_tree ? std::max(1, cluster.node.nics) : 1;
}

int uplink_of(const Cluster& cluster, int gpu) {
  const int uplinks = uplinks_per_pod(cluster);
  const int rail = uplinks > 1 ? nic_of(cluster, gpu) % uplinks : 0;
  return pod_of(cluster, gpu) * uplinks + rail;
}

double nic_factor(const Cluster& cluster, int nic) {
  double factor = 1;
  for (const DegradedNic& degraded : cluster.degraded_nics) {
    if (degraded.node * cluster.node.nics + degraded.nic == nic) factor *= degraded.factor;
  }
  return factor;
}

int switch_hops(const Cluster& cluster, int src_gpu, int dst_gpu) {
  if (src_gpu == dst_gpu) return 0;
  if (cluster.node_of(src_gpu) == cluster.node_of(dst_gpu)) return 1;
  return uplink_of(cluster, src_gpu) == uplink_of(cluster, dst_gpu) ? 1 : 3;
}

LinkTable::LinkTable(const Cluster& cluster, bool nics_behind_pcie) : cluster_(cluster) {
  const NodeSpec& node = cluster_.node;
  CHECK(cluster_.nodes > 0 && node.gpus > 0, "{} nodes of {} GPUs", cluster_.nodes, node.gpus);
  CHECK(cluster_.nodes == 1 || node.nics > 0, "{} nodes without NICs", cluster_.nodes);
  nics_behind_pcie_ =
      nics_behind_pcie && node.pcie_Bps.value * node.gpus >= node.nic_Bps.value * node.nics;
  const int pods = pod_of(cluster_, cluster_.gpus() - 1) + 1;
  uplinks_per_pod_ = uplinks_per_pod(cluster_);

  const int gpus = cluster_.gpus();
  const int nics = cluster_.nodes * node.nics;
  const int uplinks = pods * uplinks_per_pod_;
  const std::array<int, kKinds> sizes = {gpus,
                                         gpus,
                                         gpus,
                                         gpus,
                                         gpus,
                                         gpus,
                                         nics,
                                         nics,
                                         cluster_.nodes,
                                         cluster_.nodes,
                                         cluster_.nodes,
                                         cluster_.nodes,
                                         cluster_.nodes,
                                         uplinks,
                                         uplinks,
                                         1,
                                         1};
  for (int kind = 0; kind < kKinds; ++kind) first_[kind + 1] = first_[kind] + sizes[kind];
}

LinkId LinkTable::count() const {
  return first_[kKinds];
}

LinkTable::Kind LinkTable::kind_of(LinkId link) const {
  CHECK(link >= 0 && link < count(), "link {} of {}", link, count());
  const auto next = std::upper_bound(first_.begin(), first_.end(), link);
  return static_cast<Kind>(next - first_.begin() - 1);
}

double LinkTable::uplink_capacity(int uplink) const {
  // The last pod may be smaller; its uplinks shrink with it.
  const int nodes = nodes_of_pod(cluster_, uplink / uplinks_per_pod_);
  const double nic_Bps = nodes * cluster_.node.nics * cluster_.node.nic_Bps.value;
  return nic_Bps / uplinks_per_pod_ / cluster_.fabric.pod_oversubscription;
}

double LinkTable::capacity(LinkId link) const {
  const NodeSpec& node = cluster_.node;
  const Kind kind = kind_of(link);
  const int index = link - first_[static_cast<int>(kind)];
  switch (kind) {
    case Kind::sm:
      return node.gpu.sms.value;
    case Kind::hbm:
      return node.gpu.memory_Bps.value;
    case Kind::pcie_out:
    case Kind::pcie_in:
      return node.pcie_Bps.value;
    case Kind::nvlink_out:
    case Kind::nvlink_in:
      return node.nvlink_Bps.value;
    case Kind::nic_out:
    case Kind::nic_in:
      return node.nic_Bps.value * nic_factor(cluster_, index);
    case Kind::host_memory:
      return node.host_memory_Bps.value;
    case Kind::cpu:
      return node.cpu_cores.value;
    case Kind::storage_out:
    case Kind::storage_in:
      return node.storage_nic_Bps.value;
    case Kind::local_disk:
      return node.local_disk_Bps.value;
    case Kind::pod_up:
    case Kind::pod_down:
      return uplink_capacity(index);
    case Kind::storage_write:
      return cluster_.storage.write_Bps.value;
    case Kind::storage_read:
      return cluster_.storage.read_Bps.value;
  }
  return 0;
}

std::string LinkTable::name(LinkId link) const {
  static constexpr std::array<const char*, kKinds> kNames = {
      "sm",         "hbm",    "pcie-out",    "pcie-in",       "nvlink-out",  "nvlink-in",
      "nic-out",    "nic-in", "host-memory", "cpu",           "storage-out", "storage-in",
      "local-disk", "pod-up", "pod-down",    "storage-write", "storage-read"};
  const Kind kind = kind_of(link);
  const char* text = kNames[static_cast<int>(kind)];
  const int index = link - first_[static_cast<int>(kind)];
  if (kind >= Kind::storage_write) return text;
  if (kind < Kind::pod_up || uplinks_per_pod_ == 1) return fmt::format("{} {}", text, index);
  return fmt::format("{} {} rail {}", text, index / uplinks_per_pod_, index % uplinks_per_pod_);
}

void LinkTable::append_route(int src_gpu, int dst_gpu, std::vector<LinkId>& route) const {
  if (src_gpu == dst_gpu) return;
  if (cluster_.node_of(src_gpu) == cluster_.node_of(dst_gpu)) {
    route.push_back(link(Kind::nvlink_out, src_gpu));
    route.push_back(link(Kind::nvlink_in, dst_gpu));
    return;
  }
  // The NIC's link stays the first: what shares a NIC is then known by it (FlowTable).
  route.push_back(link(Kind::nic_out, nic_of(cluster_, src_gpu)));
  if (nics_behind_pcie_) route.push_back(link(Kind::pcie_out, src_gpu));
  const int up = uplink_of(cluster_, src_gpu);
  const int down = uplink_of(cluster_, dst_gpu);
  if (up != down) {
    route.push_back(link(Kind::pod_up, up));
    route.push_back(link(Kind::pod_down, down));
  }
  if (nics_behind_pcie_) route.push_back(link(Kind::pcie_in, dst_gpu));
  route.push_back(link(Kind::nic_in, nic_of(cluster_, dst_gpu)));
}

void LinkTable::append_resource(int gpu, Resource resource, std::vector<LinkId>& route) const {
  const int node = cluster_.node_of(gpu);
  switch (resource) {
    case Resource::sm:
      route.push_back(link(Kind::sm, gpu));
      return;
    case Resource::hbm:
      route.push_back(link(Kind::hbm, gpu));
      return;
    case Resource::pcie_out:
      route.push_back(link(Kind::pcie_out, gpu));
      return;
    case Resource::pcie_in:
      route.push_back(link(Kind::pcie_in, gpu));
      return;
    case Resource::host_memory:
      route.push_back(link(Kind::host_memory, node));
      return;
    case Resource::cpu:
      route.push_back(link(Kind::cpu, node));
      return;
    case Resource::nic_out:
      route.push_back(link(Kind::nic_out, nic_of(cluster_, gpu)));
      return;
    case Resource::nic_in:
      route.push_back(link(Kind::nic_in, nic_of(cluster_, gpu)));
      return;
    case Resource::storage_write:
      route.push_back(link(Kind::storage_out, node));
      route.push_back(link(Kind::storage_write, 0));
      return;
    case Resource::storage_read:
      route.push_back(link(Kind::storage_in, node));
      route.push_back(link(Kind::storage_read, 0));
      return;
    case Resource::local_disk:
      route.push_back(link(Kind::local_disk, node));
      return;
  }
}

}  // namespace windtunnel
