#include "scenarios/language/resolve/placement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "models/base/find_named.hpp"

namespace windtunnel {

std::vector<int> read_placement(const CsvTable& table, int nodes, int machine_nodes) {
  constexpr std::string_view kColumn = "node";
  const std::size_t column = table.column(kColumn);
  for (const std::string& name : table.header()) {
    if (name == kColumn) continue;
    throw Error(Location{table.file(), 1, 1},
                fmt::format("unknown column '{}'; a placement has one, 'node'", name));
  }
  std::vector<int> places;
  std::map<int, std::size_t> row_of;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const Location where{table.file(), table.line(row), static_cast<int>(column) + 1};
    const int node = table.integer(row, column);
    if (node < 0 || node >= machine_nodes) {
      throw Error(where,
                  fmt::format("no node {}; there are {}, counted from 0", node, machine_nodes));
    }
    const auto [first, added] = row_of.try_emplace(node, row);
    if (!added) {
      throw Error(where,
                  fmt::format("node {} stands in line {}, too; each holds one block of ranks", node,
                              table.line(first->second)));
    }
    if (std::ssize(places) == nodes) {
      throw Error(where, fmt::format("the job has {} nodes and no more", nodes));
    }
    places.push_back(node);
  }
  if (std::ssize(places) < nodes) {
    const int last = table.rows() > 0 ? table.line(table.rows() - 1) : 1;
    throw Error(
        Location{table.file(), last, 1},
        fmt::format("places end here after {} of the job's {} nodes", places.size(), nodes));
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

struct RankAxis {
  std::string_view name;
  int Layout::*ranks;
  int RankCoordinates::*coordinate;
};
constexpr std::array kRankAxes = {RankAxis{"tp", &Layout::tp, &RankCoordinates::tp},
                                  RankAxis{"cp", &Layout::cp, &RankCoordinates::cp},
                                  RankAxis{"dp", &Layout::dp, &RankCoordinates::dp},
                                  RankAxis{"pp", &Layout::pp, &RankCoordinates::pp}};

// Fastest first. Axes that are left out have one rank.
std::vector<RankAxis> stated_order(const Values& values, const Layout& layout) {
  const std::string key = "layout.order";
  const int length = values.length(key);
  if (length == 0) return {kRankAxes.begin(), kRankAxes.end()};
  std::vector<RankAxis> order;
  for (int i = 0; i < length; ++i) {
    const std::string at = fmt::format("{}.{}", key, i);
    const auto axis = std::ranges::find(kRankAxes, values.text(at), &RankAxis::name);
    if (std::ranges::find(order, axis->name, &RankAxis::name) != order.end()) {
      values.fail(at, fmt::format("{} stands twice", axis->name));
    }
    order.push_back(*axis);
  }
  for (const RankAxis& axis : kRankAxes) {
    if (layout.*axis.ranks == 1) continue;
    if (std::ranges::find(order, axis.name, &RankAxis::name) != order.end()) continue;
    values.fail(
        key, fmt::format("has no {}, of which the layout has {}", axis.name, layout.*axis.ranks));
  }
  return order;
}

// [place in the order] the nodes of the job, each with the ranks that the layout's own order gives
// it.
std::vector<int> nodes_in_order(const Values& values, const std::vector<RankAxis>& order,
                                const Layout& layout, int gpus) {
  std::vector<int> nodes;
  RankCoordinates at;
  for (int position = 0; position < layout.ranks(); ++position) {
    const int rank = rank_of(layout, at);
    if (position % gpus == 0) {
      nodes.push_back(rank / gpus);
    }
    if (rank / gpus != nodes.back() || rank % gpus != position % gpus) {
      values.fail("layout.order",
                  fmt::format("a node of {} GPUs would hold other ranks than those of order [tp, "
                              "cp, dp, pp]; whole nodes move: begin with the axes that fill one",
                              gpus));
    }
    for (const RankAxis& axis : order) {
      if (++(at.*axis.coordinate) < layout.*axis.ranks) break;
      at.*axis.coordinate = 0;
    }
  }
  return nodes;
}

// Which pool an axis says that a node's ranks stand on; empty: any.
struct PlacedAxis {
  const RankAxis* axis = nullptr;
  std::string key;
  std::vector<int> pools;  // [run of its ranks]
};

PlacedAxis stated_place(const Values& values, const Layout& layout, const Cluster& cluster) {
  PlacedAxis placed;
  for (const RankAxis& axis : kRankAxes) {
    const std::string key = fmt::format("layout.place.{}", axis.name);
    const bool placeable = axis.name == "pp" || axis.name == "dp";
    const int length = placeable ? values.length(key) : 0;
    if (length == 0) continue;
    if (cluster.pools.empty()) values.fail(key, "there are no cluster.pools to stand on");
    if (placed.axis != nullptr) {
      values.fail(key, fmt::format("{} says where ranks stand, too; keep one of them", placed.key));
    }
    placed = {&axis, key, {}};
    if (layout.*axis.ranks % length != 0) {
      values.fail(key, fmt::format("lists {} pools for {} ranks of {}; list one for each, or for "
                                   "runs of equal length",
                                   length, layout.*axis.ranks, axis.name));
    }
    std::vector<std::string> names;
    for (const Pool& pool : cluster.pools) names.push_back(pool.name);
    for (int i = 0; i < length; ++i) {
      const std::string at = fmt::format("{}.{}", key, i);
      const auto found = std::ranges::find(names, values.text(at));
      if (found == names.end()) {
        throw Error(values.where(at), unknown_name("pool", values.text(at), names));
      }
      placed.pools.push_back(static_cast<int>(found - names.begin()));
    }
  }
  return placed;
}

int pool_of_node(const Values& values, const PlacedAxis& placed, const Layout& layout, int node,
                 int gpus) {
  const int ranks = layout.*placed.axis->ranks;
  const auto pool_of = [&](int rank) {
    const int at = coordinates_of(layout, rank).*placed.axis->coordinate;
    return placed.pools[at * std::ssize(placed.pools) / ranks];
  };
  const int pool = pool_of(node * gpus);
  for (int rank = node * gpus; rank < (node + 1) * gpus; ++rank) {
    if (pool_of(rank) == pool) continue;
    values.fail(placed.key, fmt::format("ranks {} to {} share a node, and it places them on "
                                        "different pools",
                                        node * gpus, (node + 1) * gpus - 1));
  }
  return pool;
}

}  // namespace

std::vector<int> placed_by_axes(const Values& values, const Layout& layout,
                                const Cluster& cluster) {
  const bool ordered = values.length("layout.order") > 0;
  const PlacedAxis placed = stated_place(values, layout, cluster);
  if (!ordered && placed.axis == nullptr) return {};
  const std::string key = ordered ? "layout.order" : placed.key;
  if (values.has("layout.placement")) {
    values.fail(key, "layout.placement says where ranks stand, too; keep one of them");
  }
  const int gpus = cluster.node.gpus;
  if (layout.ranks() != cluster.gpus()) return {};  // which is an error of its own
  const std::vector<int> nodes = nodes_in_order(values, stated_order(values, layout), layout, gpus);
  // [pool] its next free node; without places all nodes in turn.
  std::vector<int> next = {0};
  std::vector<int> end = {cluster.fabric_nodes()};
  if (placed.axis != nullptr) {
    next.clear();
    end.clear();
    for (const Pool& pool : cluster.pools) {
      next.push_back(end.empty() ? 0 : end.back());
      end.push_back(next.back() + pool.nodes);
    }
  }
  std::vector<int> places(nodes.size());
  for (const int node : nodes) {
    const int pool = placed.axis == nullptr ? 0 : pool_of_node(values, placed, layout, node, gpus);
    if (next[pool] == end[pool]) {
      values.fail(key, fmt::format("asks for more nodes of pool '{}' than its {}",
                                   cluster.pools[pool].name, cluster.pools[pool].nodes));
    }
    places[node] = next[pool]++;
  }
  return places;
}

}  // namespace windtunnel
