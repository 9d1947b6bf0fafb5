#include "policies/analysis/plan_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"
#include "models/machine/links/links.hpp"
#include "models/plan/kernel_pace.hpp"
#include "policies/analysis/plan_bytes.hpp"

namespace windtunnel {
namespace {

constexpr int kMostWays = 16;        // links of the fabric are left out if two GPUs have more paths
constexpr double kMostPairs = 4000;  // all-to-alls of groups with more pairs of nodes are left out

class LinkBound {
 public:
  LinkBound(const Plan& plan, const Cluster& cluster, CountedTransfers counted)
      : plan_(plan),
        cluster_(cluster),
        bytes_(plan, cluster, counted),
        links_(LinkTable::keeping_reference(cluster)) {}

  void find(PlanBound& bound) const {
    by_gpus(bound);
    by_nodes(bound);
    by_networks(bound);
    for (const FabricCut& cut : links_.fabric().cuts()) by_cut(cut, bound);
    by_links(bound);
  }

 private:
  using Capacities = std::vector<BothWays>;  // [part], see by_parts()

  static void consider(double bytes, double capacity, std::string_view links, std::size_t number,
                       PlanBound& bound) {
    if (bytes <= 0 || bytes / capacity <= bound.link_s) return;
    bound.link_s = bytes / capacity;
    bound.link = fmt::format("{} {}", links, number);
  }

  void compare(const std::vector<BothWays>& bytes, const Capacities& capacities,
               std::string_view links, PlanBound& bound) const {
    for (std::size_t part = 0; part < bytes.size(); ++part) {
      consider(bytes[part].out, capacities[part].out, links, part, bound);
      consider(bytes[part].in, capacities[part].in, links, part, bound);
    }
  }

  // Bounds by the bytes that enter and leave each part of the cluster: a GPU, a node or a part of
  // the fabric. If networks differ, traffic to another leaves by links of `common_Bps[part]`.
  void by_parts(const std::vector<int>& part_of_rank, Capacities capacities,
                const std::vector<double>& common_Bps, std::string_view links, bool inside_node,
                PlanBound& bound) const {
    const int parts = static_cast<int>(capacities.size());
    if (cluster_.networks_differ()) {
      compare(bytes_.across(part_of_rank, parts, Within::network, inside_node), capacities, links,
              bound);
      for (int part = 0; part < parts; ++part) {
        capacities[part].out += common_Bps[part];
        capacities[part].in += common_Bps[part];
      }
    }
    compare(bytes_.across(part_of_rank, parts, Within::machine, inside_node), capacities, links,
            bound);
  }

  double capacity_of(int gpu, Resource resource) const {
    std::vector<LinkId> route;
    links_.append_resource(gpu, resource, route);
    return links_.capacity(route.front());
  }

  // Inside a node GPUs communicate only through their ports; traffic that leaves the node leaves a
  // GPU through its port, to another GPU that is on the NIC's rail, or through its own NIC. In
  // nodes with PCIe all NICs are behind the GPUs' ports.
  void by_gpus(PlanBound& bound) const {
    std::vector<int> gpu_of_rank(plan_.ranks);
    std::iota(gpu_of_rank.begin(), gpu_of_rank.end(), 0);
    Capacities ports(plan_.ranks);
    std::vector<double> common_Bps(plan_.ranks, 0);
    for (int gpu = 0; gpu < plan_.ranks; ++gpu) {
      const NodeSpec& node = cluster_.spec_of(cluster_.node_of(gpu));
      const bool pcie = node.gpu_path == GpuPath::pcie;
      const double packaged_Bps = node.package_gpus > 1 ? node.package_Bps.value : 0;
      const double port_Bps = pcie ? node.pcie_Bps.value : node.nvlink_Bps.value + packaged_Bps;
      ports[gpu] = {port_Bps, port_Bps};
      if (cluster_.networks_differ()) common_Bps[gpu] = cluster_.common.node_Bps.value;
    }
    const std::vector<BothWays> inside =
        bytes_.across(gpu_of_rank, plan_.ranks, Within::node, true);
    compare(inside, ports, "ports of GPU", bound);
    by_bridges(inside, bound);
    by_packages(bound);
    if (cluster_.nodes == 1) return;
    for (int gpu = 0; gpu < plan_.ranks; ++gpu) {
      if (cluster_.spec_of(cluster_.node_of(gpu)).gpu_path == GpuPath::pcie) continue;
      ports[gpu].out += capacity_of(gpu, Resource::nic_out);
      ports[gpu].in += capacity_of(gpu, Resource::nic_in);
    }
    by_parts(gpu_of_rank, std::move(ports), common_Bps, "ports and NIC of GPU", true, bound);
  }

  // On nodes with PCIe everything that goes from GPU to GPU crosses the host bridge.
  void by_bridges(const std::vector<BothWays>& inside, PlanBound& bound) const {
    std::vector<double> crossing(cluster_.nodes, 0);
    for (int gpu = 0; gpu < plan_.ranks; ++gpu) crossing[cluster_.node_of(gpu)] += inside[gpu].out;
    for (int node = 0; node < cluster_.nodes; ++node) {
      const NodeSpec& spec = cluster_.spec_of(node);
      if (spec.gpu_path != GpuPath::pcie || spec.host_bridge_Bps.value <= 0) continue;
      consider(crossing[node], spec.host_bridge_Bps.value, "host bridge of node", node, bound);
    }
  }

  // A package's GPUs reach all others over the links that leave the package.
  void by_packages(PlanBound& bound) const {
    const int gpus = cluster_.node.package_gpus;
    if (gpus < 2) return;
    std::vector<int> package_of_rank(plan_.ranks);
    for (int gpu = 0; gpu < plan_.ranks; ++gpu) {
      package_of_rank[gpu] = cluster_.ranks.gpu_of(gpu) / gpus;
    }
    Capacities ports((plan_.ranks - 1) / gpus + 1);
    for (std::size_t package = 0; package < ports.size(); ++package) {
      const int node = static_cast<int>(package) * gpus / cluster_.node.gpus;
      const double whole_Bps = gpus * cluster_.spec_of(node).nvlink_Bps.value;
      ports[package] = {whole_Bps, whole_Bps};
    }
    const int packages = static_cast<int>(ports.size());
    compare(bytes_.across(package_of_rank, packages, Within::node, true), ports, "ports of package",
            bound);
  }

  // Returns the bandwidth of all NICs that a node's GPUs reach.
  double nics_of_node(int node, Resource direction) const {
    std::set<LinkId> nics;
    std::vector<LinkId> route;
    for (int slot = 0; slot < cluster_.node.gpus; ++slot) {
      route.clear();
      links_.append_resource(cluster_.rank_on(node, slot), direction, route);
      nics.insert(route.begin(), route.end());
    }
    double capacity = 0;
    for (const LinkId nic : nics) capacity += links_.capacity(nic);
    return capacity;
  }

  void by_nodes(PlanBound& bound) const {
    if (cluster_.nodes == 1) return;
    const bool uneven = has_uneven_nics(cluster_) || !cluster_.degraded_nics.empty();
    Capacities nics(cluster_.nodes);
    for (int node = 0; node < cluster_.nodes; ++node) {
      nics[node] = uneven || node == 0 ? BothWays{nics_of_node(node, Resource::nic_out),
                                                  nics_of_node(node, Resource::nic_in)}
                                       : nics.front();
    }
    const std::vector<double> common_Bps(cluster_.nodes, cluster_.common.node_Bps.value);
    by_parts(node_of_rank(), std::move(nics), common_Bps, "NICs of node", false, bound);
  }

  // Traffic between networks passes through the links of their nodes to the common network.
  void by_networks(PlanBound& bound) const {
    if (!cluster_.networks_differ()) return;
    std::vector<std::string> networks;
    std::vector<int> network_of_rank(plan_.ranks);
    Capacities accesses;
    for (int gpu = 0; gpu < plan_.ranks; ++gpu) {
      const std::string& network = cluster_.pools[cluster_.pool_of(gpu)].network;
      const auto found = std::ranges::find(networks, network);
      network_of_rank[gpu] = static_cast<int>(found - networks.begin());
      if (found == networks.end()) {
        networks.push_back(network);
        accesses.emplace_back();
      }
      if (cluster_.slot_of(gpu) != 0) continue;
      accesses[network_of_rank[gpu]].out += cluster_.common.node_Bps.value;
      accesses[network_of_rank[gpu]].in += cluster_.common.node_Bps.value;
    }
    const int parts = static_cast<int>(networks.size());
    compare(bytes_.across(network_of_rank, parts, Within::machine), accesses,
            "common accesses of network", bound);
  }

  void by_cut(const FabricCut& cut, PlanBound& bound) const {
    if (cut.out_Bps.size() < 2) return;
    std::vector<int> part_of_rank(plan_.ranks);
    Capacities capacities(cut.out_Bps.size());
    std::vector<double> common_Bps(cut.out_Bps.size(), 0);
    for (int gpu = 0; gpu < plan_.ranks; ++gpu) {
      part_of_rank[gpu] = cut.part_of_node[cluster_.place_of(cluster_.node_of(gpu))];
      if (cluster_.slot_of(gpu) == 0) {
        common_Bps[part_of_rank[gpu]] += cluster_.common.node_Bps.value;
      }
    }
    for (std::size_t part = 0; part < capacities.size(); ++part) {
      capacities[part] = {cut.out_Bps[part], cut.in_Bps[part]};
    }
    by_parts(part_of_rank, std::move(capacities), common_Bps, cut.links, false, bound);
  }

  // Bounds by the load of single links: what tasks demand of their node and of the storage, and the
  // messages and all-to-alls between nodes whose paths all cross the link.
  void by_links(PlanBound& bound) const {
    std::vector<double> load(links_.count(), 0);
    add_demands(load);
    std::vector<LinkId> common;
    bytes_.for_each_message([&](RankId from, RankId to, double bytes) {
      common.clear();
      append_common(from, to, common);
      for (const LinkId link : common) load[link] += bytes;
    });
    for (const auto& [nodes, bytes] : bytes_.exchanged_between_nodes(kMostPairs)) {
      for (const LinkId link : links_between(nodes.first, nodes.second)) load[link] += bytes;
    }
    for (LinkId link = 0; link < links_.count(); ++link) {
      if (load[link] <= 0 || load[link] / links_.capacity(link) <= bound.link_s) continue;
      bound.link_s = load[link] / links_.capacity(link);
      bound.link = links_.name(link);
    }
  }

  void add_demands(std::vector<double>& load) const {
    std::vector<LinkId> used;
    for (const RankClass& owner : plan_.classes) {
      std::map<Resource, double> amounts;  // of one rank of the class, on a node that is not slow
      for (const Task& task : owner.tasks) {
        for (const Flow& flow : task.flows) {
          for (const Demand& demand : flow.demands) {
            amounts[demand.resource] += flow.amount * demand.weight;
          }
        }
      }
      for (const auto& [resource, amount] : amounts) {
        for (const RankId rank : owner.members) {
          used.clear();
          links_.append_resource(rank, resource, used);
          for (const LinkId link : used) load[link] += amount;
        }
      }
    }
  }

  // Appends the links that all paths between two GPUs cross, without those of the fabric if there
  // are many paths.
  void append_common(int from, int to, std::vector<LinkId>& common) const {
    links_.append_route(from, to, common);
    const int ways = links_.paths(from, to);
    if (ways > kMostWays) {
      std::erase_if(common, [&](LinkId link) { return links_.fabric_link(link) >= 0; });
      return;
    }
    std::vector<LinkId> other;
    for (int way = 1; way < ways; ++way) {
      other.clear();
      links_.append_route(from, to, other, way);
      std::erase_if(common,
                    [&](LinkId link) { return std::ranges::find(other, link) == other.end(); });
    }
  }

  // Returns the fabric links that all paths from any NIC of one node to any of another cross.
  std::vector<LinkId> links_between(int node, int other) const {
    const int gpus = cluster_.node.gpus;
    std::vector<LinkId> common;
    std::vector<LinkId> ways;
    for (int i = 0; i < gpus * gpus; ++i) {
      if (i > 0 && common.empty()) break;
      std::vector<LinkId>& found = i == 0 ? common : ways;
      found.clear();
      append_common(cluster_.rank_on(node, i / gpus), cluster_.rank_on(other, i % gpus), found);
      std::erase_if(common, [&](LinkId link) {
        return links_.fabric_link(link) < 0 || std::ranges::find(found, link) == found.end();
      });
    }
    return common;
  }

  std::vector<int> node_of_rank() const {
    std::vector<int> nodes(plan_.ranks);
    for (RankId rank = 0; rank < plan_.ranks; ++rank) nodes[rank] = cluster_.node_of(rank);
    return nodes;
  }

  const Plan& plan_;
  const Cluster& cluster_;
  PlanBytes bytes_;
  LinkTable links_;
};

// Seconds of a rank's kernels on its busiest stream: those of one stream run one after another,
// those of two streams may run at the same time.
double kernels_s(const RankClass& owner, std::span<const double> slowdowns,
                 const KernelPace& pace) {
  std::map<std::int32_t, double> seconds;  // by stream
  double busiest_s = 0;
  for (TaskIndex t = 0; t < std::ssize(owner.tasks); ++t) {
    const Task& task = owner.tasks[t];
    if (task.kind != TaskKind::compute) continue;
    double& of_stream = seconds[task.stream];
    of_stream += plain_seconds(task, slowdowns[pace.place(t, task.iteration)]);
    busiest_s = std::max(busiest_s, of_stream);
  }
  return busiest_s;
}

// Takes the slowest rank of each class. With jitter it takes the first rank instead, because
// drawing jitter for all ranks takes long.
double busiest_kernels_s(const Plan& plan, const Cluster& cluster) {
  KernelPace pace(plan, cluster);
  double busiest_s = 0;
  for (const RankClass& owner : plan.classes) {
    const auto slowest = cluster.jitter.active()
                             ? owner.members.begin()
                             : std::ranges::max_element(owner.members, {}, [&](RankId rank) {
                                 return cluster.slowdown_of(rank);
                               });
    if (slowest == owner.members.end()) continue;
    busiest_s = std::max(busiest_s, kernels_s(owner, pace.slowdowns(*slowest), pace));
  }
  return busiest_s;
}

}  // namespace

PlanBound plan_bound(const Plan& plan, const Cluster& cluster, CountedTransfers counted) {
  PlanBound bound;
  if (has_bursts(cluster.fabric)) {  // a step may meet no burst, so bursts do not raise the bound
    Cluster quiet = cluster;
    quiet.fabric = between_bursts(quiet.fabric);
    LinkBound(plan, quiet, counted).find(bound);
  } else {
    LinkBound(plan, cluster, counted).find(bound);
  }
  bound.compute_s = busiest_kernels_s(plan, cluster);
  return bound;
}

void check_bound(const Plan& plan, const Cluster& cluster, const Timeline& timeline) {
  // If only a sample of the ranks was simulated, the simulated time may be too short or too long.
  const double rounding = timeline.sampled_of > 0 ? 0.3 : 1e-6;
  const PlanBound bound = plan_bound(plan, cluster, CountedTransfers::as_flows);
  CHECK(timeline.makespan_s >= bound.seconds() * (1 - rounding),
        "simulated in {} s, but kernels take {} s and the bytes of {} take {} s",
        timeline.makespan_s, bound.compute_s, bound.link.empty() ? "no link" : bound.link,
        bound.link_s);
}

}  // namespace windtunnel
