#include "models/machine/fabrics/tree.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"

namespace windtunnel {
namespace {

// A level of the tree: its units (leaves, pods) and their bundles, numbered by arithmetic. Only the
// last unit below a parent may hold fewer nodes.
struct Level {
  const char* name = "pod";
  int nodes = 1;         // of a full unit
  int parent_nodes = 1;  // of a full unit of the level above
  int units_below = 1;   // units below a full parent
  int ways = 1;          // of a full unit's bundle
  int parent_ways = 1;   // over all bundles of one rail below a full parent
  int first_link = 0;    // all up, then all down
  int links = 0;         // of one direction
  double node_Bps = 0;   // of a bundle, for every node below it
};

// Identifies a bundle and a link in it.
struct Place {
  int unit = 0;
  int rail = 0;
  int way = 0;
};

class Tree final : public TreeLinks {
 public:
  explicit Tree(const Cluster& cluster)
      : nodes_(cluster.fabric_nodes()),
        nics_(std::max(1, cluster.nics_per_node())),
        rails_(has_rails(cluster.fabric.topology) ? nics_ : 1),
        rails_join_(cluster.fabric.topology != Topology::rail_only),
        spray_(cluster.fabric.routing == Routing::spray) {
    const FabricSpec& fabric = cluster.fabric;
    const int pod = unit_nodes(fabric.nodes_per_pod, nodes_);
    double node_Bps = cluster.widest_node() / rails_;
    double node_ways = static_cast<double>(nics_) / rails_;
    if (fabric.topology == Topology::clos) {
      const int leaf = fabric.nodes_per_leaf;
      if (leaf < 1 || leaf > pod) {
        throw Error(
            fmt::format("a leaf of a clos must have 1 to {} nodes (those of its pod), not {}; set "
                        "nodes_per_leaf",
                        pod, leaf));
      }
      node_Bps /= fabric.leaf_oversubscription;
      node_ways /= fabric.leaf_oversubscription;
      add_level("leaf", leaf, pod, node_Bps,
                fabric.uplinks > 0 ? fabric.uplinks : leaf * node_ways);
    }
    node_Bps /= fabric.pod_oversubscription;
    node_ways /= fabric.pod_oversubscription;
    add_level("pod", pod, nodes_, node_Bps, fabric.uplinks > 0 ? fabric.uplinks : pod * node_ways);
    faults_ = LinkFaults(fabric, count(), [this](int link) { return name(link); });
  }

  int count() const override { return levels_.back().first_link + 2 * levels_.back().links; }

  double capacity(int link) const override {
    const Level& level = level_of(link);
    const Place place = place_of(level, (link - level.first_link) % level.links);
    const double bundle_Bps = nodes_of(level, place.unit) * level.node_Bps;
    return bundle_Bps / ways_of(level, place.unit) * faults_.factor(link);
  }

  std::string name(int link) const override {
    const Level& level = level_of(link);
    const int index = link - level.first_link;
    const Place place = place_of(level, index % level.links);
    std::string text =
        fmt::format("{}-{} {}", level.name, index < level.links ? "up" : "down", place.unit);
    if (rails_ > 1) text += fmt::format(" rail {}", place.rail);
    if (!spray_) text += fmt::format(" way {}", place.way);
    return text;
  }

  int paths(int src_nic, int dst_nic) const override {
    const int top = top_level(src_nic, dst_nic);
    if (!faults_.any_failed()) return ways(top, src_nic, dst_nic);
    int working = 0;
    for (int way = 0; way < ways(top, src_nic, dst_nic); ++way) {
      working += failed_link(top, src_nic, dst_nic, way) < 0;
    }
    if (working == 0) throw_cut(top, src_nic, dst_nic);
    return working;
  }

  void append_route(int src_nic, int dst_nic, int path, std::vector<int>& route) const override {
    const int top = top_level(src_nic, dst_nic);
    if (top < 0) return;
    if (faults_.any_failed()) path = working_way(top, src_nic, dst_nic, path);
    for (int l = 0; l <= top; ++l) route.push_back(up(l, top, src_nic, path));
    for (int l = top; l >= 0; --l) route.push_back(down(l, top, dst_nic, path));
  }

  std::vector<FabricCut> cuts() const override {
    std::vector<FabricCut> cuts;
    for (const Level& level : levels_) {
      std::vector<int> unit_of_node(nodes_);
      for (int node = 0; node < nodes_; ++node) unit_of_node[node] = unit_of(level, node);
      const int units = unit_of_node.back() + 1;
      FabricCut& cut = cuts.emplace_back(fmt::format("uplinks of {}", level.name),
                                         std::move(unit_of_node), units);
      for (int index = 0; index < level.links; ++index) {
        const int unit = place_of(level, index).unit;
        cut.out_Bps[unit] += capacity(level.first_link + index);
        cut.in_Bps[unit] += capacity(level.first_link + level.links + index);
      }
    }
    return cuts;
  }

  int levels() const override { return static_cast<int>(levels_.size()); }
  int up_link(int level, int nic) const override { return up(level, level, nic, 0); }
  int down_link(int level, int nic) const override { return down(level, level, nic, 0); }
  int nodes_alike(int node) const override {
    const Level& level = levels_.front();
    const int in_parent = node % level.parent_nodes;
    const int unit_ends = in_parent - in_parent % level.nodes + level.nodes;
    return std::min(unit_ends, level.parent_nodes) - in_parent;
  }

  int switch_hops(int src_nic, int dst_nic) const override {
    return 2 * top_level(src_nic, dst_nic) + 3;
  }

 private:
  static int unit_nodes(int wanted, int most) { return wanted > 0 ? std::min(wanted, most) : most; }

  void add_level(const char* name, int nodes, int parent_nodes, double node_Bps, double ways) {
    Level level;
    level.name = name;
    level.nodes = nodes;
    level.parent_nodes = parent_nodes;
    level.units_below = (parent_nodes + nodes - 1) / nodes;
    level.ways = spray_ ? 1 : std::max(1, static_cast<int>(std::lround(ways)));
    level.parent_ways =
        (level.units_below - 1) * level.ways + ways_of(level, level.units_below - 1);
    const int last = unit_of(level, nodes_ - 1);
    level.first_link = levels_.empty() ? 0 : count();
    level.links = (first_way(level, last) + ways_of(level, last)) * rails_;
    level.node_Bps = node_Bps;
    levels_.push_back(level);
  }

  const Level& level_of(int link) const {
    CHECK(link >= 0 && link < count(), "link {} of {}", link, count());
    return link < levels_.back().first_link ? levels_.front() : levels_.back();
  }

  static int unit_of(const Level& level, int node) {
    return node / level.parent_nodes * level.units_below + node % level.parent_nodes / level.nodes;
  }
  int nodes_of(const Level& level, int unit) const {
    const int parent_first = unit / level.units_below * level.parent_nodes;
    const int first = parent_first + unit % level.units_below * level.nodes;
    return std::min({level.nodes, parent_first + level.parent_nodes - first, nodes_ - first});
  }
  int ways_of(const Level& level, int unit) const {
    const int nodes = nodes_of(level, unit);
    if (nodes == level.nodes) return level.ways;
    const double share = static_cast<double>(nodes) / level.nodes;
    return std::max(1, static_cast<int>(std::lround(level.ways * share)));
  }
  static int first_way(const Level& level, int unit) {
    return unit / level.units_below * level.parent_ways + unit % level.units_below * level.ways;
  }
  // The bundle that a link is in, and its number there. `index`: from the level's first link in its
  // direction.
  Place place_of(const Level& level, int index) const {
    const int parent = index / (level.parent_ways * rails_);
    index -= parent * level.parent_ways * rails_;
    const int unit = std::min(index / (level.ways * rails_), level.units_below - 1);
    index -= unit * level.ways * rails_;
    Place place;
    place.unit = parent * level.units_below + unit;
    const int ways = ways_of(level, place.unit);
    place.rail = index / ways;
    place.way = index % ways;
    return place;
  }

  // The highest level whose uplinks the path uses; -1: none, because one switch connects the NICs.
  int top_level(int src_nic, int dst_nic) const {
    const int src = src_nic / nics_;
    const int dst = dst_nic / nics_;
    const bool other_rail = rails_ > 1 && src_nic % nics_ != dst_nic % nics_;
    CHECK(rails_join_ || !other_rail, "NIC {} to {}: no link joins the rails", src_nic, dst_nic);
    int top = static_cast<int>(levels_.size()) - 1;
    while (top > 0 && unit_of(levels_[top], src) == unit_of(levels_[top], dst)) --top;
    if (top == 0 && !other_rail && unit_of(levels_[0], src) == unit_of(levels_[0], dst)) return -1;
    return top;
  }

  // Number of paths, including failed ones.
  int ways(int top, int src_nic, int dst_nic) const {
    if (spray_ || top < 0) return 1;
    const Level& level = levels_[top];
    return std::min(ways_of(level, unit_of(level, src_nic / nics_)),
                    ways_of(level, unit_of(level, dst_nic / nics_)));
  }

  // The link at level `l` of path `way`, whose highest level is `top`.
  int up(int l, int top, int nic, int way) const {
    const Level& level = levels_[l];
    const int unit = unit_of(level, nic / nics_);
    const int ways = ways_of(level, unit);
    if (l < top) way = way * level.ways / levels_[top].ways % ways;
    const int rail = rails_ > 1 ? nic % nics_ : 0;
    return level.first_link + first_way(level, unit) * rails_ + rail * ways + way;
  }
  int down(int l, int top, int nic, int way) const {
    return up(l, top, nic, way) + levels_[l].links;
  }

  // The failed link on the path; -1: none.
  int failed_link(int top, int src_nic, int dst_nic, int way) const {
    for (int l = 0; l <= top; ++l) {
      if (faults_.failed(up(l, top, src_nic, way))) return up(l, top, src_nic, way);
      if (faults_.failed(down(l, top, dst_nic, way))) return down(l, top, dst_nic, way);
    }
    return -1;
  }

  int working_way(int top, int src_nic, int dst_nic, int path) const {
    for (int way = 0; way < ways(top, src_nic, dst_nic); ++way) {
      if (failed_link(top, src_nic, dst_nic, way) < 0 && path-- == 0) return way;
    }
    throw_cut(top, src_nic, dst_nic);
  }

  [[noreturn]] void throw_cut(int top, int src_nic, int dst_nic) const {
    throw Error(
        fmt::format("there is no path from node {} to node {} (NICs {} and {}): '{}' has failed "
                    "and nothing replaces it",
                    src_nic / nics_, dst_nic / nics_, src_nic, dst_nic,
                    name(failed_link(top, src_nic, dst_nic, 0))));
  }

  int nodes_;
  int nics_;
  int rails_;
  bool rails_join_;
  bool spray_;
  std::vector<Level> levels_;  // leaf and pod, or pod alone
  LinkFaults faults_;
};

}  // namespace

bool is_tree(Topology topology) {
  return topology == Topology::rail_fat_tree || topology == Topology::fat_tree ||
         topology == Topology::rail_only || topology == Topology::clos;
}

bool has_rails(Topology topology) {
  return topology == Topology::rail_fat_tree || topology == Topology::rail_only;
}

std::unique_ptr<const TreeLinks> make_tree_links(const Cluster& cluster) {
  return std::make_unique<Tree>(cluster);
}

}  // namespace windtunnel
