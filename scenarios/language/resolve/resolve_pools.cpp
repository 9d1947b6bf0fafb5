// Nodes of several kinds, from checked values: the pools of a machine, and their common properties.
#include <fmt/format.h>

#include <algorithm>

#include "models/machine/fabrics/job_places.hpp"
#include "scenarios/language/resolve/resolve.hpp"
#include "scenarios/language/text/choices.hpp"

namespace windtunnel {
namespace {

std::string pool_key(int pool, std::string_view name) {
  return fmt::format("cluster.pools.{}.{}", pool, name);
}

// Checks the properties that all pools of a machine must share.
void check_alike(const Values& values, const std::vector<Pool>& pools) {
  const NodeSpec& first = pools.front().node;
  for (int i = 1; i < std::ssize(pools); ++i) {
    const NodeSpec& node = pools[i].node;
    const auto fail = [&](std::string_view what) {
      throw Error(
          values.fault_at(pool_key(i, "node")),
          fmt::format("{}: {} has {} than {} of pool '{}'; all nodes of a job need the same number "
                      "of GPUs, joined in the same way",
                      pool_key(i, "node"), node.name, what, first.name, pools.front().name));
    };
    if (node.gpus != first.gpus) {
      fail(fmt::format("another number of GPUs ({} instead of {})", node.gpus, first.gpus));
    }
    if (node.gpu_path != first.gpu_path) fail("another path between its GPUs");
    if (node.package_gpus != first.package_gpus) fail("other packages of GPUs");
    for (int other = 0; other < i; ++other) {
      if (pools[other].name != pools[i].name) continue;
      values.fail(pool_key(i, "name"), fmt::format("is also the name of cluster.pools.{}", other));
    }
  }
}

void resolve_common(const Values& values, const EvidenceList& evidence, Cluster& cluster) {
  const std::string path = "cluster.common";
  if (!cluster.networks_differ()) return;
  if (!values.stated(path)) {
    throw Error(values.fault_at("cluster.pools"),
                "pools on different networks need a network in common; add e.g. 'common: "
                "{bandwidth: 25 Gb/s}' to cluster");
  }
  override_members(path, values, evidence, cluster.common);
}

}  // namespace

void resolve_pools(const Values& values, const EvidenceList& evidence, Cluster& cluster) {
  int nodes = 0;
  for (int i = 0; i < values.length("cluster.pools"); ++i) {
    Pool& pool = cluster.pools.emplace_back();
    values.fill(fmt::format("cluster.pools.{}", i), pool);
    pool.node = resolve_node(values, evidence, pool_key(i, "node"));
    nodes += pool.nodes;
  }
  for (const char* key : {"cluster.node", "cluster.fabric.nodes"}) {
    if (!values.stated(key)) continue;
    values.fail(key, "cluster.pools already says which nodes there are; keep one of them");
  }
  check_alike(values, cluster.pools);
  if (!values.has("cluster.nodes")) cluster.nodes = nodes;
  if (cluster.nodes > nodes) {
    values.fail("cluster.nodes", fmt::format("is {}, but cluster.pools have {} nodes together",
                                             cluster.nodes, nodes));
  }
  cluster.machine_nodes = nodes;
  cluster.node = cluster.shared = shared_node(cluster.pools);
  resolve_common(values, evidence, cluster);
}

void keep_to_pools_in_use(Cluster& cluster) {
  const std::vector<bool> used = pools_in_use(cluster);
  std::vector<Pool> pools;
  for (std::size_t pool = 0; pool < used.size(); ++pool) {
    if (used[pool]) pools.push_back(cluster.pools[pool]);
  }
  if (!pools.empty()) cluster.node = cluster.shared = shared_node(pools);
}

std::vector<Calibration> resolve_pool_calibrations(const Values& values, const Cluster& cluster,
                                                   NamedFiles& files) {
  std::vector<Calibration> calibrations;
  for (int i = 0; i < std::ssize(cluster.pools); ++i) {
    calibrations.push_back(resolve_calibration(values, pool_key(i, "calibration"),
                                               cluster.pools[i].node, cluster.fabric.transport,
                                               files));
  }
  return calibrations;
}

}  // namespace windtunnel
