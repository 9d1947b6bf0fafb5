// The links of a fabric between NICs, and the paths over them. This folder has one implementation
// per topology. Routes are computed by arithmetic, with O(1) or O(levels) memory for any size; only
// an edge list is stored.
//
// LinkTable (models/machine/links/links.hpp) adds NICs and links inside nodes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/machine/cluster.hpp"

namespace windtunnel {

// A partition of the machine's nodes, with the links that join each part to all others: every byte
// that leaves a part crosses one of them, on any path.
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

  std::string links;  // "uplinks of pod": the part's number follows
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
  // Number of equal paths from a NIC to one of another node; 1 if the fabric leaves no choice.
  // Paths over failed links (FabricSpec::faults, factor 0) are not counted.
  virtual int paths(int src_nic, int dst_nic) const = 0;
  // Appends the links of path `path`, in order, without the NICs.
  virtual void append_route(int src_nic, int dst_nic, int path, std::vector<int>& route) const = 0;
  // Switches passed.
  virtual int switch_hops(int src_nic, int dst_nic) const = 0;
  // A cable between sites adds latency to that of the switches.
  virtual double extra_latency_s(int /*src_nic*/, int /*dst_nic*/) const { return 0; }
  // Cuts that limit what the fabric can carry; empty if nothing is oversubscribed. They follow from
  // the topology, not from routes.
  virtual std::vector<FabricCut> cuts() const = 0;
};

// Throws Error when the spec does not describe a fabric of this cluster: dimensions whose product
// is not the number of nodes, an edge list that leaves nodes disconnected (two are named), a fault
// or load on an unknown link (the nearest is named). Trees throw only when a path is requested and
// failed links leave none. Faults and loads of NICs are handled by LinkTable.
std::unique_ptr<const FabricLinks> make_fabric_links(const Cluster& cluster);

// Whether a link's name denotes a NIC, or all NICs: "nic-out 3", "nic-in".
bool names_nic(std::string_view link);

}  // namespace windtunnel
