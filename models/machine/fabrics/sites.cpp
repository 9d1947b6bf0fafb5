#include "models/machine/fabrics/sites.hpp"

#include <fmt/format.h>

#include <set>

#include "models/base/error.hpp"
#include "models/machine/fabrics/link_faults.hpp"

namespace windtunnel {
namespace {

class SitesLinks final : public FabricLinks {
 public:
  explicit SitesLinks(const Cluster& cluster)
      : nics_(cluster.nics_per_node()),
        wan_Bps_(cluster.fabric.wan_Bps.value),
        wan_latency_s_(cluster.fabric.wan_latency_s.value) {
    check_sites(cluster);
    int end = 0;
    for (const SiteSpec& site : cluster.fabric.sites) {
      end += site.nodes;
      ends_.push_back(end);
      names_.push_back(site.name.empty() ? std::to_string(names_.size()) : site.name);
    }
    faults_ = LinkFaults(cluster.fabric, SitesLinks::count(),
                         [this](int link) { return SitesLinks::name(link); });
    check_joined();
  }

  int count() const override { return static_cast<int>(2 * ends_.size()); }
  double capacity(int link) const override { return wan_Bps_ * faults_.factor(link); }
  std::string name(int link) const override {
    return fmt::format("site-{} {}", link % 2 == 0 ? "up" : "down", names_[link / 2]);
  }

  int paths(int /*src_nic*/, int /*dst_nic*/) const override { return 1; }

  void append_route(int src_nic, int dst_nic, int /*path*/,
                    std::vector<int>& route) const override {
    const int source = site_of_nic(src_nic);
    const int target = site_of_nic(dst_nic);
    if (source == target) return;
    route.push_back(2 * source);
    route.push_back(2 * target + 1);
  }

  // A path between sites passes the tree of each site and the network that connects them.
  int switch_hops(int src_nic, int dst_nic) const override {
    return site_of_nic(src_nic) == site_of_nic(dst_nic) ? 1 : 3;
  }

  double extra_latency_s(int src_nic, int dst_nic) const override {
    return site_of_nic(src_nic) == site_of_nic(dst_nic) ? 0 : wan_latency_s_;
  }

  std::vector<FabricCut> cuts() const override {
    std::vector<int> site_of_node(ends_.back());
    for (int node = 0; node < ends_.back(); ++node) site_of_node[node] = site_of_nic(node * nics_);
    const int sites = static_cast<int>(ends_.size());
    FabricCut cut("access of site", std::move(site_of_node), sites);
    for (int site = 0; site < sites; ++site) {
      cut.out_Bps[site] = capacity(2 * site);
      cut.in_Bps[site] = capacity(2 * site + 1);
    }
    return {std::move(cut)};
  }

 private:
  int site_of_nic(int nic) const {
    const int node = nic / nics_;
    int site = 0;
    while (ends_[site] <= node) ++site;
    return site;
  }

  static void check_sites(const Cluster& cluster) {
    const FabricSpec& fabric = cluster.fabric;
    if (fabric.sites.empty()) throw Error("'sites' needs a list of sites");
    std::set<std::string> names;
    long nodes = 0;
    for (const SiteSpec& site : fabric.sites) {
      if (site.nodes < 1) throw Error(fmt::format("site '{}' has no nodes", site.name));
      if (!site.name.empty() && !names.insert(site.name).second) {
        throw Error(fmt::format("two sites are called '{}'", site.name));
      }
      nodes += site.nodes;
    }
    if (nodes != cluster.fabric_nodes()) {
      throw Error(fmt::format("the sites have {} nodes together, the cluster has {}", nodes,
                              cluster.fabric_nodes()));
    }
    if (fabric.sites.size() > 1 && fabric.wan_Bps.value <= 0) {
      throw Error("more than one site needs 'wan', the bandwidth of a site's access to the others");
    }
  }

  void check_joined() const {
    for (int link = 0; ends_.size() > 1 && link < count(); ++link) {
      if (!faults_.failed(link)) continue;
      const int node = link < 2 ? 0 : ends_[link / 2 - 1];
      const int other = link < 2 ? ends_[0] : 0;
      const bool up = link % 2 == 0;
      throw Error(fmt::format("the failed links leave no path from node {} to node {}",
                              up ? node : other, up ? other : node));
    }
  }

  int nics_ = 1;
  double wan_Bps_ = 0;
  double wan_latency_s_ = 0;
  std::vector<int> ends_;  // first node after each site
  std::vector<std::string> names_;
  LinkFaults faults_;
};

}  // namespace

std::unique_ptr<const FabricLinks> make_site_links(const Cluster& cluster) {
  return std::make_unique<SitesLinks>(cluster);
}

int site_of(const Cluster& cluster, int node) {
  if (cluster.fabric.topology != Topology::sites) return 0;
  int site = 0;
  for (const SiteSpec& each : cluster.fabric.sites) {
    if (node < each.nodes) return site;
    node -= each.nodes;
    ++site;
  }
  return site;
}

}  // namespace windtunnel
