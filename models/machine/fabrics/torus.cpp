#include "models/machine/fabrics/torus.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"

namespace windtunnel {
namespace {

constexpr int kLeastDimensions = 2;
constexpr int kMostDimensions = 6;
constexpr std::string_view kAxes = "xyzabc";

int factorial(int n) {
  return n <= 1 ? 1 : n * factorial(n - 1);
}

// An array, because routes are computed millions of times.
struct Dimensions {
  std::array<int, kMostDimensions> items{};
  int count = 0;
};

// The `rank`-th order of the dimensions, 0 being the order given.
Dimensions ordered(Dimensions dimensions, int rank) {
  for (int i = 0; rank > 0; ++i) {
    const int block = factorial(dimensions.count - i - 1);
    const auto first = dimensions.items.begin() + i;
    std::rotate(first, first + rank / block, first + rank / block + 1);
    rank %= block;
  }
  return dimensions;
}

class TorusLinks final : public FabricLinks {
 public:
  explicit TorusLinks(const Cluster& cluster)
      : sizes_(cluster.fabric.dimensions),
        nodes_(cluster.fabric_nodes()),
        nics_(cluster.nics_per_node()),
        spray_(cluster.fabric.routing == Routing::spray) {
    check_sizes();
    check_bandwidths(cluster.fabric);
    int stride = 1;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      first_[i + 1] = first_[i] + std::min(sizes_[i] - 1, 2);
      bandwidth_Bps_[i] = cable_Bps(cluster, static_cast<int>(i));
      stride_[i] = stride;
      stride *= sizes_[i];
    }
    places_.reserve(static_cast<size_t>(nodes_) * sizes_.size());
    for (int node = 0; node < nodes_; ++node) {
      for (size_t i = 0; i < sizes_.size(); ++i) places_.push_back(node / stride_[i] % sizes_[i]);
    }
    faults_ = LinkFaults(cluster.fabric, TorusLinks::count(),
                         [this](int link) { return TorusLinks::name(link); });
    check_joined();
  }

  int count() const override { return nodes_ * links_per_node(); }

  double capacity(int link) const override {
    return bandwidth_Bps_[dimension_of(link % links_per_node())] * faults_.factor(link);
  }

  std::string name(int link) const override {
    const int port = link % links_per_node();
    const int dimension = dimension_of(port);
    return fmt::format("torus {} {}{}", link / links_per_node(),
                       port == first_[dimension] ? '+' : '-', kAxes[dimension]);
  }

  int paths(int src_nic, int dst_nic) const override {
    if (spray_) return 1;
    if (!faults_.any_failed()) return factorial(differing(src_nic, dst_nic).count);
    return std::max(1, static_cast<int>(open_orders(src_nic, dst_nic).size()));
  }

  void append_route(int src_nic, int dst_nic, int path, std::vector<int>& route) const override {
    if (!faults_.any_failed()) return append_ordered(src_nic, dst_nic, path, route);
    const std::vector<int> open = open_orders(src_nic, dst_nic);
    if (!open.empty()) return append_ordered(src_nic, dst_nic, open[path], route);
    const std::vector<int> way =
        shortest_way(nodes_, src_nic / nics_, dst_nic / nics_,
                     [this](int node, std::vector<Step>& steps) { append_steps(node, steps); });
    route.insert(route.end(), way.begin(), way.end());
  }

  // Every node on the path is a switch, so there are as many switches as cables.
  int switch_hops(int src_nic, int dst_nic) const override {
    if (faults_.any_failed()) {
      std::vector<int> route;
      append_route(src_nic, dst_nic, 0, route);
      return static_cast<int>(route.size());
    }
    const int from = src_nic / nics_;
    const int to = dst_nic / nics_;
    int hops = 0;
    for (int i = 0; i < dimensions(); ++i) {
      const int ahead = distance_ahead(from, to, i);
      hops += std::min(ahead, sizes_[i] - ahead);
    }
    return hops;
  }

  // Cuts around every node and, in each dimension, around planes and around halves, which are cut
  // in two places.
  std::vector<FabricCut> cuts() const override {
    std::vector<FabricCut> cuts;
    cuts.push_back(cut("cables of node", nodes_, [](int node) { return node; }));
    int stride = 1;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const int size = sizes_[i];
      const auto at = [stride, size](int node) { return node / stride % size; };
      if (size > 1) cuts.push_back(cut(fmt::format("cables of plane {} =", kAxes[i]), size, at));
      for (int start = 0; size > 3 && start < (size + 1) / 2; ++start) {
        const auto half = [&](int node) { return (at(node) + size - start) % size * 2 / size; };
        cuts.push_back(cut(
            fmt::format("cables of the halves from {} = {} on, half", kAxes[i], start), 2, half));
      }
      stride *= size;
    }
    return cuts;
  }

 private:
  template <class PartOf>
  FabricCut cut(std::string links, int parts, const PartOf& part_of) const {
    std::vector<int> part_of_node(nodes_);
    for (int node = 0; node < nodes_; ++node) part_of_node[node] = part_of(node);
    FabricCut cut(std::move(links), std::move(part_of_node), parts);
    std::vector<Step> steps;
    for (int node = 0; node < nodes_; ++node) {
      steps.clear();
      append_steps(node, steps);
      for (const Step& step : steps) {
        cut.add_link(cut.part_of_node[node], cut.part_of_node[step.to], capacity(step.link));
      }
    }
    return cut;
  }

  void check_sizes() const {
    const int dimensions = static_cast<int>(sizes_.size());
    if (dimensions < kLeastDimensions || dimensions > kMostDimensions) {
      throw Error(fmt::format("a torus has {} to {} dimensions, not {}; e.g. '[4, 4, 4]'",
                              kLeastDimensions, kMostDimensions, dimensions));
    }
    double product = 1;
    for (const int size : sizes_) {
      if (size < 1)
        throw Error(fmt::format("a dimension of a torus must be at least 1, not {}", size));
      product *= size;
    }
    if (product != nodes_) {
      throw Error(fmt::format("{} make {:.0f} nodes, {} than the {} of the cluster",
                              fmt::join(sizes_, " x "), product,
                              product > nodes_ ? "more" : "fewer", nodes_));
    }
  }

  void check_bandwidths(const FabricSpec& fabric) const {
    const std::size_t stated = fabric.dimension_Bps.size();
    if (stated == 0 || stated == sizes_.size()) return;
    throw Error(
        fmt::format("there are {} bandwidths of cables for {} dimensions; give one for each",
                    stated, sizes_.size()));
  }

  void check_joined() const {
    if (!faults_.any_failed()) return;
    const auto [from, to] = cut_pair(
        nodes_, [this](int node, std::vector<Step>& steps) { append_steps(node, steps); },
        [](int) { return true; });
    if (from < 0) return;
    throw Error(fmt::format("the failed links leave no path from node {} to node {}", from, to));
  }

  int links_per_node() const { return first_[sizes_.size()]; }
  int dimension_of(int port) const {
    int dimension = 0;
    while (first_[dimension + 1] <= port) ++dimension;
    return dimension;
  }

  int dimensions() const { return static_cast<int>(sizes_.size()); }
  int place(int node, int dimension) const { return places_[node * dimensions() + dimension]; }
  int distance_ahead(int from, int to, int dimension) const {
    const int ahead = place(to, dimension) - place(from, dimension);
    return ahead < 0 ? ahead + sizes_[dimension] : ahead;
  }

  // A step beyond the last node of a dimension wraps around.
  int neighbour(int node, int dimension, bool plus) const {
    const int size = sizes_[dimension];
    const int at = place(node, dimension);
    const int next = plus ? (at + 1 == size ? 0 : at + 1) : (at == 0 ? size - 1 : at - 1);
    return node + (next - at) * stride_[dimension];
  }

  Dimensions differing(int src_nic, int dst_nic) const {
    const int from = src_nic / nics_;
    const int to = dst_nic / nics_;
    Dimensions found;
    for (int i = 0; i < dimensions(); ++i) {
      if (place(from, i) != place(to, i)) found.items[found.count++] = i;
    }
    return found;
  }

  void append_ordered(int src_nic, int dst_nic, int rank, std::vector<int>& route) const {
    int node = src_nic / nics_;
    const int to = dst_nic / nics_;
    const Dimensions order = ordered(differing(src_nic, dst_nic), rank);
    for (int i = 0; i < order.count; ++i) {
      const int dimension = order.items[i];
      const int size = sizes_[dimension];
      const int ahead = distance_ahead(node, to, dimension);
      const bool plus = ahead <= size - ahead;
      for (int step = std::min(ahead, size - ahead); step > 0; --step) {
        route.push_back(node * links_per_node() + first_[dimension] + (plus ? 0 : 1));
        node = neighbour(node, dimension, plus);
      }
    }
  }

  // Orders of dimensions without a failed cable.
  std::vector<int> open_orders(int src_nic, int dst_nic) const {
    std::vector<int> open;
    std::vector<int> route;
    const int orders = factorial(differing(src_nic, dst_nic).count);
    for (int rank = 0; rank < orders; ++rank) {
      route.clear();
      append_ordered(src_nic, dst_nic, rank, route);
      const bool cut = std::any_of(route.begin(), route.end(),
                                   [this](int link) { return faults_.failed(link); });
      if (!cut) open.push_back(rank);
    }
    return open;
  }

  void append_steps(int node, std::vector<Step>& steps) const {
    for (int i = 0; i < dimensions(); ++i) {
      for (int port = first_[i]; port < first_[i + 1]; ++port) {
        const int link = node * links_per_node() + port;
        if (faults_.failed(link)) continue;
        steps.push_back({link, neighbour(node, i, port == first_[i])});
      }
    }
  }

  std::vector<int> sizes_;
  int nodes_ = 1;
  int nics_ = 1;
  bool spray_ = true;
  std::array<int, kMostDimensions> stride_{};  // from a node to the next one of a dimension
  std::vector<int> places_;                    // [node][dimension]
  std::array<double, kMostDimensions> bandwidth_Bps_{};  // of a cable, by dimension
  // Ports of a node by dimension: two, or one if both directions lead to the same neighbour.
  std::array<int, kMostDimensions + 1> first_{};
  LinkFaults faults_;
};

}  // namespace

double cable_Bps(const Cluster& cluster, int dimension) {
  const FabricSpec& fabric = cluster.fabric;
  if (!fabric.dimension_Bps.empty()) return fabric.dimension_Bps[dimension];
  return fabric.link_Bps.value > 0 ? fabric.link_Bps.value : cluster.node.nic_Bps.value;
}

int slices_of(const FabricSpec& fabric) {
  const bool joined = fabric.topology == Topology::torus && fabric.wan_Bps.value > 0;
  return joined ? fabric.dimensions.back() : 1;
}

int slice_of(const FabricSpec& fabric, int place) {
  int nodes = 1;
  for (std::size_t i = 0; i + 1 < fabric.dimensions.size(); ++i) nodes *= fabric.dimensions[i];
  return place / nodes;
}

double slice_rounds_s(const FabricSpec& fabric, int slices) {
  // It was fitted with FabricSpec::wan_latency_s, on the rows that fabrics.yaml of the library
  // names.
  constexpr int kRoundsOfAny = 9;
  if (slices < 2) return 0;
  return fabric.wan_latency_s.value * (kRoundsOfAny + slices - 1);
}

std::unique_ptr<const FabricLinks> make_torus_links(const Cluster& cluster) {
  return std::make_unique<TorusLinks>(cluster);
}

}  // namespace windtunnel
