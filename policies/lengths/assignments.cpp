#include "policies/lengths/assignments.hpp"

#include <algorithm>
#include <utility>

#include "policies/lengths/length_plan.hpp"
#include "policies/lengths/length_pool.hpp"

namespace windtunnel {
namespace {

std::shared_ptr<const PoolCosts> pool_costs(const Job& job, const std::vector<int>& degrees,
                                            double tokens_per_gpu, double measured_per_gpu = 0) {
  auto costs = std::make_shared<PoolCosts>();
  for (const int pool : pools_in_use(job)) {
    costs->emplace(pool,
                   LengthCosts(seen_from(job, pool), degrees, tokens_per_gpu, measured_per_gpu));
  }
  return costs;
}

// Sequences are divided by these: the costs of the slowest pool, with the paces of the others.
LengthCosts shared_costs(const Job& job, const PoolCosts& all) {
  const int slowest = slowest_pool(job);
  LengthCosts costs = all.at(slowest);
  if (slowest < 0) return costs;
  const auto pack_s = [&](int pool) {
    const DegreeCost& cost = all.at(pool).degrees().front();
    return cost.pack_s(cost.capacity, all.at(pool).attention(0, {int(cost.capacity)}).front());
  };
  std::vector<double> paces(pool_gpus(job), 0);
  for (int gpu = 0; gpu < pool_gpus(job); ++gpu) {
    for (const int pool : pools_of_block(job, gpu * job.layout.tp, job.layout.tp)) {
      paces[gpu] = std::max(paces[gpu], pack_s(pool) / pack_s(slowest));
    }
  }
  costs.set_paces(std::move(paces));
  return costs;
}

// Returns an estimate of the step in seconds: a pipeline fills and empties with the longest pack.
double about_s(const Job& job, const LengthPlan& plan) {
  double longest_s = 0;
  for (const auto& round : plan.rounds) {
    for (const LengthPack& pack : round) longest_s = std::max(longest_s, pack.seconds);
  }
  return plan.seconds + (job.layout.pp - 1) * longest_s;
}

// Whether the same GPUs compute the same sequences in the same order.
bool same_packs(const LengthPlan& a, const LengthPlan& b) {
  const auto same_pack = [](const LengthPack& x, const LengthPack& y) {
    return x.first == y.first && x.ranks == y.ranks && x.sequences == y.sequences;
  };
  return std::ranges::equal(a.rounds, b.rounds, [&](const auto& x, const auto& y) {
    return std::ranges::equal(x, y, same_pack);
  });
}

// Keeps the first `most` distinct assignments: if all packs fit, smaller ones give the same.
void keep_first(std::vector<Assignment>& all, std::size_t most) {
  std::vector<Assignment> kept;
  for (Assignment& each : all) {
    if (kept.size() == most) break;
    const bool known = std::ranges::any_of(
        kept, [&](const Assignment& other) { return same_packs(other.plan, each.plan); });
    if (!known) kept.push_back(std::move(each));
  }
  all = std::move(kept);
}

}  // namespace

double fixed_tokens_per_gpu(const Job& job) {
  return double(job.batch.micro) * job.batch.sequence / job.layout.cp;
}

Assignment fixed_assignment(const Job& job, const std::vector<int>& lengths) {
  const auto costs = pool_costs(job, {job.layout.cp}, fixed_tokens_per_gpu(job));
  return {costs, balance_lengths(LengthPolicy::fixed, lengths, job.batch.sequence,
                                 shared_costs(job, *costs))};
}

std::vector<Assignment> assignments(const Job& job, const std::vector<int>& lengths) {
  constexpr int kHalvings = 6;
  const LengthPolicy policy = job.lengths->policy;
  const double room = tokens_per_gpu(job);
  const double fixed_tokens = fixed_tokens_per_gpu(job);
  const std::vector<int> degrees = degrees_of(job);
  // Costs are fitted at the pack size of the fixed assignment, so that its packs cost the same
  // under every policy.
  const auto by_pool = pool_costs(job, degrees, room, std::min(room, fixed_tokens));
  const LengthCosts costs = shared_costs(job, *by_pool);
  const bool halves = policy == LengthPolicy::hdp || job.layout.pp > 1;
  std::vector<Assignment> all;
  double tokens = room;
  for (int i = 0; i <= (halves ? kHalvings : 0); ++i, tokens /= 2) {
    const LengthCosts own = costs.with_room(tokens);
    for (LengthPlan& plan : length_plans(policy, lengths, job.batch.sequence, own)) {
      all.push_back({by_pool, std::move(plan)});
    }
  }
  std::ranges::stable_sort(all, {},
                           [&](const Assignment& each) { return about_s(job, each.plan); });
  // More are kept if the estimate misses how a pipeline fills, or what every pass gathers.
  keep_first(all, job.layout.pp > 1 || in_step(job) ? 3 : 1);
  if (fixed_tokens <= room) all.push_back(fixed_assignment(job, lengths));
  return all;
}

}  // namespace windtunnel
