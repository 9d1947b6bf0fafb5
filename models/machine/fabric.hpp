// The network between nodes, as a value: its form, who decides the way of a byte, what is broken.
// models/machine/links/links.hpp answers routes and capacities from it.
//
// Forms: rail-optimised and plain fat trees, three-level Clos (Leiserson 1985; Al-Fares et al.
// 2008), rail-only (Wang et al., arXiv 2307.12169), torus with dimension-order routing, dragonfly
// (Kim et al. 2008), sites joined by a wide-area network, and any graph as an edge list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/origin.hpp"
#include "models/base/special_members.hpp"

namespace windtunnel {

enum class Topology : std::uint8_t {
  rail_fat_tree,  // NIC i of every node of a pod hangs on rail i; rails join above the pod
  fat_tree,       // all NICs of a pod share one leaf level; pods join above it
  rail_only,      // as rail_fat_tree, but nothing joins the rails: bytes for another rail change to
                  // it inside the node, over NVLink
  clos,           // leaves of nodes_per_leaf nodes below pods below a core: three levels
  torus,          // nodes on a grid with wrap-around, `dimensions`
  dragonfly,      // groups of routers, all joined within a group, every pair of groups by a bundle
  sites,          // islands, each with NICs and a fat tree of its own, joined by a WAN or Ethernet
  graph,          // an edge list
};

// What picks among the ways.
enum class Routing : std::uint8_t {
  spray,              // packets over all equal ways, ideally even
  adaptive,           // of a dragonfly: minimal ways and detours, each of them in the share that
                      // loads the busiest link least (path_choice.hpp)
  ecmp,               // every connection on one way, by hash; hashes collide
  split_single_path,  // every connection in `parts` equal parts, ways assigned in turn
  planned,            // every connection on the way least loaded so far (C4P, arXiv 2406.04594)
};
// Whether a bundle of parallel links is one link of their summed bandwidth; otherwise each stands
// for itself.
constexpr bool joins_bundles(Routing routing) {
  return routing == Routing::spray || routing == Routing::adaptive;
}

// The software and wire beneath a collective between nodes: what a machine's law of latency and
// efficiency defaults to (models/network/collectives/collective_law.hpp).
// `ici`: the links of TPUs, over which XLA's collectives run and not NCCL's.
enum class Transport : std::uint8_t { infiniband, roce, slingshot, efa, tcpx, tcpxo, tcp, ici };

// Bus bandwidth (nccl-tests' busbw, bytes per second) of one group over all GPUs of the job, where
// somebody measured it; 0: not measured. It bounds what the NICs of a node deliver to a collective
// of that kind: congestion, routing and the transport beneath NCCL are in it. A group over fewer
// nodes is bound in proportion less: where the bound is felt, measured bandwidths fall with the
// number of nodes (306, 160, 95 and 27 GB/s over 2, 4, 8 and 32 nodes in the sweep that Rapid-LLM
// keeps, github.com/gkarfakis19/Rapid-LLM 317a2cb).
struct MeasuredBus {
  double all_reduce_Bps = 0;
  double all_gather_Bps = 0;
  double reduce_scatter_Bps = 0;
  Origin origin = Origin::measured;
  bool operator==(const MeasuredBus&) const = default;
};

// An island of `sites`: the next `nodes` nodes, and what their NICs are.
struct SiteSpec {
  std::string name;
  int nodes = 1;
  double nic_Bps = 0;  // per NIC and direction; 0: as the node type says
  Transport transport = Transport::infiniband;
  bool operator==(const SiteSpec&) const = default;
};

// An undirected cable of `graph`: each direction has the bandwidth. Ends are "node N" (all its
// NICs), "node N nic I" or any other name, which is a switch.
struct EdgeSpec {
  std::string a;
  std::string b;
  double bandwidth_Bps = 0;
  bool operator==(const EdgeSpec&) const = default;
};

// A link, by the name that LinkTable::name gives, runs at `factor` of its bandwidth; 0: it failed,
// and routes avoid it where there is another way.
struct LinkFault {
  std::string link;   // "pod-up 3 rail 2"
  double factor = 0;  // of the bandwidth that is left
  bool operator==(const LinkFault&) const = default;
};

// What others take of links: `load` of the bandwidth, on average, of the link of this name, or of
// all whose names begin with these words ("pod-up", "global 3"). All the time, or in bursts, each
// link in its own: load / duty during one, nothing between two; both last exponential times, of
// mean burst_s and burst_s * (1 - duty) / duty (Gilbert 1960, in time that is not in steps).
// docs/physics/network.md, "Other people's traffic".
struct BackgroundLoad {
  std::string links;
  double load = 0;
  double duty = 1;     // share of the time in bursts
  double burst_s = 0;  // mean length of one; 0: all the time
  bool in_bursts() const { return burst_s > 0 && duty < 1; }
  double burst_load() const { return in_bursts() ? load / duty : load; }
  bool operator==(const BackgroundLoad&) const = default;
};

// NICs do not give every job the same: each runs at a factor of its bandwidth, drawn once per
// NIC from a log-normal around 1 (never above 1), and with probability `slow_share` from a second
// one around `slow_factor`. Counter-based: NIC i of a seed always has the same factor. Over all
// pairs of 17 H100 nodes slow NICs were those shared with other jobs (0.59 of the bandwidth, 2.1 %
// of NICs), and not the same ones for every job: validate/accuracy/pairs/pair_variation.hpp.
struct NicVariation {
  double sigma = 0;
  double slow_share = 0;
  double slow_factor = 1;
  double slow_sigma = 0;
  std::uint64_t seed = 1;
  bool operator==(const NicVariation&) const = default;
};

struct FabricSpec {
  DECLARE_SPECIAL_MEMBERS(FabricSpec);
  Topology topology = Topology::rail_fat_tree;
  Transport transport = Transport::infiniband;
  int nodes_per_pod = 0;             // 0: one pod holds all
  double pod_oversubscription = 1;   // bandwidth below a pod's uplinks / bandwidth of the uplinks
  int nodes_per_leaf = 0;            // clos
  double leaf_oversubscription = 1;  // NIC bandwidth of a leaf / bandwidth of its uplinks
  Parameter hop_latency_s;           // one switch traversal with its cables
  MeasuredBus measured;

  Routing routing = Routing::spray;
  // Parallel links of an uplink (leaf or pod) bundle, where they stand for themselves; 0: as many
  // as NICs below it, divided by the oversubscription.
  int uplinks = 0;
  int parts = 2;                   // split_single_path
  std::uint64_t routing_seed = 1;  // ecmp

  std::vector<int> dimensions;  // torus: nodes = their product
  Parameter link_Bps;           // torus: per direction of a cable; value 0: one NIC's
  // torus: by dimension, in place of link_Bps: pods of one torus each, say, joined by Ethernet.
  std::vector<double> dimension_Bps;
  int nodes_per_router = 0;  // dragonfly
  int routers_per_group = 0;
  Parameter local_Bps;   // dragonfly: between two routers of a group
  Parameter global_Bps;  // dragonfly: between two groups, the whole bundle
  std::vector<SiteSpec> sites;
  Parameter wan_Bps;        // of a site's access to the others, per direction
  Parameter wan_latency_s;  // between two sites
  std::vector<EdgeSpec> edges;

  std::vector<LinkFault> faults;
  std::vector<BackgroundLoad> background;
  std::uint64_t background_seed = 1;  // of bursts
  NicVariation variation;
  bool operator==(const FabricSpec&) const = default;
};

}  // namespace windtunnel
