#include "models/machine/fabrics/job_places.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "models/machine/fabrics/sites.hpp"

namespace windtunnel {
namespace {

// The order takes the first node of every part, then the second of every part, and so on.
std::vector<int> in_turn(const std::vector<std::vector<int>>& parts) {
  std::vector<int> order;
  bool more = true;
  for (std::size_t i = 0; more; ++i) {
    more = false;
    for (const std::vector<int>& part : parts) {
      if (i >= part.size()) continue;
      order.push_back(part[i]);
      more = true;
    }
  }
  return order;
}

// A part has this number of consecutive nodes; 0 means that the fabric has no parts.
int nodes_per_part(const FabricSpec& fabric) {
  switch (fabric.topology) {
    case Topology::clos:
      return fabric.nodes_per_leaf;
    case Topology::rail_fat_tree:
    case Topology::fat_tree:
    case Topology::rail_only:
      return fabric.nodes_per_pod;
    case Topology::dragonfly:
      return fabric.nodes_per_router * fabric.routers_per_group;
    case Topology::torus:
    case Topology::sites:
    case Topology::graph:
      break;
  }
  return 0;
}

}  // namespace

std::vector<std::vector<int>> fabric_parts(const Cluster& machine) {
  std::vector<std::vector<int>> parts;
  const int per_part = nodes_per_part(machine.fabric);
  // Leaves are numbered anew in every pod, and the last one may be smaller.
  const bool leaves = machine.fabric.topology == Topology::clos;
  const int pod = leaves && machine.fabric.nodes_per_pod > 0 ? machine.fabric.nodes_per_pod : 0;
  int last = -1;
  for (int node = 0; node < machine.fabric_nodes(); ++node) {
    const int within = pod > 0 ? node % pod : node;
    const bool first_of_part = per_part > 0 && within % per_part == 0;
    const int site = site_of(machine, node);
    if (parts.empty() || first_of_part || site != last) parts.emplace_back();
    parts.back().push_back(node);
    last = site;
  }
  return parts;
}

std::vector<bool> pools_in_use(const Cluster& cluster) {
  std::vector<bool> used(cluster.pools.size(), false);
  for (int node = 0; node < cluster.nodes && !used.empty(); ++node) {
    used[cluster.pool_of_place(cluster.place_of(node))] = true;
  }
  return used;
}

namespace {

// Gives out nodes of the machine in the order in which jobs choose, from one pool or from any.
class FreeNodes {
 public:
  FreeNodes(const Cluster& machine, std::vector<int> order, std::vector<char> taken)
      : machine_(machine),
        order_(std::move(order)),
        taken_(std::move(taken)),
        next_(machine.pools.size() + 1, 0) {}

  // `pool`: -1 stands for any.
  int take(int pool) {
    for (std::size_t& next = next_[pool + 1]; next < order_.size(); ++next) {
      const int node = order_[next];
      if (pool >= 0 && machine_.pool_of_place(node) != pool) continue;
      if (std::exchange(taken_[node], 1) == 0) return node;
    }
    CHECK(false, "more nodes are asked for than there are");
    return -1;
  }

 private:
  const Cluster& machine_;
  std::vector<int> order_;
  std::vector<char> taken_;
  std::vector<std::size_t> next_;  // [pool + 1] in the order
};

}  // namespace

std::vector<std::vector<int>> places_of_jobs(const Cluster& machine, JobPlacement placement,
                                             const std::vector<int>& nodes,
                                             std::vector<std::vector<int>> stated,
                                             const std::vector<std::vector<int>>& wanted) {
  CHECK(stated.size() == nodes.size(), "{} placements of {} jobs", stated.size(), nodes.size());
  std::vector<char> taken(machine.fabric_nodes(), 0);
  for (const std::vector<int>& places : stated) {
    for (const int place : places) {
      CHECK(!std::exchange(taken[place], 1), "node {} has two jobs", place);
    }
  }
  std::vector<int> order(taken.size());
  std::iota(order.begin(), order.end(), 0);
  if (placement == JobPlacement::spread) order = in_turn(fabric_parts(machine));
  FreeNodes free(machine, std::move(order), std::move(taken));
  const auto wants = [&](std::size_t job) { return !wanted.empty() && !wanted[job].empty(); };
  const auto take = [&](std::size_t job) {
    stated[job].push_back(free.take(wants(job) ? wanted[job][stated[job].size()] : -1));
  };
  for (const bool wanting : {true, false}) {
    std::vector<std::size_t> choosing;  // jobs without given places
    for (std::size_t job = 0; job < nodes.size(); ++job) {
      if (wants(job) == wanting && std::ssize(stated[job]) < nodes[job]) choosing.push_back(job);
    }
    const bool in_turn = placement == JobPlacement::interleaved;
    while (!choosing.empty()) {
      for (const std::size_t job : choosing) {
        do take(job);
        while (!in_turn && std::ssize(stated[job]) < nodes[job]);
      }
      std::erase_if(choosing,
                    [&](std::size_t job) { return std::ssize(stated[job]) == nodes[job]; });
    }
  }
  return stated;
}

}  // namespace windtunnel
