#include "policies/search/state_balance.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "models/plan/state_shares.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/stage_cost.hpp"
#include "policies/lowering/iteration_estimate.hpp"
#include "policies/lowering/prepared_iteration.hpp"

namespace windtunnel {
namespace {

constexpr int kHalvings = 60;

// Returns the largest number up to `high` that fits, found by bisection; 0: none does.
template <class Fits>
double largest(double high, const Fits& fits) {
  if (fits(high)) return high;
  double low = 0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// Returns the number of ranks in each pool that a pipeline rank on several pools has; empty: no
// pipeline rank is on several pools.
std::vector<int> mixed_ranks(const Job& job) {
  std::vector<int> mixed;
  for (int pp = 0; pp < job.layout.pp; ++pp) {
    std::vector<int> own = ranks_by_pool(job, pp);
    if (std::ranges::count(own, 0) == std::ssize(own) - 1) continue;
    if (mixed.empty())
      mixed = std::move(own);
    else
      CHECK(mixed == own, "a pipeline rank is on another mix of pools than the ranks before it");
  }
  return mixed;
}

// Returns the room of a rank of a kind on a pool, in units of its mean state.
double room_for(const Job& job, const ReplicaCosts& costs, int pool, double high) {
  PreparedIteration own;
  own.schedule = costs.schedule;
  own.chunks = costs.chunks;
  own.units = costs.units;
  own.peak_activation_bytes =
      evaluate_schedule(own.schedule, stage_costs(own.units), 0).peak_activation;
  Job seen = job_of_kind(job, costs.kind, pool);
  return largest(high, [&](double factor) {
    seen.layout.state_factors.assign(seen.layout.pp, factor);
    std::vector<GpuMemory> memory = iteration_memory(seen, own);
    for (int pp = 0; pp < seen.layout.pp; ++pp) {
      memory[pp].pool = pool;
      if (costs.kind.pools[pp] == pool && room_bytes(job, memory[pp]) < 0) return false;
    }
    return true;
  });
}

// Returns the room of each pool in `pools`.
std::vector<double> rooms(const Job& job, const PreparedIteration& prepared,
                          std::span<const int> pools, double high) {
  constexpr double kMargin = 1 - 1e-9;  // shares are rounded
  std::vector<double> most;
  for (const int pool : pools) {
    double room = high;
    for (const ReplicaCosts& costs : prepared.kinds) {
      if (std::ranges::count(costs.kind.pools, pool) == 0) continue;
      room = std::min(room, room_for(job, costs, pool, room));
    }
    most.push_back(room < high ? room * kMargin : room);
  }
  return most;
}

double optimizer_s(const Job& job, int pool) {
  return total_seconds(update_cost(1e9, on_pool(job, pool)));
}

}  // namespace

std::vector<double> shares_above(double least, std::span<const int> ranks,
                                 std::span<const double> unit_s, std::span<const double> most) {
  const double all = std::accumulate(ranks.begin(), ranks.end(), 0.0);
  const auto shares_at = [&](double end_s) {
    std::vector<double> shares;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      shares.push_back(std::clamp(end_s / unit_s[i], least, most[i]));
    }
    return shares;
  };
  const auto held = [&](const std::vector<double>& shares) {
    return std::inner_product(shares.begin(), shares.end(), ranks.begin(), 0.0);
  };
  // At this time every pool has reached its largest share.
  double high_s = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) high_s = std::max(high_s, most[i] * unit_s[i]);
  const double end_s = largest(high_s, [&](double s) { return held(shares_at(s)) <= all; });
  return shares_at(end_s);
}

std::vector<double> balanced_state(const Job& job) {
  Job tried = job;
  tried.layout.state_of_pool.clear();
  const std::vector<int> mixed = mixed_ranks(job);
  PreparedIteration prepared = prepare_microbatches(tried);
  std::vector<int> pools;
  std::vector<int> ranks;
  std::vector<double> unit_s;
  for (int pool = 0; pool < std::ssize(mixed); ++pool) {
    if (mixed[pool] == 0) continue;
    pools.push_back(pool);
    ranks.push_back(mixed[pool]);
    unit_s.push_back(optimizer_s(job, pool));
  }
  const double all = std::accumulate(ranks.begin(), ranks.end(), 0.0);
  const std::vector<double> most = rooms(tried, prepared, pools, all);
  // Ranks of pools that no mixed stage uses hold only the state of their stage, whatever the share.
  // A stage on one pool shares its state evenly if the share is not zero.
  constexpr double kLeast = 1e-9;
  const auto by_pool = [&](const std::vector<double>& shares) {
    std::vector<double> result(mixed.size(), 1);
    for (std::size_t i = 0; i < pools.size(); ++i) result[pools[i]] = std::max(kLeast, shares[i]);
    return result;
  };
  if (std::inner_product(most.begin(), most.end(), ranks.begin(), 0.0) < all) return by_pool(most);
  constexpr int kSteps = 8;
  const double even = std::min(1.0, std::ranges::min(most));
  std::vector<double> best;
  double best_s = std::numeric_limits<double>::infinity();
  for (int step = kSteps; step > 0; --step) {
    const double least = even * step / kSteps;
    tried.layout.state_of_pool.clear();
    if (least < 1) tried.layout.state_of_pool = by_pool(shares_above(least, ranks, unit_s, most));
    const double step_s = microbatches_step_s(tried, prepared);
    if (step_s >= best_s * (1 - 1e-9)) continue;
    best_s = step_s;
    best = tried.layout.state_of_pool;
  }
  return best;
}

}  // namespace windtunnel
