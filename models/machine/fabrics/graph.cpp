#include "models/machine/fabrics/graph.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <charconv>
#include <limits>
#include <map>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"

namespace windtunnel {
namespace {

struct LinkOf {
  int link = 0;
};
using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS,
                                    boost::no_property, LinkOf>;

constexpr std::uint16_t kFar = std::numeric_limits<std::uint16_t>::max();
constexpr int kMostWays = kFar;  // further equal paths are not counted
constexpr double kMostEntries = 1 << 28;

// Stores each vertex's distance to one target vertex and its number of shortest paths to it.
struct ToVertex {
  std::vector<std::uint16_t> distance;
  std::vector<std::uint16_t> ways;
};

// Walks against the links from the target: vertices are visited in order of distance, so the paths
// of a vertex are complete when it is expanded.
class CountWays : public boost::default_bfs_visitor {
 public:
  explicit CountWays(ToVertex& found) : found_(found) {}

  template <class Edge, class Reversed>
  void tree_edge(Edge edge, const Reversed& graph) const {
    found_.distance[target(edge, graph)] = found_.distance[source(edge, graph)] + 1;
    found_.ways[target(edge, graph)] = found_.ways[source(edge, graph)];
  }
  template <class Edge, class Reversed>
  void non_tree_edge(Edge edge, const Reversed& graph) const {
    const auto near = source(edge, graph);
    const auto far = target(edge, graph);
    if (found_.distance[far] != found_.distance[near] + 1) return;
    const int ways = found_.ways[far] + found_.ways[near];
    found_.ways[far] = static_cast<std::uint16_t>(std::min(ways, kMostWays));
  }

 private:
  ToVertex& found_;
};

// Removes `word` and the number after it from the text and returns the number; -1 if the text does
// not begin with them.
int number_after(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return -1;
  const std::string_view digits = text.substr(word.size());
  int number = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc()) return -1;
  text = digits.substr(end - digits.data());
  return number;
}

class GraphLinks final : public FabricLinks {
 public:
  explicit GraphLinks(const Cluster& cluster)
      : nics_(cluster.nics_per_node()), merge_(cluster.fabric.routing == Routing::spray) {
    read_cables(cluster);
    faults_ = LinkFaults(cluster.fabric, GraphLinks::count(),
                         [this](int link) { return GraphLinks::name(link); });
    place_nics(cluster);
    fold_leaves();
    build_graph();
    search(cluster);
  }

  int count() const override { return static_cast<int>(2 * cables_.size()); }

  double capacity(int link) const override {
    return cables_[link / 2].bandwidth_Bps * faults_.factor(link);
  }

  std::string name(int link) const override {
    const Cable& cable = cables_[link / 2];
    const bool forward = link % 2 == 0;
    const std::string& from = names_[forward ? cable.a : cable.b];
    const std::string& to = names_[forward ? cable.b : cable.a];
    if (cable.parallel == 0) return fmt::format("{} to {}", from, to);
    return fmt::format("{} to {} cable {}", from, to, cable.parallel);
  }

  int paths(int src_nic, int dst_nic) const override {
    const int from = anchor_[vertex_of_nic_[src_nic]];
    const ToVertex& to = towards(dst_nic);
    return to.ways[inner_of_[from]];
  }

  void append_route(int src_nic, int dst_nic, int path, std::vector<int>& route) const override {
    const int from = vertex_of_nic_[src_nic];
    const int to = vertex_of_nic_[dst_nic];
    if (anchor_[from] != from) route.push_back(leaf_out_[from]);
    const ToVertex& ahead = towards(dst_nic);
    for (int at = inner_of_[anchor_[from]]; ahead.distance[at] > 0;) {
      at = append_step(at, ahead, path, route);
    }
    if (anchor_[to] != to) route.push_back(leaf_in_[to]);
  }

  // Counts the vertices between the ends; a cable from node to node counts as a switch.
  int switch_hops(int src_nic, int dst_nic) const override {
    const int from = vertex_of_nic_[src_nic];
    const int to = vertex_of_nic_[dst_nic];
    const int folded = (anchor_[from] != from ? 1 : 0) + (anchor_[to] != to ? 1 : 0);
    return std::max(1, towards(dst_nic).distance[inner_of_[anchor_[from]]] + folded - 1);
  }

  // Each cable gives two cuts: the vertices that are nearer to one end than to the other, and vice
  // versa. In a tree this separates the subtree below the cable, in a ring a half, among islands an
  // island.
  std::vector<FabricCut> cuts() const override {
    std::vector<FabricCut> cuts;
    if (cables_.size() > kMostCutCables) return cuts;
    std::map<std::vector<int>, int> known;  // known partitions
    for (int link = 0; link < count(); ++link) {
      std::vector<int> side = nearer_to(from_of(link), to_of(link));
      if (!known.try_emplace(side, link).second) continue;
      std::vector<int> side_of_node = sides_of_nodes(side);
      if (side_of_node.empty()) continue;
      FabricCut& cut = cuts.emplace_back(fmt::format("cables beside '{}', side", name(link)),
                                         std::move(side_of_node), 2);
      for (int each = 0; each < count(); ++each) {
        cut.add_link(side[from_of(each)], side[to_of(each)], capacity(each));
      }
    }
    return cuts;
  }

 private:
  static constexpr size_t kMostCutCables = 256;  // finding a cable's cuts looks at all vertices

  // [vertex] 0: it is nearer to `one` than to `other`; 1: it is not.
  std::vector<int> nearer_to(int one, int other) const {
    const std::vector<int> to_one = distances_to(one);
    const std::vector<int> to_other = distances_to(other);
    std::vector<int> side(vertices());
    for (int v = 0; v < vertices(); ++v) side[v] = to_one[v] < to_other[v] ? 0 : 1;
    return side;
  }

  std::vector<int> distances_to(int end) const {
    std::vector<int> distance(vertices(), vertices());
    distance[end] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Cable& cable : cables_) {
        const int nearest = std::min(distance[cable.a], distance[cable.b]) + 1;
        changed |= nearest < distance[cable.a] || nearest < distance[cable.b];
        distance[cable.a] = std::min(distance[cable.a], nearest);
        distance[cable.b] = std::min(distance[cable.b], nearest);
      }
    }
    return distance;
  }

  // Empty if the NICs of a node are on both sides, because the node connects them.
  std::vector<int> sides_of_nodes(const std::vector<int>& side_of_vertex) const {
    std::vector<int> sides;
    for (size_t nic = 0; nic < vertex_of_nic_.size(); ++nic) {
      const int side = side_of_vertex[vertex_of_nic_[nic]];
      if (nic % nics_ == 0) sides.push_back(side);
      if (sides.back() != side) return {};
    }
    return sides;
  }

  struct Cable {
    int a = 0;
    int b = 0;
    double bandwidth_Bps = 0;
    // number of earlier cables between the same ends, if routing tells parallel cables apart
    int parallel = 0;
  };

  int from_of(int link) const { return link % 2 == 0 ? cables_[link / 2].a : cables_[link / 2].b; }
  int to_of(int link) const { return from_of(link ^ 1); }
  int vertices() const { return static_cast<int>(names_.size()); }

  int vertex(const std::string& name) {
    const auto [entry, added] = vertex_of_name_.try_emplace(name, vertices());
    if (added) names_.push_back(name);
    return entry->second;
  }

  void read_cables(const Cluster& cluster) {
    if (cluster.fabric.edges.empty()) throw Error("'graph' needs 'edges', a list of cables");
    std::map<std::pair<int, int>, int> cables_between;
    std::map<std::pair<int, int>, size_t> first_between;
    for (const EdgeSpec& edge : cluster.fabric.edges) {
      cable_end(edge.a, cluster);  // throws if the node does not exist
      cable_end(edge.b, cluster);
      if (edge.a == edge.b)
        throw Error(fmt::format("a cable joins '{0}' to itself; name another end", edge.a));
      if (edge.bandwidth_Bps <= 0) {
        throw Error(fmt::format("the cable from '{}' to '{}' has no bandwidth", edge.a, edge.b));
      }
      const int a = vertex(edge.a);
      const int b = vertex(edge.b);
      const std::pair<int, int> ends = std::minmax(a, b);
      const int before = cables_between[ends]++;
      const auto [first, added] = first_between.try_emplace(ends, cables_.size());
      if (merge_ && !added) {
        cables_[first->second].bandwidth_Bps += edge.bandwidth_Bps;
      } else {
        cables_.push_back({a, b, edge.bandwidth_Bps, before});
      }
    }
  }

  void place_nics(const Cluster& cluster) {
    for (int nic = 0; nic < cluster.fabric_nodes() * nics_; ++nic) {
      const int node = nic / nics_;
      auto found = vertex_of_name_.find(fmt::format("node {} nic {}", node, nic % nics_));
      if (found == vertex_of_name_.end())
        found = vertex_of_name_.find(fmt::format("node {}", node));
      if (found == vertex_of_name_.end()) {
        throw Error(
            fmt::format("no cable reaches NIC {} of node {}; add e.g. "
                        "{{a: node {}, b: leaf, bandwidth: 400 Gb/s}}",
                        nic % nics_, node, node));
      }
      vertex_of_nic_.push_back(found->second);
    }
  }

  // A vertex with one cable is left out of the search, because its neighbour has the same paths.
  void fold_leaves() {
    std::vector<int> degree(vertices(), 0);
    for (const Cable& cable : cables_) {
      ++degree[cable.a];
      ++degree[cable.b];
    }
    for (int v = 0; v < vertices(); ++v) anchor_.push_back(v);
    leaf_out_.assign(vertices(), 0);
    leaf_in_.assign(vertices(), 0);
    for (int link = 0; link < count(); ++link) {
      const int from = from_of(link);
      const bool works = !faults_.failed(link) && !faults_.failed(link ^ 1);
      if (degree[from] != 1 || degree[to_of(link)] == 1 || !works) continue;
      anchor_[from] = to_of(link);
      leaf_out_[from] = link;
      leaf_in_[from] = link ^ 1;
    }
  }

  void build_graph() {
    inner_of_.assign(vertices(), -1);
    int inner = 0;
    for (int v = 0; v < vertices(); ++v) {
      if (anchor_[v] == v) inner_of_[v] = inner++;
    }
    graph_ = Graph(inner);
    for (int link = 0; link < count(); ++link) {
      const int from = inner_of_[from_of(link)];
      const int to = inner_of_[to_of(link)];
      if (from >= 0 && to >= 0 && !faults_.failed(link)) add_edge(from, to, LinkOf{link}, graph_);
    }
  }

  void search(const Cluster& cluster) {
    std::map<int, int> nic_of_anchor;  // [anchor] one of the NICs attached to it
    for (int nic = 0; nic < cluster.fabric_nodes() * nics_; ++nic) {
      nic_of_anchor.try_emplace(anchor_[vertex_of_nic_[nic]], nic);
    }
    const size_t inner = num_vertices(graph_);
    if (static_cast<double>(nic_of_anchor.size()) * static_cast<double>(inner) > kMostEntries) {
      throw Error(
          fmt::format("the routes between {} switches with NICs and {} vertices are too many for "
                      "the memory; use a named topology, which needs no table of routes",
                      nic_of_anchor.size(), inner));
    }
    row_of_.assign(vertices(), -1);
    for (const auto& [target, nic] : nic_of_anchor) {
      row_of_[target] = static_cast<int>(rows_.size());
      rows_.push_back(ways_to(inner_of_[target]));
      for (const auto& [source, other] : nic_of_anchor) {
        if (rows_.back().distance[inner_of_[source]] == kFar) fail_apart(other, nic);
      }
    }
  }

  ToVertex ways_to(int target) const {
    ToVertex found;
    found.distance.assign(num_vertices(graph_), kFar);
    found.ways.assign(num_vertices(graph_), 0);
    found.distance[target] = 0;
    found.ways[target] = 1;
    boost::breadth_first_search(boost::make_reverse_graph(graph_), target,
                                boost::visitor(CountWays(found)));
    return found;
  }

  [[noreturn]] void fail_apart(int from_nic, int to_nic) const {
    const int from = from_nic / nics_;
    const int to = to_nic / nics_;
    if (faults_.any_failed()) {
      throw Error(fmt::format("the failed links leave no path from node {} to node {}", from, to));
    }
    const auto end = [this](int nic) {
      return fmt::format("NIC {} of node {}", nic % nics_, nic / nics_);
    };
    throw Error(fmt::format("no path of edges joins {} and {}", end(to_nic), end(from_nic)));
  }

  const ToVertex& towards(int nic) const { return rows_[row_of_[anchor_[vertex_of_nic_[nic]]]]; }

  // Appends the link that path `path` takes from an inner vertex, and returns the next vertex;
  // `path` becomes its number among the paths from there.
  int append_step(int at, const ToVertex& ahead, int& path, std::vector<int>& route) const {
    const auto [first, end] = out_edges(at, graph_);
    for (auto edge = first; edge != end; ++edge) {
      const auto next = target(*edge, graph_);
      if (ahead.distance[next] + 1 != ahead.distance[at]) continue;
      if (path < ahead.ways[next]) {
        route.push_back(graph_[*edge].link);
        return static_cast<int>(next);
      }
      path -= ahead.ways[next];
    }
    fail_check("way is one of those counted", __FILE__, __LINE__, std::to_string(path));
  }

  int nics_ = 1;
  bool merge_ = true;               // parallel cables are one link
  std::vector<std::string> names_;  // of vertices
  std::map<std::string, int> vertex_of_name_;
  std::vector<Cable> cables_;  // link 2i runs from a to b of cable i, link 2i + 1 back
  LinkFaults faults_;
  std::vector<int> vertex_of_nic_;
  std::vector<int> anchor_;  // [vertex] itself, or the vertex that its only cable leads to
  std::vector<int> leaf_out_, leaf_in_;  // links of that cable
  std::vector<int> inner_of_;            // number in `graph_`; -1 if folded
  Graph graph_;
  std::vector<int> row_of_;  // [vertex] index in rows_, if NICs have it as their anchor
  std::vector<ToVertex> rows_;
};

}  // namespace

CableEnd cable_end(std::string_view name, const Cluster& cluster) {
  if (!name.starts_with("node ")) return {};
  std::string_view rest = name;
  const int node = number_after(rest, "node ");
  const int nic = number_after(rest, " nic ");
  if (node < 0 || !rest.empty()) {
    throw Error(fmt::format(
        "'{}' cannot be an end of a cable; write 'node 3', 'node 3 nic 0' or the name of a switch",
        name));
  }
  if (node >= cluster.fabric_nodes()) {
    throw Error(fmt::format("there is no node {}; there are {}, counted from 0", node,
                            cluster.fabric_nodes()));
  }
  if (nic >= cluster.nics_per_node()) {
    throw Error(fmt::format("a node has no NIC {}; it has {}, counted from 0", nic,
                            cluster.nics_per_node()));
  }
  return {node, nic};
}

std::unique_ptr<const FabricLinks> make_graph_links(const Cluster& cluster) {
  return std::make_unique<GraphLinks>(cluster);
}

}  // namespace windtunnel
