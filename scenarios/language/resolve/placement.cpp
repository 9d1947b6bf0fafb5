#include "scenarios/language/resolve/placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "models/base/find_named.hpp"

namespace windtunnel {

std::vector<int> read_placement(const CsvTable& table, int nodes, int machine_nodes) {
  constexpr std::string_view kColumn = "node";
  const std::size_t column = table.column(kColumn);
  for (const std::string& name : table.header()) {
    if (name == kColumn) continue;
    throw Error(Location{table.file(), 1, 1},
                fmt::format("unknown column '{}'; a placement has one column, 'node'", name));
  }
  std::vector<int> places;
  std::map<int, std::size_t> row_of;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const Location where{table.file(), table.line(row), static_cast<int>(column) + 1};
    const int node = table.integer(row, column);
    if (node < 0 || node >= machine_nodes) {
      throw Error(where, fmt::format("there is no node {}; there are {}, counted from 0", node,
                                     machine_nodes));
    }
    const auto [first, added] = row_of.try_emplace(node, row);
    if (!added) {
      throw Error(where, fmt::format("node {} is also in line {}; list each node once", node,
                                     table.line(first->second)));
    }
    if (std::ssize(places) == nodes) {
      throw Error(where, fmt::format("the job has only {} nodes; remove further rows", nodes));
    }
    places.push_back(node);
  }
  if (std::ssize(places) < nodes) {
    const int last = table.rows() > 0 ? table.line(table.rows() - 1) : 1;
    throw Error(Location{table.file(), last, 1},
                fmt::format("the file ends after {} of the job's {} nodes", places.size(), nodes));
  }
  return places;
}

std::vector<int> resolve_placement(const Values& values, NamedFiles& files,
                                   const Cluster& cluster) {
  const std::string key = "layout.placement";
  if (!values.has(key)) return {};
  const std::string& name = values.text(key);
  return values.about(key, [&] {
    return read_placement(CsvTable::parse(files.text(name), files.path(name)), cluster.nodes,
                          cluster.fabric_nodes());
  });
}

namespace {

// Axes that layout.order must name if they have several ranks.
constexpr std::array kAxes = {RankAxis::tp, RankAxis::cp, RankAxis::dp, RankAxis::pp};

RankAxis plain(RankAxis axis) {
  return axis == RankAxis::pp_pairs ? RankAxis::pp : axis;
}

// An axis whose ranks must be in certain pools. Without an axis, any pool will do.
struct PlacedAxis {
  std::optional<RankAxis> axis;  // pp or dp
  std::string key;
  std::vector<int> pools;  // [group of consecutive ranks]
};

PlacedAxis stated_place(const Values& values, const Layout& layout, const Cluster& cluster) {
  PlacedAxis placed;
  for (const RankAxis axis : {RankAxis::dp, RankAxis::pp}) {
    const std::string key = fmt::format("layout.place.{}", name_of(axis));
    const int length = values.length(key);
    const int ranks = ranks_along(layout, axis);
    if (length == 0) continue;
    if (cluster.pools.empty()) values.fail(key, "the cluster has no pools (cluster.pools)");
    if (placed.axis) {
      values.fail(key,
                  fmt::format("{} also says which nodes ranks use; keep one of them", placed.key));
    }
    placed = {axis, key, {}};
    if (ranks % length != 0) {
      values.fail(key, fmt::format("lists {} pools for {} ranks of {}; list one pool a rank, or "
                                   "one for each of equal groups of consecutive ranks",
                                   length, ranks, name_of(axis)));
    }
    std::vector<std::string> names;
    for (const Pool& pool : cluster.pools) names.push_back(pool.name);
    for (const std::string& at : values.items(key)) {
      const auto found = std::ranges::find(names, values.text(at));
      if (found == names.end()) {
        throw Error(values.where(at), unknown_name("pool", values.text(at), names));
      }
      placed.pools.push_back(static_cast<int>(found - names.begin()));
    }
  }
  return placed;
}

int pool_of_node(const Values& values, const PlacedAxis& placed, const Layout& layout,
                 const Cluster& cluster, int node) {
  const int ranks = ranks_along(layout, *placed.axis);
  const auto pool_of = [&](int slot) {
    const RankCoordinates at = coordinates_of(layout, cluster.rank_on(node, slot));
    const int place = placed.axis == RankAxis::pp ? at.pp : at.dp;
    return placed.pools[place * std::ssize(placed.pools) / ranks];
  };
  const int pool = pool_of(0);
  for (int slot = 1; slot < cluster.node.gpus; ++slot) {
    if (pool_of(slot) == pool) continue;
    values.fail(placed.key,
                fmt::format("ranks {} and {} share a node, but are placed on different pools",
                            cluster.rank_on(node, 0), cluster.rank_on(node, slot)));
  }
  return pool;
}

}  // namespace

std::vector<RankAxis> resolve_order(const Values& values, const Layout& layout) {
  const std::string key = "layout.order";
  std::vector<RankAxis> order;
  const auto listed = [&](RankAxis axis) {
    return std::ranges::find(order, axis, plain) != order.end();
  };
  for (const std::string& at : values.items(key)) {
    const auto axis = value_of<RankAxis>(values.text(at));
    if (listed(plain(axis))) values.fail(at, fmt::format("{} stands twice", name_of(plain(axis))));
    if (axis == RankAxis::pp_pairs && layout.pp % 2 != 0) {
      values.fail(
          at,
          fmt::format(
              "the layout has {} pipeline ranks, an odd number, which cannot form pairs; take pp",
              layout.pp));
    }
    order.push_back(axis);
  }
  for (const RankAxis axis : kAxes) {
    const int ranks = ranks_along(layout, axis);
    if (order.empty() || ranks == 1 || listed(axis)) continue;
    values.fail(key, fmt::format("lacks {}, along which the layout has {} ranks; list it, too",
                                 name_of(axis), ranks));
  }
  return order;
}

void place_ranks(const Values& values, const Layout& layout, Cluster& cluster) {
  const PlacedAxis placed = stated_place(values, layout, cluster);
  if (placed.axis && values.has("layout.placement")) {
    values.fail(placed.key, "layout.placement also says which nodes ranks use; keep one of them");
  }
  if (layout.ranks() != cluster.gpus()) return;  // another check reports this
  cluster.ranks = rank_map(layout);
  if (!placed.axis) return;
  // [pool] the next free node
  std::vector<int> next;
  std::vector<int> end;
  for (const Pool& pool : cluster.pools) {
    next.push_back(end.empty() ? 0 : end.back());
    end.push_back(next.back() + pool.nodes);
  }
  std::vector<int> places;
  for (int node = 0; node < cluster.nodes; ++node) {
    const int pool = pool_of_node(values, placed, layout, cluster, node);
    if (next[pool] == end[pool]) {
      values.fail(placed.key, fmt::format("needs more nodes of pool '{}' than its {}",
                                          cluster.pools[pool].name, cluster.pools[pool].nodes));
    }
    places.push_back(next[pool]++);
  }
  cluster.places = std::move(places);
}

}  // namespace windtunnel
