#include "models/network/collectives/collective.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/machine/pcie_rate.hpp"
#include "models/network/collectives/collective_edges.hpp"
#include "models/network/collectives/collective_law.hpp"
#include "models/network/groups/collective_steps.hpp"

namespace windtunnel {
namespace {

double port_bytes(Pattern pattern, int n, double bytes) {
  return port_share(pattern, n) * bytes;
}

// Returns the largest number of members that a node may have with this shape.
int most_members(const GroupShape& shape, const NodeSpec& node) {
  return std::min(node.gpus, shape.members - (shape.nodes - 1) * shape.members_per_node);
}

// Whether traffic that leaves a node crosses its GPUs' PCIe links, by the rule of LinkTable.
bool nics_behind_pcie(const NodeSpec& node, const CollectiveSteps& steps) {
  return node.gpu_path == GpuPath::pcie ||
         (steps.copied_bytes > 0 &&
          node.pcie_Bps.value * node.gpus >= node.nic_Bps.value * node.nics);
}

// Seconds of the busiest link inside a node and of the busiest one between nodes.
struct Transfer {
  double node_s = 0;
  double net_s = 0;
};

// How long the bytes inside a node take on the busiest port, and that port's bandwidth.
struct PortTime {
  double seconds = 0;
  const Parameter* bandwidth = nullptr;
};

PortTime port_time(const CollectiveSteps& steps, const GroupShape& shape, const NodeSpec& node) {
  if (node.package_gpus == 1) {
    const double bytes = port_bytes(steps.node, shape.members_per_node, steps.node_bytes);
    return {bytes / node.nvlink_Bps.value, &node.nvlink_Bps};
  }
  const PortShares& shares = shape.ports[static_cast<std::size_t>(steps.node)];
  const double near_s = shares.package * steps.node_bytes / node.package_Bps.value;
  const double far_s = shares.node * steps.node_bytes / node.nvlink_Bps.value;
  return near_s > far_s ? PortTime{near_s, &node.package_Bps} : PortTime{far_s, &node.nvlink_Bps};
}

// Time of the busiest link inside a node: a GPU's port to its package or to the rest of the node,
// its PCIe link, which NICs and copies to the host share, or the host itself.
double node_seconds(const CollectiveSteps& steps, double nic_bytes, const GroupShape& shape,
                    const LawTerms& law, const NodeSpec& node, const Calibration& calibration) {
  double seconds = 0;
  double on_pcie = 0;
  if (node.gpu_path == GpuPath::nvlink) {
    if (steps.node_bytes > 0) seconds = port_time(steps, shape, node).seconds / law.node_efficiency;
  } else {
    on_pcie =
        port_bytes(steps.node, shape.members_per_node, steps.node_bytes) / law.node_efficiency;
    const int members = most_members(shape, node);
    const Pattern fullest = inside_node(steps.node, shape.nodes - 1);
    const double all = total_share(fullest, members) * steps.node_bytes;
    if (all > 0 && node.host_bridge_Bps.value > 0) {
      seconds =
          all * shape.concurrent_per_node / (node.host_bridge_Bps.value * law.node_efficiency);
    }
  }
  if (steps.copied_bytes > 0) {
    on_pcie += steps.copied_bytes / calibration.pcie_efficiency.value;
    seconds = std::max(seconds,
                       steps.host_bytes * shape.concurrent_per_node /
                           (node.host_memory_Bps.value * calibration.host_memory_efficiency.value));
  }
  if (nics_behind_pcie(node, steps)) on_pcie += nic_bytes / law.wire_efficiency;
  return on_pcie > 0 ? std::max(seconds, on_pcie / node.pcie_both_ways_Bps()) : seconds;
}

// Time on the links between NICs, which this group and concurrent ones share.
double fabric_seconds(const CollectiveSteps& steps, const GroupShape& shape, const LawTerms& law) {
  const FabricLoad& load = shape.load;
  double groups = shape.concurrent_per_node;
  if (load.by_rail) groups = std::max<double>(shape.concurrent_per_nic, groups * load.even_share);
  if (steps.one_lane) groups /= load.by_rail ? shape.members_per_nic : shape.members_per_node;
  double per_byte_s = 0;
  switch (steps.across) {
    case Pattern::none:
      break;
    case Pattern::ring:
    case Pattern::chain:
    case Pattern::back_chain:
      per_byte_s = load.ring;
      break;
    case Pattern::double_tree:
      per_byte_s = load.tree;
      break;
    case Pattern::pairs:
      per_byte_s = load.pairs * shape.nodes;
      break;
    case Pattern::to_first:
      per_byte_s = load.to_first;
      break;
    case Pattern::doubling:
      per_byte_s = load.doubling;
      break;
    case Pattern::halving:
      per_byte_s = load.halving;
      break;
    case Pattern::shifts:
      per_byte_s = load.shifts;
      break;
    case Pattern::torus:
      per_byte_s = load.torus;
      break;
  }
  return per_byte_s * groups * steps.across_bytes / law.wire_efficiency;
}

// In a pairwise exchange only pairs in different networks use the shared network, and pairs in one
// network exchange at the same time.
double nic_factor_of(const CollectiveSteps& steps, const GroupShape& shape) {
  const double crossing = shape.crossing_pairs;
  if (steps.across != Pattern::pairs || crossing == 0) return shape.nic_factor;
  return 1 / std::max(crossing / shape.nic_factor, (1 - crossing) / shape.own_nic_factor);
}

Transfer transfer_of(const CollectiveSteps& steps, const GroupShape& shape, const LawTerms& law,
                     const Cluster& cluster, const Calibration& calibration) {
  const NodeSpec& node = cluster.node_of_pool(shape.pool);
  Transfer transfer;
  double nic_bytes = 0;
  if (steps.across_bytes > 0) {
    nic_bytes = port_bytes(steps.across, shape.nodes, steps.across_bytes);
    const double on_nic = (steps.one_lane ? 1 : shape.members_per_nic) * shape.concurrent_per_nic;
    const double factor = nic_factor_of(steps, shape);
    transfer.net_s =
        std::max(nic_bytes * on_nic / (node.nic_Bps.value * law.net_efficiency * factor),
                 fabric_seconds(steps, shape, law));
  }
  transfer.node_s = node_seconds(steps, nic_bytes, shape, law, node, calibration);
  return transfer;
}

// Number of networks that are joined: sites, or at most one for each pool.
std::size_t islands(const Cluster& cluster) {
  return std::max(cluster.fabric.sites.size(), cluster.pools.size());
}

double hops_s(const CollectiveSteps& steps, const GroupShape& shape, const Cluster& cluster) {
  const int hops = steps.across == Pattern::torus ? shape.torus_hops : shape.fabric_hops;
  const double way_s = hops * cluster.fabric.hop_latency_s.value;
  if (shape.extra_latency_s == 0) return steps.across_steps * way_s;
  // In a ring a byte passes as many cables between sites as there are sites; up and down a tree at
  // most twice as many. In other patterns every step may go to another site.
  const auto sites = static_cast<double>(islands(cluster));
  double crossings = steps.across_steps;
  if (steps.across == Pattern::double_tree) {
    crossings = std::min(crossings, 2 * sites);
  } else if (steps.across == Pattern::ring || steps.across == Pattern::chain ||
             steps.across == Pattern::back_chain) {
    crossings = std::ceil(crossings * std::min(1.0, sites / shape.nodes));
  }
  return steps.across_steps * way_s + crossings * shape.extra_latency_s;
}

double latency_of(const CollectiveSteps& steps, const GroupShape& shape, const LawTerms& law,
                  const Cluster& cluster) {
  return law.launch_s + steps.node_steps * law.node_step_s + steps.across_steps * law.net_step_s +
         hops_s(steps, shape, cluster);
}

// The law's terms. For a measured group node_efficiency becomes the fraction of port bandwidth that
// explains the measured time after the latency of the steps is subtracted.
LawTerms terms_of(const CollectiveLaw& group_law, CollectiveChoice running,
                  const CollectiveSteps& steps, double bytes) {
  LawTerms law = group_law.terms(running, bytes);
  if (law.measured_s <= 0) return law;
  const Transfer nominal =
      transfer_of(steps, group_law.shape(), law, group_law.cluster(), group_law.calibration());
  const double transfer_s = law.measured_s - law.launch_s;
  if (transfer_s > 0 && nominal.node_s > 0) law.node_efficiency = nominal.node_s / transfer_s;
  return law;
}

// If an algorithm's phases run one after the other, the flow form counts the time of the shorter
// phase as latency, because its flows all run at once and take as long as the busiest link.
CollectiveCost cost_of(const CollectiveSteps& steps, const GroupShape& shape, const LawTerms& law,
                       const Cluster& cluster, const Calibration& calibration) {
  const Transfer transfer = transfer_of(steps, shape, law, cluster, calibration);
  CollectiveCost cost;
  cost.transfer_s = std::max(transfer.node_s, transfer.net_s);
  cost.seconds = law_seconds(law, latency_of(steps, shape, law, cluster), cost.transfer_s);
  // Sequential phases add up, whatever the exponent that combines latency and bytes within a phase.
  if (!steps.pipelined) cost.seconds += std::min(transfer.node_s, transfer.net_s) * law.slowdown;
  return cost;
}

// `hops_share`: share of the time that hops take. Below a tenth their origin does not count.
Origin origin_of(const CollectiveSteps& steps, const GroupShape& shape, double hops_share,
                 const LawTerms& law, const Cluster& cluster, const Calibration& calibration) {
  const NodeSpec& node = cluster.node_of_pool(shape.pool);
  Origin origin = law.origin;
  if (law.measured_s > 0) return origin;  // bandwidths of the ports cancel out
  const auto rests_on = [&](Origin one) { origin = weakest(origin, one); };
  const auto rests_on_rate = [&](const Parameter& port, Origin reached) {
    rests_on(origin_of_rate(port.origin, reached));
  };
  if (shape.members > shape.nodes && steps.copied_bytes == 0) {
    const bool pcie = node.gpu_path == GpuPath::pcie;
    rests_on_rate(pcie ? both_ways_limit(node) : *port_time(steps, shape, node).bandwidth,
                  law.node_origin);
  }
  if (steps.copied_bytes > 0) {
    rests_on_rate(both_ways_limit(node), calibration.pcie_efficiency.origin);
    rests_on_rate(node.host_memory_Bps, calibration.host_memory_efficiency.origin);
  }
  if (shape.nodes > 1) {
    rests_on_rate(node.nic_Bps, law.net_origin);
    if (hops_share >= 0.1) rests_on(cluster.fabric.hop_latency_s.origin);
  }
  return origin;
}

// Candidates of `automatic`: ring, tree, hierarchical; between sites also exchanges at growing
// distances, of which only the last few use the long cables (in MPI and Gloo, not in NCCL); between
// TPUs those of a torus (in XLA, not in NCCL).
using Candidates = std::array<CollectiveAlgorithm, 5>;

Candidates candidates(CollectiveKind kind, const GroupShape& shape, const Cluster& cluster) {
  const CollectiveAlgorithm usual = usual_algorithm(kind);
  Candidates all;
  all.fill(usual);
  const bool scatters = kind == CollectiveKind::all_reduce ||
                        kind == CollectiveKind::reduce_scatter ||
                        kind == CollectiveKind::all_gather;
  if (!scatters || !shape.regular()) return all;
  if (kind == CollectiveKind::all_reduce) all[1] = CollectiveAlgorithm::tree;
  if (shape.nodes > 1 && shape.members_per_node > 1) all[2] = CollectiveAlgorithm::hierarchical;
  const auto add = [&](std::size_t at, CollectiveAlgorithm algorithm) {
    if (why_not(kind, algorithm, shape, cluster) == nullptr) all[at] = algorithm;
  };
  if (cluster.fabric.transport == Transport::ici) add(3, CollectiveAlgorithm::torus);
  if (cluster.fabric.topology != Topology::sites || shape.nodes == 1) return all;
  add(3, CollectiveAlgorithm::halving_doubling);
  if (kind == CollectiveKind::all_reduce) add(4, CollectiveAlgorithm::recursive_doubling);
  return all;
}

}  // namespace

CollectiveCost collective_cost(CollectiveKind kind, CollectiveChoice choice,
                               const GroupShape& shape, double bytes, const Cluster& cluster,
                               const Calibration& calibration) {
  return collective_cost(CollectiveLaw(kind, choice, shape, cluster, calibration), bytes);
}

CollectiveCost collective_cost(const CollectiveLaw& group_law, double bytes) {
  CHECK(bytes >= 0, "a collective of {} bytes", bytes);
  const CollectiveKind kind = group_law.kind();
  const GroupShape& shape = group_law.shape();
  const Cluster& cluster = group_law.cluster();
  const Calibration& calibration = group_law.calibration();
  CollectiveCost best;
  if (shape.members <= 1) return best;

  const CollectiveChoice choice = group_law.choice(bytes);
  Candidates algorithms = candidates(kind, shape, cluster);
  if (choice.algorithm != CollectiveAlgorithm::automatic) {
    const bool applies = why_not(kind, choice.algorithm, shape, cluster) == nullptr;
    algorithms.fill(applies ? choice.algorithm : usual_algorithm(kind));
  }
  const Protocol protocol =
      choice.protocol == Protocol::automatic ? Protocol::simple : choice.protocol;
  // Measured times are not compared with modelled ones.
  const bool measured = std::ranges::any_of(
      algorithms, [&](CollectiveAlgorithm each) { return group_law.is_measured(each); });
  best.seconds = std::numeric_limits<double>::infinity();
  CollectiveSteps best_steps;
  LawTerms best_law;
  for (size_t i = 0; i < algorithms.size(); ++i) {
    if (i > 0 && algorithms[i] == algorithms[0]) continue;
    if (measured && !group_law.is_measured(algorithms[i])) continue;
    const CollectiveSteps steps = steps_of(kind, algorithms[i], shape, bytes);
    const LawTerms law = terms_of(group_law, {algorithms[i], protocol}, steps, bytes);
    const CollectiveCost cost = cost_of(steps, shape, law, cluster, calibration);
    if (cost.seconds >= best.seconds) continue;
    best = cost;
    best.algorithm = algorithms[i];
    best.protocol = protocol;
    best_steps = steps;
    best_law = law;
  }
  const double hops_share = hops_s(best_steps, shape, cluster) / best.seconds;
  best.origin = origin_of(best_steps, shape, hops_share, best_law, cluster, calibration);
  return best;
}

CollectiveFlows collective_flows(CollectiveKind kind, CollectiveChoice choice,
                                 std::span<const std::int32_t> gpus, double bytes,
                                 const Cluster& cluster, const Calibration& calibration) {
  return collective_flows(kind, choice, group_shape(gpus, cluster), gpus, bytes, cluster,
                          calibration);
}

CollectiveFlows collective_flows(CollectiveKind kind, CollectiveChoice choice,
                                 const GroupShape& shape, std::span<const std::int32_t> gpus,
                                 double bytes, const Cluster& cluster,
                                 const Calibration& calibration) {
  CollectiveFlows flows;
  if (shape.members <= 1) return flows;
  const CollectiveLaw group_law(kind, choice, shape, cluster, calibration);
  const CollectiveCost cost = collective_cost(group_law, bytes);
  const CollectiveSteps steps = steps_of(kind, cost.algorithm, shape, bytes);
  const LawTerms law = terms_of(group_law, {cost.algorithm, cost.protocol}, steps, bytes);
  flows.algorithm = cost.algorithm;
  flows.latency_s = cost.seconds - cost.transfer_s;
  flows.independent = kind == CollectiveKind::all_to_all;
  if (kind == CollectiveKind::all_to_all && !shape.regular()) {
    flows.edges = pair_edges(bytes / shape.members, law, gpus, cluster);
  } else {
    flows.edges = collective_edges(steps, law, gpus, cluster);
  }
  flows.demands = collective_demands(steps, gpus, cluster, calibration);
  return flows;
}

namespace {

// The closed form and the flow form of an all-to-all with individual sizes.
struct SizedPairs {
  CollectiveCost cost;
  std::vector<CollectiveEdge> edges;
};

// The most that a member sends.
double most_sent(std::span<const double> bytes, std::size_t members) {
  CHECK(bytes.size() == members * members, "{} sizes for {} members", bytes.size(), members);
  double most = 0;
  for (size_t from = 0; from < members; ++from) {
    const std::span<const double> row = bytes.subspan(from * members, members);
    most = std::max(most, std::accumulate(row.begin(), row.end(), 0.0));
  }
  return most;
}

SizedPairs sized_pairs(std::span<const double> bytes, std::span<const std::int32_t> gpus,
                       const Cluster& cluster, const Calibration& calibration) {
  constexpr auto kKind = CollectiveKind::all_to_all;
  const CollectiveChoice choice(CollectiveAlgorithm::pairwise, Protocol::simple);
  const LinkTable links = LinkTable::keeping_reference(cluster);
  const GroupShape shape = group_shape(gpus, links);
  const double most = most_sent(bytes, gpus.size());
  SizedPairs pairs;
  const CollectiveLaw group_law(kKind, choice, shape, cluster, calibration);
  pairs.cost = collective_cost(group_law, most);
  if (shape.members <= 1) return pairs;
  const CollectiveSteps steps = steps_of(kKind, choice.algorithm, shape, most);
  const LawTerms law = terms_of(group_law, choice, steps, most);
  pairs.edges = matrix_edges(bytes, law, gpus, cluster);
  pairs.cost.transfer_s = busiest_link_s(pairs.edges, gpus, links);
  pairs.cost.seconds =
      law_seconds(law, latency_of(steps, shape, law, cluster), pairs.cost.transfer_s);
  return pairs;
}

}  // namespace

CollectiveCost all_to_all_v_cost(std::span<const double> bytes, std::span<const std::int32_t> gpus,
                                 const Cluster& cluster, const Calibration& calibration) {
  return sized_pairs(bytes, gpus, cluster, calibration).cost;
}

CollectiveFlows all_to_all_v_flows(std::span<const double> bytes,
                                   std::span<const std::int32_t> gpus, const Cluster& cluster,
                                   const Calibration& calibration) {
  SizedPairs pairs = sized_pairs(bytes, gpus, cluster, calibration);
  CollectiveFlows flows;
  flows.latency_s = pairs.cost.seconds - pairs.cost.transfer_s;
  flows.algorithm = pairs.cost.algorithm;
  flows.edges = std::move(pairs.edges);
  flows.independent = true;
  return flows;
}

std::vector<CollectiveEdge> all_to_all_v_edges(std::span<const double> bytes,
                                               CollectiveChoice choice, const GroupShape& shape,
                                               std::span<const std::int32_t> gpus,
                                               const Cluster& cluster,
                                               const Calibration& calibration) {
  if (shape.members <= 1) return {};
  const double most = most_sent(bytes, gpus.size());
  const CollectiveLaw group_law(CollectiveKind::all_to_all, choice, shape, cluster, calibration);
  const CollectiveCost cost = collective_cost(group_law, most);
  const CollectiveSteps steps = steps_of(CollectiveKind::all_to_all, cost.algorithm, shape, most);
  const LawTerms law = terms_of(group_law, {cost.algorithm, cost.protocol}, steps, most);
  return matrix_edges(bytes, law, gpus, cluster);
}

}  // namespace windtunnel
