#include "models/machine/fabrics/dragonfly.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"

namespace windtunnel {
namespace {

// Returns the index of `other` in a list that leaves `self` out; skipped() is the inverse.
int skipping(int self, int other) {
  return other < self ? other : other - 1;
}
int skipped(int self, int index) {
  return index < self ? index : index + 1;
}

class DragonflyLinks final : public FabricLinks {
 public:
  explicit DragonflyLinks(const Cluster& cluster)
      : nodes_(cluster.fabric_nodes()),
        nics_(cluster.nics_per_node()),
        nodes_per_router_(cluster.fabric.nodes_per_router),
        routers_(cluster.fabric.routers_per_group),
        local_Bps_(cluster.fabric.local_Bps.value),
        global_Bps_(cluster.fabric.global_Bps.value) {
    if (nodes_per_router_ < 1) throw Error("a dragonfly needs 'nodes_per_router' of at least 1");
    if (routers_ < 1) throw Error("a dragonfly needs 'routers_per_group' of at least 1");
    groups_ = (nodes_ - 1) / (nodes_per_router_ * routers_) + 1;
    if (routers_ > 1 && local_Bps_ <= 0) {
      throw Error("a dragonfly needs 'local', the bandwidth between two routers of a group");
    }
    if (groups_ > 1 && global_Bps_ <= 0) {
      throw Error("a dragonfly needs 'global', the bandwidth between two groups");
    }
    gateways_ = groups_ > 1 ? std::max(1, routers_ / (groups_ - 1)) : 1;
    adaptive_ = cluster.fabric.routing == Routing::adaptive;
    cables_ = joins_bundles(cluster.fabric.routing) ? 1 : gateways_;
    faults_ = LinkFaults(cluster.fabric, DragonflyLinks::count(),
                         [this](int link) { return DragonflyLinks::name(link); });
    check_joined();
  }

  int count() const override { return locals() + groups_ * (groups_ - 1) * cables_; }

  double capacity(int link) const override {
    const double whole_Bps = link < locals() ? local_Bps_ : global_Bps_ / cables_;
    return whole_Bps * faults_.factor(link);
  }

  std::string name(int link) const override {
    if (link < locals()) {
      const int from = link / (routers_ - 1) % routers_;
      return fmt::format("local {} from {} to {}", link / (routers_ - 1) / routers_, from,
                         skipped(from, link % (routers_ - 1)));
    }
    const int bundle = (link - locals()) / cables_;
    const int from = bundle / (groups_ - 1);
    const std::string name =
        fmt::format("global {} to {}", from, skipped(from, bundle % (groups_ - 1)));
    return cables_ == 1 ? name : fmt::format("{} cable {}", name, (link - locals()) % cables_);
  }

  int paths(int src_nic, int dst_nic) const override {
    if (!faults_.any_failed()) {
      return direct_ways(src_nic, dst_nic) + (adaptive_ ? detours(src_nic, dst_nic) : 0);
    }
    return std::max(1, static_cast<int>(open_ways(src_nic, dst_nic).size()));
  }

  void append_route(int src_nic, int dst_nic, int path, std::vector<int>& route) const override {
    const int from = router_of(src_nic);
    const int to = router_of(dst_nic);
    if (!faults_.any_failed()) return append_way(from, to, path, route);
    const std::vector<int> open = open_ways(src_nic, dst_nic);
    if (!open.empty()) return append_way(from, to, open[path], route);
    const std::vector<int> way =
        shortest_way(groups_ * routers_, from, to,
                     [this](int router, std::vector<Step>& steps) { append_steps(router, steps); });
    route.insert(route.end(), way.begin(), way.end());
  }

  // A route of n cables passes n + 1 routers.
  int switch_hops(int src_nic, int dst_nic) const override {
    std::vector<int> route;
    append_route(src_nic, dst_nic, 0, route);
    return static_cast<int>(route.size()) + 1;
  }

  // Returns a cut around each group and each router, with all bundles that leave it.
  std::vector<FabricCut> cuts() const override {
    std::vector<int> router_of_node(nodes_);
    std::vector<int> group_of_node(nodes_);
    for (int node = 0; node < nodes_; ++node) {
      router_of_node[node] = node / nodes_per_router_;
      group_of_node[node] = router_of_node[node] / routers_;
    }
    FabricCut groups("bundles of group", std::move(group_of_node), groups_);
    FabricCut routers("cables of router", std::move(router_of_node), groups_ * routers_);
    for (int link = 0; link < locals(); ++link) {
      const int from = link / (routers_ - 1);
      const int to = from - from % routers_ + skipped(from % routers_, link % (routers_ - 1));
      routers.add_link(from, to, capacity(link));
    }
    for (int source = 0; source < groups_; ++source) {
      for (int target = 0; target < groups_; ++target) {
        if (source != target) add_bundle(source, target, groups, routers);
      }
    }
    return {std::move(groups), std::move(routers)};
  }

 private:
  // A link may stand for cables of several routers; each of these routers can use all of it.
  void add_bundle(int source, int target, FabricCut& groups, FabricCut& routers) const {
    for (int cable = 0; cable < gateways_; ++cable) {
      const double bandwidth_Bps = capacity(global_link(source, target, cable));
      if (cable < cables_) groups.add_link(source, target, bandwidth_Bps);
      routers.add_link(source * routers_ + gateway(source, target, cable),
                       target * routers_ + gateway(target, source, cable), bandwidth_Bps);
    }
  }

  int router_of(int nic) const { return nic / nics_ / nodes_per_router_; }
  int locals() const { return groups_ * routers_ * (routers_ - 1); }

  int direct_ways(int src_nic, int dst_nic) const {
    return router_of(src_nic) / routers_ == router_of(dst_nic) / routers_ ? 1 : cables_;
  }

  // Counts the paths through a third group or, inside a group, through a third router.
  int detours(int src_nic, int dst_nic) const {
    const int from = router_of(src_nic);
    const int to = router_of(dst_nic);
    if (from == to) return 0;
    return (from / routers_ == to / routers_ ? routers_ : groups_) - 2;
  }

  // Ways are numbered: first the direct ones, then the detours. Detours are counted from the
  // sender's router on, so that the senders of a group use different ones.
  void append_way(int from, int to, int way, std::vector<int>& route) const {
    const int source = from / routers_;
    const int target = to / routers_;
    if (source == target) {
      const int at = way == 0 ? from : third_router(from, to, way - 1);
      append_local(from, at, route);
      return append_local(at, to, route);
    }
    if (way < cables_) {
      append_local(append_global(from, target, way, route), to, route);
      return;
    }
    const int others = groups_ - 2;
    const int third = (from % routers_ + way - cables_) % others;
    const int first = std::min(source, target);
    const int group = skipped(std::max(source, target), skipped(first, third));
    int at = append_global(from, group, 0, route);
    at = append_global(at, target, 0, route);
    append_local(at, to, route);
  }

  int third_router(int from, int to, int index) const {
    const int ahead = (to - from + routers_) % routers_;  // both are in one group
    const int step = index + 1 < ahead ? index + 1 : index + 2;
    return from - from % routers_ + (from % routers_ + step) % routers_;
  }

  void append_local(int from, int to, std::vector<int>& route) const {
    if (from != to)
      route.push_back(from * (routers_ - 1) + skipping(from % routers_, to % routers_));
  }

  // Appends the links from a router to its group's gateway and over the bundle; returns the router
  // at the other end. Way 0 uses the gateway that the router's position selects, or the router
  // itself if it is one.
  int append_global(int from, int target, int way, std::vector<int>& route) const {
    const int source = from / routers_;
    const int cable = cable_of(from, target, way);
    const int gate = source * routers_ + gateway(source, target, cable);
    append_local(from, gate, route);
    route.push_back(global_link(source, target, cable));
    return target * routers_ + gateway(target, source, cable);
  }

  int cable_of(int from, int target, int way) const {
    const int first = gateway(from / routers_, target, 0);
    return ((from % routers_ - first + routers_) % routers_ + way) % gateways_;
  }

  // The router in group `group` that cable `cable` to group `other` is attached to.
  int gateway(int group, int other, int cable) const {
    const int ahead = (other - group + groups_) % groups_ - 1;
    return (ahead * gateways_ + cable) % routers_;
  }

  int global_link(int source, int target, int cable) const {
    const int bundle = source * (groups_ - 1) + skipping(source, target);
    return locals() + bundle * cables_ + (cables_ == 1 ? 0 : cable);
  }

  // Returns the direct paths without a failed link or, if the whole bundle failed, the paths
  // through a third group. Under adaptive routing it returns both.
  std::vector<int> open_ways(int src_nic, int dst_nic) const {
    const int from = router_of(src_nic);
    const int to = router_of(dst_nic);
    const int direct = direct_ways(src_nic, dst_nic);
    if (adaptive_) return open_among(from, to, 0, direct + detours(src_nic, dst_nic));
    if (!bundle_failed(from / routers_, to / routers_)) return open_among(from, to, 0, direct);
    return open_among(from, to, direct, direct + groups_ - 2);
  }

  bool bundle_failed(int source, int target) const {
    if (source == target) return false;
    for (int cable = 0; cable < cables_; ++cable) {
      if (!faults_.failed(global_link(source, target, cable))) return false;
    }
    return true;
  }

  std::vector<int> open_among(int from, int to, int first, int end) const {
    std::vector<int> open;
    std::vector<int> route;
    for (int way = first; way < end; ++way) {
      route.clear();
      append_way(from, to, way, route);
      const bool cut = std::any_of(route.begin(), route.end(),
                                   [this](int link) { return faults_.failed(link); });
      if (!cut) open.push_back(way);
    }
    return open;
  }

  void append_steps(int router, std::vector<Step>& steps) const {
    const int group = router / routers_;
    for (int i = 0; i < routers_ - 1; ++i) {
      const int link = router * (routers_ - 1) + i;
      if (!faults_.failed(link)) {
        steps.push_back({link, group * routers_ + skipped(router % routers_, i)});
      }
    }
    for (int i = 0; i < groups_ - 1; ++i) {
      const int target = skipped(group, i);
      for (int cable = 0; cable < gateways_; ++cable) {
        const int link = global_link(group, target, cable);
        if (gateway(group, target, cable) != router % routers_ || faults_.failed(link)) continue;
        steps.push_back({link, target * routers_ + gateway(target, group, cable)});
      }
    }
  }

  void check_joined() const {
    if (!faults_.any_failed()) return;
    const int used = (nodes_ - 1) / nodes_per_router_ + 1;
    const auto [from, to] = cut_pair(
        groups_ * routers_,
        [this](int router, std::vector<Step>& steps) { append_steps(router, steps); },
        [used](int router) { return router < used; });
    if (from < 0) return;
    throw Error(fmt::format("the failed links leave no path from node {} to node {}",
                            from * nodes_per_router_, to * nodes_per_router_));
  }

  int nodes_ = 1;
  int nics_ = 1;
  int nodes_per_router_ = 1;
  int routers_ = 1;  // of a group
  int groups_ = 1;
  int gateways_ = 1;  // number of routers of a group that a bundle is attached to
  bool adaptive_ = false;
  int cables_ = 1;  // links of a bundle: one under spray, else one of each gateway
  double local_Bps_ = 0;
  double global_Bps_ = 0;
  LinkFaults faults_;
};

}  // namespace

std::unique_ptr<const FabricLinks> make_dragonfly_links(const Cluster& cluster) {
  return std::make_unique<DragonflyLinks>(cluster);
}

}  // namespace windtunnel
