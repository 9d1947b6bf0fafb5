#include "models/plan/state_shares.hpp"

#include <algorithm>
#include <numeric>

namespace windtunnel {

std::vector<int> ranks_by_pool(const Job& job, int pp) {
  const Cluster& cluster = job.cluster;
  std::vector<int> ranks(cluster.pools.size(), 0);
  const int members = job.layout.ranks() / job.layout.pp;
  const int end = (pp + 1) * members;
  for (int rank = pp * members; rank < end;) {
    const int next = std::min(end, rank + cluster.run_of(rank));
    ranks[cluster.pool_of(rank)] += next - rank;
    rank = next;
  }
  return ranks;
}

double state_factor(const Job& job, int pp, int pool) {
  if (!uneven_state(job)) return 1;
  const std::vector<int> ranks = ranks_by_pool(job, pp);
  const std::vector<double>& shares = job.layout.state_of_pool;
  double all = 0;
  for (std::size_t other = 0; other < ranks.size(); ++other) all += ranks[other] * shares[other];
  return shares[pool] * std::accumulate(ranks.begin(), ranks.end(), 0) / all;
}

namespace {

// [pools with ranks] The factor of each pool that the pipeline rank uses.
std::vector<double> factors(const Job& job, int pp) {
  const std::vector<int> ranks = ranks_by_pool(job, pp);
  std::vector<double> result;
  for (std::size_t pool = 0; pool < ranks.size(); ++pool) {
    if (ranks[pool] > 0) result.push_back(state_factor(job, pp, static_cast<int>(pool)));
  }
  return result;
}

}  // namespace

double largest_state_factor(const Job& job, int pp) {
  return uneven_state(job) ? std::ranges::max(factors(job, pp)) : 1;
}

double uneven_ring_factor(const Job& job, int pp) {
  if (!uneven_state(job)) return 1;
  const int members = job.layout.dp * job.layout.cp;
  return (members - std::ranges::min(factors(job, pp))) / (members - 1);
}

}  // namespace windtunnel
