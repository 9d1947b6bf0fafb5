// The links of a fabric between the NICs of the cluster, and the ways over them. One
// implementation per form (this folder), answered by arithmetic: O(1) memory, or O(levels), for
// any size; only an edge list is stored.
//
// LinkTable (models/machine/links/links.hpp) puts NICs and the inside of nodes around it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/machine/cluster.hpp"

namespace windtunnel {

// The machine's nodes in parts, and what joins each part with all others: a byte that leaves a part
// crosses one of those links, whatever its way.
struct FabricCut {
  FabricCut(std::string links_of_part, std::vector<int> parts_of_nodes, int parts)
      : links(std::move(links_of_part)),
        part_of_node(std::move(parts_of_nodes)),
        out_Bps(parts, 0),
        in_Bps(parts, 0) {}

  void add_link(int from_part, int to_part, double bandwidth_Bps) {
    if (from_part == to_part) return;
    out_Bps[from_part] += bandwidth_Bps;
    in_Bps[to_part] += bandwidth_Bps;
  }

  std::string links;  // "uplinks of pod": a part's number follows
  std::vector<int> part_of_node;
  std::vector<double> out_Bps;  // [part]
  std::vector<double> in_Bps;
};

class FabricLinks {
 public:
  virtual ~FabricLinks() = default;

  virtual int count() const = 0;                 // directed links, numbered from 0
  virtual double capacity(int link) const = 0;   // bytes/s
  virtual std::string name(int link) const = 0;  // "pod-up 3 rail 2"
  // Equal ways from a NIC to one of another node; 1 where the fabric leaves no choice. Of a link
  // that failed (FabricSpec::faults, factor 0) the ways are not counted.
  virtual int paths(int src_nic, int dst_nic) const = 0;
  // Appends the links of way `path`, in order, without the NICs.
  virtual void append_route(int src_nic, int dst_nic, int path, std::vector<int>& route) const = 0;
  // Switches passed.
  virtual int switch_hops(int src_nic, int dst_nic) const = 0;
  // Latency in addition to the switches': that of a cable between sites.
  virtual double extra_latency_s(int /*src_nic*/, int /*dst_nic*/) const { return 0; }
  // Cuts that limit what the fabric can carry; none where nothing in it is narrow. They follow from
  // the form of the fabric, not from its routes.
  virtual std::vector<FabricCut> cuts() const = 0;
};

// Throws Error when the spec is not a fabric of this cluster: dimensions that do not multiply to
// the nodes, an edge list that leaves nodes apart (names two of them), a fault of a link that is
// none (names the nearest), a load likewise. Trees say when a way is asked for that failed links
// leave no way. Faults and loads of NICs are not of the fabric: LinkTable knows them.
std::unique_ptr<const FabricLinks> make_fabric_links(const Cluster& cluster);

// Whether a link's name is that of a NIC, or of all of them: "nic-out 3", "nic-in".
bool names_nic(std::string_view link);

}  // namespace windtunnel
