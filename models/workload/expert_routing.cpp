#include "models/workload/expert_routing.hpp"

#include <algorithm>
#include <cmath>
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

// Share of the fullest of `ranks` equal parts of the shares in random order, on average.
double fullest(std::vector<double> shares, int ranks) {
  constexpr int kOrders = 32;
  const std::size_t part = shares.size() / ranks;
  RandomStream random(0, RandomPurpose::expert_order, 0);
  double sum = 0;
  for (int order = 0; order < kOrders; ++order) {
    for (std::size_t i = shares.size(); i > 1; --i)
      std::swap(shares[i - 1], shares[random.below(i)]);
    double most = 0;
    for (auto begin = shares.begin(); begin != shares.end();) {
      const auto end = begin + static_cast<std::ptrdiff_t>(part);
      most = std::max(most, std::accumulate(begin, end, 0.0));
      begin = end;
    }
    sum += most;
  }
  return sum / kOrders;
}

}  // namespace

ExpertLoad expert_load(const MixtureOfExperts& moe, int ranks) {
  if (ranks == 1) return {};
  if (moe.zipf == 0) return {0, moe.imbalance};
  std::vector<double> shares = popularity(moe);
  const auto hot_end = shares.begin() + std::min(moe.hot_experts, moe.experts);
  ExpertLoad load;
  load.hot = std::accumulate(shares.begin(), hot_end, 0.0);
  std::fill(shares.begin(), hot_end, 0.0);  // none of their copies travels
  load.received = fullest(std::move(shares), ranks) * ranks;
  return load;
}

}  // namespace windtunnel
