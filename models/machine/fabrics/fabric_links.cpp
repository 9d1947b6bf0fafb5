#include "models/machine/fabrics/fabric_links.hpp"

#include <algorithm>

#include "models/base/error.hpp"
#include "models/machine/fabrics/dragonfly.hpp"
#include "models/machine/fabrics/graph.hpp"
#include "models/machine/fabrics/sites.hpp"
#include "models/machine/fabrics/torus.hpp"
#include "models/machine/fabrics/tree.hpp"

namespace windtunnel {
namespace {

std::unique_ptr<const FabricLinks> links_of(const Cluster& cluster) {
  switch (cluster.fabric.topology) {
    case Topology::rail_fat_tree:
    case Topology::fat_tree:
    case Topology::rail_only:
    case Topology::clos:
      return make_tree_links(cluster);
    case Topology::torus:
      return make_torus_links(cluster);
    case Topology::dragonfly:
      return make_dragonfly_links(cluster);
    case Topology::sites:
      return make_site_links(cluster);
    case Topology::graph:
      return make_graph_links(cluster);
  }
  CHECK(false, "topology {}", static_cast<int>(cluster.fabric.topology));
}

}  // namespace

bool names_nic(std::string_view link) {
  return link.starts_with("nic-out ") || link.starts_with("nic-in ") || link == "nic-out" ||
         link == "nic-in";
}

std::unique_ptr<const FabricLinks> make_fabric_links(const Cluster& cluster) {
  const auto is_of_nic = [](const LinkFault& fault) { return names_nic(fault.link); };
  const auto loads_nic = [](const BackgroundLoad& load) { return names_nic(load.links); };
  const FabricSpec& fabric = cluster.fabric;
  if (std::ranges::none_of(fabric.faults, is_of_nic) &&
      std::ranges::none_of(fabric.background, loads_nic)) {
    return links_of(cluster);
  }
  Cluster without = cluster;
  std::erase_if(without.fabric.faults, is_of_nic);
  std::erase_if(without.fabric.background, loads_nic);
  return links_of(without);
}

}  // namespace windtunnel
