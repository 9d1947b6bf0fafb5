// The network between nodes, as a value: its topology, how traffic is routed, and what is broken.
// models/machine/links/links.hpp derives routes and capacities from it.
//
// Topologies: rail-optimised and plain fat trees, three-level Clos (Leiserson 1985; Al-Fares et al.
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
  // NIC i of every node in a pod is attached to rail i; rails are connected above the pod
  rail_fat_tree,
  fat_tree,   // all NICs of a pod share one leaf level; pods are connected above it
  rail_only,  // as rail_fat_tree, but nothing joins the rails: bytes for another rail change to
              // it inside the node, over NVLink
  clos,       // leaves of nodes_per_leaf nodes below pods below a core: three levels
  torus,      // nodes on a grid with wrap-around, `dimensions`
  // groups of routers; all-to-all within a group, and a bundle of cables per pair of groups
  dragonfly,
  sites,  // islands, each with its own NICs and fat tree, joined by a WAN or Ethernet
  graph,  // an edge list
};

// How a path is chosen among several.
enum class Routing : std::uint8_t {
  spray,              // packets over all equal paths, ideally balanced
  adaptive,           // of a dragonfly: minimal ways and detours, each of them in the share that
                      // loads the busiest link least (path_choice.hpp)
  ecmp,               // every connection on one path by hash; hashes collide
  split_single_path,  // every connection in `parts` equal parts, with paths assigned in turn
  planned,            // every connection on the path least loaded so far (C4P, arXiv 2406.04594)
};
// Whether a bundle of parallel links is treated as one link of their total bandwidth; otherwise
// each is modelled separately.
constexpr bool joins_bundles(Routing routing) {
  return routing == Routing::spray || routing == Routing::adaptive;
}

// The transport below collectives between nodes; it selects the default law of latency and
// efficiency (models/network/collectives/collective_law.hpp). `ici`: the links of TPUs, which run
// XLA's collectives instead of NCCL's.
enum class Transport : std::uint8_t { infiniband, roce, slingshot, efa, tcpx, tcpxo, tcp, ici };

// Measured bus bandwidth (nccl-tests' busbw, bytes per second) of one group over all GPUs of the
// job; 0: not measured. It limits what the NICs of a node deliver to a collective of that kind,
// with congestion, routing and NCCL's transport included. For a group on fewer nodes the limit is
// weakened in proportion, because measured bandwidths fall with the number of nodes (306, 160, 95
// and 27 GB/s over 2, 4, 8 and 32 nodes in the sweep of Rapid-LLM, github.com/gkarfakis19/Rapid-LLM
// 317a2cb).
struct MeasuredBus {
  double all_reduce_Bps = 0;
  double all_gather_Bps = 0;
  double reduce_scatter_Bps = 0;
  Origin origin = Origin::measured;
  bool operator==(const MeasuredBus&) const = default;
};

// An island of Topology::sites. Each takes the next `nodes` nodes in order, with their NICs.
struct SiteSpec {
  std::string name;
  int nodes = 1;
  double nic_Bps = 0;  // per NIC and direction; 0: as in the node type
  Transport transport = Transport::infiniband;
  bool operator==(const SiteSpec&) const = default;
};

// A bidirectional cable of Topology::graph, with this bandwidth in each direction. Ends are "node
// N" (all its NICs), "node N nic I", or any other name, which denotes a switch.
struct EdgeSpec {
  std::string a;
  std::string b;
  double bandwidth_Bps = 0;
  bool operator==(const EdgeSpec&) const = default;
};

// A faulty link, by its name in LinkTable. A link with factor 0 has failed, and routes avoid it if
// there is another path.
struct LinkFault {
  std::string link;   // "pod-up 3 rail 2"
  double factor = 0;  // share of the bandwidth that is left
  bool operator==(const LinkFault&) const = default;
};

// Load from other jobs on links: `load` is the mean share of bandwidth used on the link of this
// name, or on all links whose names begin with these words ("pod-up", "global 3"). It is constant
// or comes in bursts, independently on each link: load / duty during a burst, nothing between.
// Bursts and gaps are exponential, with means burst_s and burst_s * (1 - duty) / duty (Gilbert
// 1960, in continuous time). docs/physics/network.md, "Traffic of others".
struct BackgroundLoad {
  std::string links;
  double load = 0;
  double duty = 1;     // share of time in bursts
  double burst_s = 0;  // mean length of a burst; 0: constant load
  bool in_bursts() const { return burst_s > 0 && duty < 1; }
  double burst_load() const { return in_bursts() ? load / duty : load; }
  bool operator==(const BackgroundLoad&) const = default;
};

// NICs differ in the bandwidth that a job gets: each has a factor that is drawn once from a
// log-normal around 1 (cut at 1), or with probability `slow_share` from another around
// `slow_factor`. Counter-based: NIC i of a seed always has the same factor. Over all pairs of 17
// H100 nodes slow NICs were those shared with other jobs (0.59 of the bandwidth, 2.1 % of NICs),
// not the same ones for every job: validate/accuracy/pairs/pair_variation.hpp.
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
  int nodes_per_pod = 0;  // 0: one pod holds all
  // NIC bandwidth below a pod's uplinks / bandwidth of the uplinks
  double pod_oversubscription = 1;
  int nodes_per_leaf = 0;            // of a clos
  double leaf_oversubscription = 1;  // NIC bandwidth of a leaf / bandwidth of its uplinks
  Parameter hop_latency_s;           // one switch traversal with its cables
  MeasuredBus measured;

  Routing routing = Routing::spray;
  // Parallel links in an uplink bundle (leaf or pod), if modelled separately; 0: the number of NICs
  // below it, divided by the oversubscription.
  int uplinks = 0;
  int parts = 2;                   // of a connection under split_single_path
  std::uint64_t routing_seed = 1;  // under ecmp

  std::vector<int> dimensions;  // torus: nodes = their product
  Parameter link_Bps;           // torus: per direction of a cable; value 0: one NIC's
  // torus: bandwidth by dimension instead of link_Bps: for example pods of one torus each, joined
  // by Ethernet.
  std::vector<double> dimension_Bps;
  int nodes_per_router = 0;  // of a dragonfly
  int routers_per_group = 0;
  Parameter local_Bps;   // dragonfly: between two routers of a group
  Parameter global_Bps;  // dragonfly: between two groups, whole bundle
  std::vector<SiteSpec> sites;
  Parameter
      wan_Bps;  // a site's access to the WAN, or a torus node's to other slices; per direction
  Parameter wan_latency_s;  // between two sites; torus: of a round between slices
  std::vector<EdgeSpec> edges;

  std::vector<LinkFault> faults;
  std::vector<BackgroundLoad> background;
  std::uint64_t background_seed = 1;  // of bursts
  NicVariation variation;
  bool operator==(const FabricSpec&) const = default;
};

}  // namespace windtunnel
