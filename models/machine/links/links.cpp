#include "models/machine/links/links.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/machine/fabrics/link_faults.hpp"
#include "models/machine/fabrics/sites.hpp"
#include "models/machine/fabrics/tree.hpp"

namespace windtunnel {
namespace {

constexpr int kCommonHops = 3;  // a tree of two tiers

int nodes_per_pod(const Cluster& cluster) {
  const int wanted = is_tree(cluster.fabric.topology) ? cluster.fabric.nodes_per_pod : 0;
  const int all = cluster.fabric_nodes();
  return wanted > 0 ? std::min(wanted, all) : all;
}

double varied_factor(const NicVariation& variation, int nic) {
  if (variation.sigma == 0 && variation.slow_share == 0) return 1;
  RandomStream random(variation.seed, RandomPurpose::nic, nic);
  const bool slow = random.uniform() < variation.slow_share;
  const double sigma = slow ? variation.slow_sigma : variation.sigma;
  return std::min(1.0, (slow ? variation.slow_factor : 1) * std::exp(sigma * random.normal()));
}

// Share left by faults and by other jobs' traffic. `prefix`: "nic-out " or "nic-in ".
double fault_factor(const Cluster& cluster, std::string_view prefix, int nic) {
  const FabricSpec& fabric = cluster.fabric;
  double factor = 1;
  if (!fabric.background.empty()) {
    factor = background_left(fabric, fmt::format("{}{}", prefix, nic));
  }
  for (const LinkFault& fault : fabric.faults) {
    if (!fault.link.starts_with(prefix)) continue;
    int named = -1;
    const char* end = fault.link.data() + fault.link.size();
    std::from_chars(fault.link.data() + prefix.size(), end, named);
    if (named == nic) factor *= fault.factor;
  }
  if (factor == 0) {
    throw Error(fmt::format("'{}{}' has failed and nothing replaces it: node {} is cut off", prefix,
                            nic, nic / std::max(1, cluster.nics_per_node())));
  }
  return factor;
}

const NodeSpec& node_of_nic(const Cluster& cluster, int nic) {
  if (cluster.pools.empty()) return cluster.node;
  return cluster.node_of_pool(cluster.pool_of_place(nic / cluster.nics_per_node()));
}

// The share of a NIC's bandwidth that is left by causes that affect both directions.
double two_way_factor(const Cluster& cluster, int nic) {
  const int nics = cluster.nics_per_node();
  double factor = varied_factor(cluster.fabric.variation, nic);
  if (cluster.fabric.topology == Topology::sites) {
    const SiteSpec& site = cluster.fabric.sites[site_of(cluster, nic / nics)];
    if (site.nic_Bps > 0) factor *= site.nic_Bps / node_of_nic(cluster, nic).nic_Bps.value;
  }
  for (const DegradedNic& degraded : cluster.degraded_nics) {
    if (degraded.node * nics + degraded.nic == nic) factor *= degraded.factor;
  }
  return factor;
}

}  // namespace

int nic_of(const Cluster& cluster, int gpu) {
  const int gpus = cluster.node.gpus;
  const int node = cluster.node_of(gpu);
  if (cluster.pools.empty()) {
    const int nics = cluster.node.nics;
    return cluster.place_of(node) * nics + cluster.slot_of(gpu) * nics / gpus;
  }
  return cluster.place_of(node) * cluster.nics_per_node() +
         cluster.slot_of(gpu) * cluster.spec_of(node).nics / gpus;
}

int pod_of(const Cluster& cluster, int gpu) {
  return cluster.place_of(cluster.node_of(gpu)) / nodes_per_pod(cluster);
}

int pods_of(const Cluster& cluster) {
  return (cluster.fabric_nodes() - 1) / nodes_per_pod(cluster) + 1;
}

int nodes_of_pod(const Cluster& cluster, int pod) {
  const int full = nodes_per_pod(cluster);
  return std::min(full, cluster.fabric_nodes() - pod * full);
}

bool in_one_package(const Cluster& cluster, int gpu, int other) {
  const int gpus = cluster.node.package_gpus;
  return gpus > 1 && cluster.ranks.gpu_of(gpu) / gpus == cluster.ranks.gpu_of(other) / gpus;
}

const Parameter& inner_port(const NodeSpec& node, bool in_package) {
  if (node.gpu_path == GpuPath::pcie) return node.pcie_Bps;
  return in_package ? node.package_Bps : node.nvlink_Bps;
}

double nic_factor(const Cluster& cluster, int nic) {
  if (cluster.node.nics < 1) return 1;
  return two_way_factor(cluster, nic) *
         std::min(fault_factor(cluster, "nic-out ", nic), fault_factor(cluster, "nic-in ", nic));
}

double nic_share(const Cluster& cluster, int gpu, const NodeSpec& node) {
  const int nic = nic_of(cluster, gpu);
  const double factor = nic_factor(cluster, nic);
  if (cluster.pools.empty()) return factor;
  const NodeSpec& own = node_of_nic(cluster, nic);
  return factor * own.nics * own.nic_Bps.value / (node.nics * node.nic_Bps.value);
}

bool has_uneven_nics(const Cluster& cluster) {
  const FabricSpec& fabric = cluster.fabric;
  return !cluster.pools.empty() || fabric.topology == Topology::sites ||
         fabric.variation.sigma != 0 || fabric.variation.slow_share != 0 ||
         std::ranges::any_of(fabric.faults,
                             [](const LinkFault& fault) { return names_nic(fault.link); }) ||
         std::ranges::any_of(fabric.background,
                             [](const BackgroundLoad& load) { return names_nic(load.links); });
}

LinkTable::LinkTable(const Cluster& cluster, bool nics_behind_pcie)
    : LinkTable(std::make_shared<const Cluster>(cluster), nics_behind_pcie) {}

LinkTable LinkTable::keeping_reference(const Cluster& cluster, bool nics_behind_pcie) {
  const std::shared_ptr<const Cluster> not_owned(std::shared_ptr<const Cluster>(), &cluster);
  return {not_owned, nics_behind_pcie};
}

LinkTable::LinkTable(std::shared_ptr<const Cluster> kept, bool nics_behind_pcie)
    : cluster_(std::move(kept)), fabric_(make_fabric_links(*cluster_)) {
  const Cluster& cluster = *cluster_;
  const NodeSpec& node = cluster.node;
  CHECK(cluster.nodes > 0 && node.gpus > 0, "{} nodes of {} GPUs", cluster.nodes, node.gpus);
  CHECK(cluster.nodes == 1 || node.nics > 0, "{} nodes without NICs", cluster.nodes);
  const bool pcie = node.gpu_path == GpuPath::pcie;
  wants_pcie_ = nics_behind_pcie;
  nics_behind_pcie_ = behind_pcie(node);

  const int gpus = cluster.gpus();
  const int nics = cluster.fabric_nodes() * cluster.nics_per_node();
  const int nodes = cluster.nodes;
  const auto has_bridge = [](const NodeSpec& spec) { return spec.host_bridge_Bps.value > 0; };
  const bool bridged =
      has_bridge(node) || std::ranges::any_of(cluster.pools, has_bridge, &Pool::node);
  const int bridges = pcie && bridged ? nodes : 0;
  const int common = cluster.networks_differ() ? nodes : 0;
  const int packaged = node.package_gpus > 1 ? gpus : 0;
  const auto has_port = [](const NodeSpec& spec) { return spec.root_port_Bps.value > 0; };
  const bool ported = has_port(node) || std::ranges::any_of(cluster.pools, has_port, &Pool::node);
  const int ports = ported ? gpus : 0;
  CHECK(node.gpus % node.package_gpus == 0 && !(pcie && packaged > 0), "packages of {} in {} GPUs",
        node.package_gpus, node.gpus);
  const std::array<int, kKinds> sizes = {
      gpus, gpus,  gpus,  gpus,  gpus,  gpus,  packaged, packaged, ports,  nics,
      nics, nodes, nodes, nodes, nodes, nodes, bridges,  common,   common, fabric_->count(),
      1,    1};
  for (int kind = 0; kind < kKinds; ++kind) first_[kind + 1] = first_[kind] + sizes[kind];
  const auto check_nic = [&](const std::string& named) {
    if (!names_nic(named) || find(named)) return;
    throw Error(fmt::format("unknown link '{}'; the NICs are 0 to {}", named, nics - 1));
  };
  for (const LinkFault& fault : cluster.fabric.faults) check_nic(fault.link);
  for (const BackgroundLoad& load : cluster.fabric.background) {
    if (load.links != "nic-out" && load.links != "nic-in") check_nic(load.links);
  }
}

bool LinkTable::behind_pcie(const NodeSpec& node) const {
  return node.gpu_path == GpuPath::pcie ||
         (wants_pcie_ && node.pcie_Bps.value * node.gpus >= node.nic_Bps.value * node.nics);
}

bool LinkTable::behind_pcie(int gpu) const {
  if (cluster_->pools.empty()) return nics_behind_pcie_;
  return behind_pcie(cluster_->spec_of(cluster_->node_of(gpu)));
}

// The node of the link that has this index among the links of its kind.
const NodeSpec& LinkTable::node_of(Kind kind, int index) const {
  if (cluster_->pools.empty()) return cluster_->node;
  if (kind < Kind::nic_out) return cluster_->spec_of(cluster_->node_of(index));
  if (kind <= Kind::nic_in) return node_of_nic(*cluster_, index);
  return kind < Kind::fabric ? cluster_->spec_of(index) : cluster_->node;
}

LinkId LinkTable::count() const {
  return first_[kKinds];
}

int LinkTable::fabric_link(LinkId link) const {
  const int index = link - this->link(Kind::fabric, 0);
  return index < fabric_->count() ? std::max(index, -1) : -1;
}

LinkTable::Kind LinkTable::kind_of(LinkId link) const {
  CHECK(link >= 0 && link < count(), "link {} of {}", link, count());
  const auto next = std::upper_bound(first_.begin(), first_.end(), link);
  return static_cast<Kind>(next - first_.begin() - 1);
}

double LinkTable::capacity(LinkId link) const {
  const Kind kind = kind_of(link);
  const int index = link - first_[static_cast<int>(kind)];
  const NodeSpec& node = node_of(kind, index);
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
    case Kind::package_out:
    case Kind::package_in:
      return node.package_Bps.value;
    case Kind::root_port:
      return node.root_port_Bps.value;
    case Kind::nic_out:
      return node.nic_Bps.value * two_way_factor(*cluster_, index) *
             fault_factor(*cluster_, "nic-out ", index);
    case Kind::nic_in:
      return node.nic_Bps.value * two_way_factor(*cluster_, index) *
             fault_factor(*cluster_, "nic-in ", index);
    case Kind::host_memory:
      return node.host_memory_Bps.value;
    case Kind::cpu:
      return node.cpu_cores.value;
    case Kind::storage_out:
    case Kind::storage_in:
      return node.storage_nic_Bps.value;
    case Kind::local_disk:
      return node.local_disk_Bps.value;
    case Kind::host_bridge:
      return node.host_bridge_Bps.value;
    case Kind::common_out:
    case Kind::common_in:
      return cluster_->common.node_Bps.value;
    case Kind::fabric:
      return fabric_->capacity(index);
    case Kind::storage_write:
      return cluster_->storage.left_of(cluster_->storage.write_Bps);
    case Kind::storage_read:
      return cluster_->storage.left_of(cluster_->storage.read_Bps);
  }
  return 0;
}

std::string LinkTable::name(LinkId link) const {
  static constexpr std::array<const char*, kKinds> kNames = {"sm",
                                                             "hbm",
                                                             "pcie-out",
                                                             "pcie-in",
                                                             "nvlink-out",
                                                             "nvlink-in",
                                                             "package-out",
                                                             "package-in",
                                                             "root-port",
                                                             "nic-out",
                                                             "nic-in",
                                                             "host-memory",
                                                             "cpu",
                                                             "storage-out",
                                                             "storage-in",
                                                             "local-disk",
                                                             "host-bridge",
                                                             "common-out",
                                                             "common-in",
                                                             "",
                                                             "storage-write",
                                                             "storage-read"};
  const Kind kind = kind_of(link);
  const int index = link - first_[static_cast<int>(kind)];
  if (kind == Kind::fabric) return fabric_->name(index);
  const char* text = kNames[static_cast<int>(kind)];
  return kind >= Kind::storage_write ? text : fmt::format("{} {}", text, index);
}

std::optional<LinkId> LinkTable::find(std::string_view wanted) const {
  for (LinkId link = 0; link < count(); ++link) {
    if (name(link) == wanted) return link;
  }
  return std::nullopt;
}

int LinkTable::exit_gpu(int src_gpu, int dst_gpu) const {
  if (cluster_->fabric.topology != Topology::rail_only) return src_gpu;
  const int nics = cluster_->nics_per_node();
  if (nic_of(*cluster_, src_gpu) % nics == nic_of(*cluster_, dst_gpu) % nics) return src_gpu;
  return cluster_->rank_on(cluster_->node_of(src_gpu), cluster_->slot_of(dst_gpu));
}

void LinkTable::append_inside(int src_gpu, int dst_gpu, std::vector<LinkId>& route) const {
  if (in_one_package(*cluster_, src_gpu, dst_gpu)) {
    route.push_back(link(Kind::package_out, src_gpu));
    route.push_back(link(Kind::package_in, dst_gpu));
    return;
  }
  if (cluster_->node.gpu_path == GpuPath::nvlink) {
    route.push_back(link(Kind::nvlink_out, src_gpu));
    route.push_back(link(Kind::nvlink_in, dst_gpu));
    return;
  }
  append_pcie(Kind::pcie_out, src_gpu, route);
  const int node = cluster_->node_of(src_gpu);
  if (cluster_->spec_of(node).host_bridge_Bps.value > 0) {
    route.push_back(link(Kind::host_bridge, node));
  }
  append_pcie(Kind::pcie_in, dst_gpu, route);
}

void LinkTable::append_pcie(Kind kind, int gpu, std::vector<LinkId>& route) const {
  route.push_back(link(kind, gpu));
  if (cluster_->spec_of(cluster_->node_of(gpu)).root_port_Bps.value > 0) {
    route.push_back(link(Kind::root_port, gpu));
  }
}

int LinkTable::paths(int src_gpu, int dst_gpu) const {
  if (cluster_->node_of(src_gpu) == cluster_->node_of(dst_gpu)) return 1;
  if (cluster_->apart(src_gpu, dst_gpu)) return 1;
  return fabric_->paths(nic_of(*cluster_, exit_gpu(src_gpu, dst_gpu)), nic_of(*cluster_, dst_gpu));
}

void LinkTable::append_route(int src_gpu, int dst_gpu, std::vector<LinkId>& route, int path) const {
  if (src_gpu == dst_gpu) return;
  if (cluster_->node_of(src_gpu) == cluster_->node_of(dst_gpu)) {
    append_inside(src_gpu, dst_gpu, route);
    return;
  }
  if (cluster_->apart(src_gpu, dst_gpu)) {
    route.push_back(link(Kind::common_out, cluster_->node_of(src_gpu)));
    route.push_back(link(Kind::common_in, cluster_->node_of(dst_gpu)));
    return;
  }
  const int exit = exit_gpu(src_gpu, dst_gpu);
  const int src_nic = nic_of(*cluster_, exit);
  const int dst_nic = nic_of(*cluster_, dst_gpu);
  // The NIC's link comes first, because FlowTable finds by it which flows share a NIC.
  route.push_back(link(Kind::nic_out, src_nic));
  if (exit != src_gpu) append_inside(src_gpu, exit, route);
  if (behind_pcie(exit)) append_pcie(Kind::pcie_out, exit, route);
  const size_t first = route.size();
  fabric_->append_route(src_nic, dst_nic, path, route);
  for (size_t i = first; i < route.size(); ++i) route[i] += link(Kind::fabric, 0);
  if (behind_pcie(dst_gpu)) append_pcie(Kind::pcie_in, dst_gpu, route);
  route.push_back(link(Kind::nic_in, dst_nic));
}

int LinkTable::switch_hops(int src_gpu, int dst_gpu) const {
  if (src_gpu == dst_gpu) return 0;
  if (cluster_->node_of(src_gpu) == cluster_->node_of(dst_gpu)) return 1;
  if (cluster_->apart(src_gpu, dst_gpu)) return kCommonHops;
  return fabric_->switch_hops(nic_of(*cluster_, exit_gpu(src_gpu, dst_gpu)),
                              nic_of(*cluster_, dst_gpu));
}

double LinkTable::extra_latency_s(int src_gpu, int dst_gpu) const {
  if (cluster_->node_of(src_gpu) == cluster_->node_of(dst_gpu)) return 0;
  if (cluster_->apart(src_gpu, dst_gpu)) return cluster_->common.latency_s.value;
  return fabric_->extra_latency_s(nic_of(*cluster_, exit_gpu(src_gpu, dst_gpu)),
                                  nic_of(*cluster_, dst_gpu));
}

void LinkTable::append_resource(int gpu, Resource resource, std::vector<LinkId>& route) const {
  const int node = cluster_->node_of(gpu);
  switch (resource) {
    case Resource::sm:
      route.push_back(link(Kind::sm, gpu));
      return;
    case Resource::hbm:
      route.push_back(link(Kind::hbm, gpu));
      return;
    case Resource::pcie_out:
      append_pcie(Kind::pcie_out, gpu, route);
      return;
    case Resource::pcie_in:
      append_pcie(Kind::pcie_in, gpu, route);
      return;
    case Resource::host_memory:
      route.push_back(link(Kind::host_memory, node));
      return;
    case Resource::cpu:
      route.push_back(link(Kind::cpu, node));
      return;
    case Resource::nic_out:
      route.push_back(link(Kind::nic_out, nic_of(*cluster_, gpu)));
      return;
    case Resource::nic_in:
      route.push_back(link(Kind::nic_in, nic_of(*cluster_, gpu)));
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
