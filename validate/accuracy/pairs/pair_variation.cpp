#include "validate/accuracy/pairs/pair_variation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "models/machine/links/links.hpp"
#include "models/machine/links/path_choice.hpp"

namespace windtunnel {
namespace {

// Bandwidth does not fall up to this size.
constexpr double kFlatBytes = 512.0 * (1 << 20);

// Two nodes on one leaf, or on different leaves.
Cluster pair_cluster(const PairVariation& variation, bool across) {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.node.gpus = variation.node_gpus;
  cluster.node.nics = variation.node_gpus;
  cluster.node.nvlink_Bps.value = 1e15;  // never the bottleneck
  cluster.node.nic_Bps.value = 1;
  cluster.fabric.topology = Topology::fat_tree;
  cluster.fabric.nodes_per_pod = across ? 1 : 2;
  if (across && variation.uplinks > 0) {
    cluster.fabric.routing = Routing::ecmp;
    cluster.fabric.uplinks = variation.uplinks;
    cluster.fabric.pod_oversubscription =
        variation.node_gpus / (variation.uplinks * variation.uplink_nics);
  }
  return cluster;
}

struct Transfer {
  int source = 0;
  int destination = 0;
  double bytes = 0;
};

// Returns the transfers between the two nodes. An all-to-all has one in each direction for every
// pair of GPUs; in a send-receive, the last GPU of each node sends to the first of the other.
std::vector<Transfer> transfers(CollectiveKind kind, int gpus_per_node, int node_gpus) {
  const int g = gpus_per_node;
  const int second = node_gpus;  // first GPU of the second node
  if (kind == CollectiveKind::send_recv) {
    return {{g - 1, second, 1}, {second + g - 1, 0, 1}};
  }
  std::vector<Transfer> all;
  for (int i = 0; i < g; ++i) {
    for (int j = 0; j < g; ++j) {
      all.push_back({i, second + j, 1.0 / g});
      all.push_back({second + j, i, 1.0 / g});
    }
  }
  return all;
}

// Returns the time of the busiest link, relative to a NIC's own part.
double routed_time(const std::vector<Transfer>& transfers, const Cluster& cluster) {
  const LinkTable links(cluster);
  PathChooser chooser(links);
  std::vector<double> load_bytes(links.count(), 0);
  std::vector<LinkId> route;
  for (const Transfer& transfer : transfers) {
    const auto shares = chooser.choose(transfer.source, transfer.destination, transfer.bytes);
    for (const PathShare& share : shares) {
      route.clear();
      links.append_route(transfer.source, transfer.destination, route, share.path);
      for (const LinkId link : route) load_bytes[link] += share.share * transfer.bytes;
    }
  }
  double longest = 0;
  for (LinkId link = 0; link < links.count(); ++link) {
    if (load_bytes[link] > 0) longest = std::max(longest, load_bytes[link] / links.capacity(link));
  }
  return longest;
}

}  // namespace

const ClearLevel& PairVariation::level(CollectiveKind kind, int gpus_per_node) const {
  for (const ClearLevel& one : levels) {
    if (one.kind == kind && one.gpus_per_node == gpus_per_node) return one;
  }
  throw Error(fmt::format("there is no {} of {} GPUs per node at a size used in the fit",
                          to_string(kind), gpus_per_node));
}

double late_bytes(double bytes) {
  return std::max(0.0, bytes - kFlatBytes);
}

std::vector<double> uplink_excess(const PairVariation& variation, CollectiveKind kind,
                                  int gpus_per_node, int draws) {
  if (variation.uplinks == 0) return std::vector<double>(draws, 0);
  const std::vector<Transfer> all = transfers(kind, gpus_per_node, variation.node_gpus);
  Cluster cluster = pair_cluster(variation, true);
  std::vector<double> excess;
  for (int draw = 0; draw < draws; ++draw) {
    cluster.fabric.routing_seed = draw + 1;
    excess.push_back(std::max(1.0, routed_time(all, cluster)) - 1);
  }
  return excess;
}

bool loads_several_nics(CollectiveKind kind, int gpus_per_node) {
  return kind != CollectiveKind::send_recv && gpus_per_node > 1;
}

std::vector<double> nic_excess(const PairVariation& variation, int gpus_per_node, int draws) {
  if (gpus_per_node >= variation.node_gpus) return std::vector<double>(draws, 0);
  Cluster cluster = pair_cluster(variation, false);
  cluster.fabric.variation = variation.shared_nics;
  std::vector<double> excess;
  for (int draw = 0; draw < draws; ++draw) {
    cluster.fabric.variation.seed = draw + 1;
    double slowest = 1;
    for (int i = 0; i < gpus_per_node; ++i) {
      slowest =
          std::min({slowest, nic_factor(cluster, i), nic_factor(cluster, variation.node_gpus + i)});
    }
    excess.push_back(1 / slowest - 1);
  }
  return excess;
}

}  // namespace windtunnel
