#include "models/workload/expert_routing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

std::vector<double> popularity(const MixtureOfExperts& moe) {
  std::vector<double> shares(moe.experts);
  for (int i = 0; i < moe.experts; ++i) shares[i] = std::pow(i + 1, -moe.zipf);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

// Sums of the `ranks` equal parts of the shares.
std::vector<double> parts_of(const std::vector<double>& shares, int ranks) {
  const std::size_t part = shares.size() / ranks;
  std::vector<double> parts(ranks);
  for (std::size_t i = 0; i < shares.size(); ++i) parts[i / part] += shares[i];
  return parts;
}

// Of random orders of the shares, the parts of the one whose fullest is nearest to their mean.
std::vector<double> usual_parts(std::vector<double> shares, int ranks) {
  constexpr int kOrders = 32;
  RandomStream random(0, RandomPurpose::expert_order, 0);
  std::vector<std::vector<double>> orders;
  double mean = 0;
  for (int order = 0; order < kOrders; ++order) {
    for (std::size_t i = shares.size(); i > 1; --i)
      std::swap(shares[i - 1], shares[random.below(i)]);
    orders.push_back(parts_of(shares, ranks));
    mean += std::ranges::max(orders.back()) / kOrders;
  }
  return *std::ranges::min_element(orders, {}, [&](const std::vector<double>& parts) {
    return std::abs(std::ranges::max(parts) - mean);
  });
}

// Of a random order of its own; layer 0 draws the first one behind those of usual_parts().
std::vector<double> parts_of_layer(std::vector<double> shares, int ranks, int layer) {
  RandomStream random(0, RandomPurpose::expert_order, static_cast<std::uint64_t>(layer) + 1);
  for (std::size_t i = shares.size(); i > 1; --i) std::swap(shares[i - 1], shares[random.below(i)]);
  return parts_of(shares, ranks);
}

// Ways to choose `some` of `all`.
double choices(int all, int some) {
  return std::exp(std::lgamma(all + 1) - std::lgamma(some + 1) - std::lgamma(all - some + 1));
}

}  // namespace

double places_met(const MixtureOfExperts& moe, int places) {
  const double draws = moe.per_token;
  if (moe.groups <= 1) return places * (1 - std::pow(1 - 1. / places, draws));
  // Groups of which a place has experts, and its share of each.
  const int of_place = std::max(1, moe.groups / places);
  const double share = std::min(1., static_cast<double>(moe.groups) / places);
  const int chosen = moe.groups_per_token;
  double missed = 0;
  for (int met = 0; met <= std::min(of_place, chosen); ++met) {
    if (chosen - met > moe.groups - of_place) continue;
    const double likely = choices(of_place, met) * choices(moe.groups - of_place, chosen - met) /
                          choices(moe.groups, chosen);
    missed += likely * std::pow(1 - share * met / chosen, draws);
  }
  return places * (1 - missed);
}

ExpertLoad expert_load(const MixtureOfExperts& moe, int ranks) {
  if (ranks == 1) return {};
  if (moe.zipf == 0) return {0, moe.imbalance};
  std::vector<double> shares = popularity(moe);
  const auto hot_end = shares.begin() + std::min(moe.hot_experts, moe.experts);
  ExpertLoad load;
  load.hot = std::accumulate(shares.begin(), hot_end, 0.0);
  std::fill(shares.begin(), hot_end, 0.0);  // none of their copies travels
  load.by_rank = moe.orders == PopularityOrder::one
                     ? usual_parts(std::move(shares), ranks)
                     : parts_of_layer(std::move(shares), ranks, moe.layer);
  load.received = std::ranges::max(load.by_rank) * ranks;
  for (double& part : load.by_rank) part *= ranks / std::max(1 - load.hot, 1e-12);
  return load;
}

}  // namespace windtunnel
