#include "policies/outer/island_nodes.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "policies/exchange/replica_groups.hpp"

namespace windtunnel {

std::vector<int> first_islands(const Job& job) {
  std::vector<int> of_node(job.cluster.nodes, -1);
  std::vector<int> first(job.layout.islands());
  std::iota(first.begin(), first.end(), 0);
  const auto root = [&](int island) {
    while (first[island] != island) island = first[island];
    return island;
  };
  const auto ranks = island_ranks(job.layout);
  for (int island = 0; island < std::ssize(ranks); ++island) {
    for (const int rank : ranks[island]) {
      int& owner = of_node[job.cluster.node_of(rank)];
      if (owner < 0) owner = island;
      const int one = root(owner);
      const int other = root(island);
      first[std::max(one, other)] = std::min(one, other);
    }
  }
  for (int& owner : of_node) owner = owner < 0 ? 0 : root(owner);
  return of_node;
}

int islands_apart(const Job& job) {
  const std::vector<int> of_node = first_islands(job);
  return static_cast<int>(std::set(of_node.begin(), of_node.end()).size());
}

bool goes_on_by_islands(const Job& job) {
  if (job.recovery.elastic.groups > 0) return false;
  const int apart = islands_apart(job);
  const int islands = job.layout.islands();
  const bool paths = !job.layout.path_modules.empty();
  return apart > 1 && islands % apart == 0 && (!paths || apart == islands);
}

}  // namespace windtunnel
