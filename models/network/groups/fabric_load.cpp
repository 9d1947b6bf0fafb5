#include "models/network/groups/fabric_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"
#include "models/machine/fabrics/tree.hpp"
#include "models/machine/links/path_choice.hpp"
#include "models/network/groups/pattern.hpp"

namespace windtunnel {
namespace {

// The bytes of each step on each link of the fabric.
class LinkBytes {
 public:
  explicit LinkBytes(const FabricLinks& fabric) : fabric_(fabric), place_(fabric.count(), -1) {}

  void start(int steps) {
    for (const int link : used_) place_[link] = -1;
    used_.clear();
    bytes_.clear();
    steps_ = steps;
  }

  void add(int link, int step, double bytes) {
    if (place_[link] < 0) {
      place_[link] = static_cast<int>(used_.size());
      used_.push_back(link);
      bytes_.resize(bytes_.size() + steps_, 0);
    }
    bytes_[static_cast<size_t>(place_[link]) * steps_ + step] += bytes;
  }

  // Sum over the steps of the time on each step's busiest link.
  double seconds() const {
    std::vector<double> busiest_s(steps_, 0);
    for (size_t i = 0; i < used_.size(); ++i) {
      const double capacity_Bps = fabric_.capacity(used_[i]);
      for (int step = 0; step < steps_; ++step) {
        busiest_s[step] = std::max(busiest_s[step], bytes_[i * steps_ + step] / capacity_Bps);
      }
    }
    double seconds = 0;
    for (const double step_s : busiest_s) seconds += step_s;
    return seconds;
  }

 private:
  const FabricLinks& fabric_;
  std::vector<int> place_;  // [link] index in used_
  std::vector<int> used_;
  std::vector<double> bytes_;
  int steps_ = 1;
};

// The step in which an edge of doubling and halving runs. If the group is no power of two, some
// nodes send their data to partners in the first step and get the result in the last one.
class ExchangeSteps {
 public:
  explicit ExchangeSteps(size_t n) : active_(std::bit_floor(n)), folded_(n - active_) {}

  int count() const { return std::bit_width(active_) + 1; }
  int of(size_t from, size_t to) const {
    if (from / 2 == to / 2 && to < 2 * folded_) return from < to ? 0 : count() - 1;
    return std::bit_width(active_place(from) ^ active_place(to));
  }

 private:
  size_t active_place(size_t node) const { return node < 2 * folded_ ? node / 2 : node - folded_; }

  size_t active_;
  size_t folded_;
};

// `add(from, to, share, step)` adds the bytes of an edge to its links.
template <class Add>
double pattern_seconds(Pattern pattern, size_t n, LinkBytes& bytes, const Add& add) {
  if (pattern != Pattern::doubling && pattern != Pattern::halving) {
    bytes.start(1);
    for_each_edge(pattern, n,
                  [&](size_t from, size_t to, double share) { add(from, to, share, 0); });
    return bytes.seconds();
  }
  const ExchangeSteps steps(n);
  bytes.start(steps.count());
  for_each_edge(pattern, n, [&](size_t from, size_t to, double share) {
    add(from, to, share, steps.of(from, to));
  });
  return bytes.seconds();
}

int most_distances(const Lanes& lanes) {
  return std::max(1, kMostPairs / static_cast<int>(lanes.gpus.size()));
}

// All lanes, or all lanes of a rail, use the tree in the same way, so this routes one lane, and
// scaled() multiplies its load.
class TreeLoad {
 public:
  TreeLoad(const Lanes& lanes, const LinkTable& links)
      : tree_(static_cast<const TreeLinks&>(links.fabric())), bytes_(tree_), n_(lanes.nodes()) {
    for (int level = 0; level < tree_.levels(); ++level) {
      for (size_t node = 0; node < n_; ++node) {
        const int nic = nic_of(links.cluster(), lanes.gpu(node, 0));
        up_.push_back(tree_.up_link(level, nic));
        down_.push_back(tree_.down_link(level, nic));
      }
    }
  }

  double seconds(Pattern pattern) {
    return pattern_seconds(
        pattern, n_, bytes_, [this](size_t from, size_t to, double share, int step) {
          for (; from < up_.size() && up_[from] != up_[to]; from += n_, to += n_) {
            bytes_.add(up_[from], step, share);
            bytes_.add(down_[to], step, share);
          }
        });
  }

  // All nodes below a bundle reach all other nodes over it.
  double pairs_seconds() {
    std::vector<int> below(tree_.count(), 0);
    for (const int link : up_) ++below[link];
    bytes_.start(1);
    const auto n = static_cast<double>(n_);
    for (size_t i = 0; i < up_.size(); ++i) {
      const double others = (n - below[up_[i]]) / n;
      bytes_.add(up_[i], 0, others);
      bytes_.add(down_[i], 0, others);
    }
    return bytes_.seconds();
  }

 private:
  const TreeLinks& tree_;
  LinkBytes bytes_;
  size_t n_;
  std::vector<int> up_;  // [level * nodes + node]
  std::vector<int> down_;
};

class RoutedLoad {
 public:
  RoutedLoad(const Lanes& lanes, const LinkTable& links)
      : lanes_(lanes), links_(links), bytes_(links.fabric()) {}

  double seconds(Pattern pattern) {
    return asked([&](PathChooser& chooser) {
      return pattern_seconds(pattern, lanes_.nodes(), bytes_,
                             [&](size_t from, size_t to, double share, int step) {
                               add(chooser, from, to, share, step);
                             });
    });
  }

  double torus_seconds() {
    const auto box = torus_box(lanes_, links_.cluster());
    if (!box) return 0;
    return asked([&](PathChooser& chooser) {
      bytes_.start(1);
      box->for_each_edge(
          [&](size_t from, size_t to, double share) { add(chooser, from, to, share, 0); });
      return bytes_.seconds();
    });
  }

  double pairs_seconds() {
    const int n = lanes_.nodes();
    const auto distances = sampled_distances(n, most_distances(lanes_));
    const double share = (n - 1.0) / n / static_cast<double>(distances.size());
    return asked([&](PathChooser& chooser) {
      bytes_.start(1);
      for (int from = 0; from < n; ++from) {
        for (const int distance : distances) add(chooser, from, (from + distance) % n, share, 0);
      }
      return bytes_.seconds();
    });
  }

 private:
  template <class Ask>
  double asked(const Ask& ask) const {
    PathChooser chooser(links_);
    const double seconds = ask(chooser);
    if (!chooser.asks_twice()) return seconds;
    chooser.settle();
    return ask(chooser);
  }

  void add(PathChooser& chooser, size_t from, size_t to, double share, int step) {
    for (int lane = 0; lane < lanes_.lanes; ++lane) {
      const int src = lanes_.gpu(from, lane);
      const int dst = lanes_.gpu(to, lane);
      for (const PathShare& part : chooser.choose(src, dst, share)) {
        route_.clear();
        links_.append_route(src, dst, route_, part.path);
        for (const LinkId link : route_) {
          const int fabric_link = links_.fabric_link(link);
          if (fabric_link >= 0) bytes_.add(fabric_link, step, share * part.share);
        }
      }
    }
  }

  const Lanes& lanes_;
  const LinkTable& links_;
  LinkBytes bytes_;
  std::vector<LinkId> route_;
};

template <class Load>
FabricLoad load_of(Load load) {
  FabricLoad result;
  result.ring = load.seconds(Pattern::ring);
  result.tree = load.seconds(Pattern::double_tree);
  result.pairs = load.pairs_seconds();
  result.halving = load.seconds(Pattern::halving);
  result.doubling = load.seconds(Pattern::doubling);
  result.shifts = load.seconds(Pattern::shifts);
  result.to_first = load.seconds(Pattern::to_first);
  return result;
}

// Time of a ring over all lanes if the traffic up from a pod, or down to it, is spread over all its
// rails.
double evenly_spread_ring(const Lanes& lanes, const LinkTable& links) {
  const Cluster& cluster = links.cluster();
  const int n = lanes.nodes();
  const int pods = pods_of(cluster);
  std::vector<int> up(pods, 0);
  std::vector<int> down(pods, 0);
  for (int node = 0; node < n; ++node) {
    for (int lane = 0; lane < lanes.lanes; ++lane) {
      const int src = lanes.gpu(node, lane);
      const int dst = lanes.gpu((node + 1) % n, lane);
      if (links.switch_hops(src, dst) == 1) continue;
      ++up[pod_of(cluster, src)];
      ++down[pod_of(cluster, dst)];
    }
  }
  double seconds = 0;
  const double node_Bps = cluster.widest_node();
  for (int pod = 0; pod < pods; ++pod) {
    const double pod_Bps =
        nodes_of_pod(cluster, pod) * node_Bps / cluster.fabric.pod_oversubscription;
    const double up_left = background_left(cluster.fabric, fmt::format("pod-up {}", pod));
    const double down_left = background_left(cluster.fabric, fmt::format("pod-down {}", pod));
    seconds = std::max(seconds, std::max(up[pod] / up_left, down[pod] / down_left) / pod_Bps);
  }
  return seconds;
}

// The largest number of lanes on one rail; 0 if a lane changes rails.
int lanes_per_rail(const Lanes& lanes, const Cluster& cluster) {
  const int nics = std::max(1, cluster.nics_per_node());
  std::vector<int> on_rail(nics, 0);
  for (int lane = 0; lane < lanes.lanes; ++lane) {
    const int rail = nic_of(cluster, lanes.gpu(0, lane)) % nics;
    ++on_rail[rail];
    for (int node = 1; node < lanes.nodes(); ++node) {
      if (nic_of(cluster, lanes.gpu(node, lane)) % nics != rail) return 0;
    }
  }
  return *std::ranges::max_element(on_rail);
}

}  // namespace

bool is_even_tree(const FabricSpec& fabric) {
  const bool whole = std::ranges::all_of(
      fabric.faults, [](const LinkFault& fault) { return names_nic(fault.link); });
  const bool evenly_loaded = std::ranges::all_of(fabric.background, [](const BackgroundLoad& load) {
    return names_nic(load.links) || names_whole_kind(load.links);
  });
  return is_tree(fabric.topology) && fabric.routing == Routing::spray && whole && evenly_loaded;
}

FabricLoad fabric_load(const Lanes& lanes, const LinkTable& links) {
  const Cluster& cluster = links.cluster();
  const bool rails = has_rails(cluster.fabric.topology);
  const int per_rail = rails ? lanes_per_rail(lanes, cluster) : 0;
  FabricLoad load;
  if (lanes.nodes() > 1) {
    const bool alike = is_even_tree(cluster.fabric) && (!rails || per_rail > 0);
    load = alike ? scaled(load_of(TreeLoad(lanes, links)), rails ? per_rail : lanes.lanes)
                 : routed_fabric_load(lanes, links);
  }
  load.by_rail = rails;
  if (rails && per_rail == 0 && load.ring > 0) {
    load.even_share = evenly_spread_ring(lanes, links) / load.ring;
  }
  return load;
}

FabricLoad routed_fabric_load(const Lanes& lanes, const LinkTable& links) {
  FabricLoad load = load_of(RoutedLoad(lanes, links));
  load.torus = RoutedLoad(lanes, links).torus_seconds();
  return load;
}

std::optional<TorusBox> torus_box(const Lanes& lanes, const Cluster& cluster) {
  if (cluster.fabric.topology != Topology::torus || lanes.nodes() == 1) return std::nullopt;
  std::vector<int> places;
  for (int node = 0; node < lanes.nodes(); ++node) {
    places.push_back(cluster.place_of(cluster.node_of(lanes.gpu(node, 0))));
  }
  return TorusBox::of(places, cluster);
}

FabricLoad scaled(FabricLoad load, double lanes) {
  for (const auto field : kFabricLoads) load.*field *= lanes;
  return load;
}

LongestWay longest_way(const Lanes& lanes, const LinkTable& links) {
  LongestWay longest;
  const auto look_at = [&](int src, int dst) {
    longest.hops = std::max(longest.hops, links.switch_hops(src, dst));
    longest.extra_latency_s = std::max(longest.extra_latency_s, links.extra_latency_s(src, dst));
  };
  const int n = lanes.nodes();
  if (n == 1) return longest;
  // In a tree the longest path from one node is the longest overall, and paths to all nodes below
  // one bundle are equally long.
  if (is_tree(links.cluster().fabric.topology)) {
    const auto& tree = static_cast<const TreeLinks&>(links.fabric());
    for (int lane = 0; lane < lanes.lanes; ++lane) {
      int last = -1;
      for (int to = 1; to < n; ++to) {
        const int bundle = tree.up_link(0, nic_of(links.cluster(), lanes.gpu(to, lane)));
        if (std::exchange(last, bundle) != bundle) look_at(lanes.gpu(0, lane), lanes.gpu(to, lane));
      }
    }
    return longest;
  }
  const auto distances = sampled_distances(n, most_distances(lanes));
  for (int lane = 0; lane < lanes.lanes; ++lane) {
    for (int from = 0; from < n; ++from) {
      for (const int distance : distances) {
        look_at(lanes.gpu(from, lane), lanes.gpu((from + distance) % n, lane));
      }
    }
  }
  return longest;
}

std::vector<int> sampled_distances(int n, int most) {
  std::vector<int> distances;
  const int count = std::min(n - 1, most);
  for (int i = 0; i < count; ++i) {
    // The golden section moves the positions a little, because evenly spaced ones would stay in
    // step with a torus.
    const double shift = 0.6180339887498949 * i;
    const double at = i + shift - static_cast<int>(shift);
    distances.push_back(1 + static_cast<int>(at * (n - 1) / count));
  }
  return distances;
}

}  // namespace windtunnel
