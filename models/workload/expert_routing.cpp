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

// Divides the shares into `ranks` parts of equal length and returns the sum of each.
std::vector<double> parts_of(const std::vector<double>& shares, int ranks) {
  const std::size_t part = shares.size() / ranks;
  std::vector<double> parts(ranks);
  for (std::size_t i = 0; i < shares.size(); ++i) parts[i / part] += shares[i];
  return parts;
}

// Draws random orders of the shares. Returns the parts of the order whose largest part is nearest
// to the mean of the largest parts of all orders.
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

// The parts of a layer with a random order of its own. Layer 0 takes the first draw after those of
// usual_parts().
std::vector<double> parts_of_layer(std::vector<double> shares, int ranks, int layer) {
  RandomStream random(0, RandomPurpose::expert_order, static_cast<std::uint64_t>(layer) + 1);
  for (std::size_t i = shares.size(); i > 1; --i) std::swap(shares[i - 1], shares[random.below(i)]);
  return parts_of(shares, ranks);
}

// Ways to choose `some` of `all`.
double choices(int all, int some) {
  return std::exp(std::lgamma(all + 1) - std::lgamma(some + 1) - std::lgamma(all - some + 1));
}

// The groups of experts on a place, if each place has the same number of consecutive experts.
struct GroupsOnPlace {
  int whole = 0;
  std::vector<double> parts;  // shares of groups that are partly on it, two at most
};

GroupsOnPlace groups_on(int groups, int places, int place) {
  GroupsOnPlace on;
  const int begin = place * groups;  // in units of 1 / places of a group
  const int end = begin + groups;
  for (int group = begin / places; group * places < end; ++group) {
    const int common = std::min(end, (group + 1) * places) - std::max(begin, group * places);
    if (common == places) {
      ++on.whole;
    } else {
      on.parts.push_back(static_cast<double>(common) / places);
    }
  }
  return on;
}

// The probability that no expert of a token is on the place.
double missed_by_all(const MixtureOfExperts& moe, const GroupsOnPlace& on) {
  const int chosen = moe.groups_per_token;
  const int parts = static_cast<int>(on.parts.size());
  const int others = moe.groups - on.whole - parts;
  double missed = 0;
  for (int open = 0; open < 1 << parts; ++open) {  // bits: parts in chosen groups
    int taken = 0;
    double share = 0;
    for (int part = 0; part < parts; ++part) {
      if ((open >> part & 1) == 0) continue;
      ++taken;
      share += on.parts[part];
    }
    for (int whole = 0; whole <= std::min(on.whole, chosen - taken); ++whole) {
      const int elsewhere = chosen - taken - whole;
      if (elsewhere > others) continue;
      const double likely =
          choices(on.whole, whole) * choices(others, elsewhere) / choices(moe.groups, chosen);
      missed += likely * std::pow(1 - (share + whole) / chosen, moe.per_token);
    }
  }
  return missed;
}

}  // namespace

double places_met(const MixtureOfExperts& moe, int places) {
  if (moe.groups <= 1) return places * (1 - std::pow(1 - 1. / places, moe.per_token));
  const int alike = std::gcd(moe.groups, places);
  double met = 0;
  for (int place = 0; place < places / alike; ++place) {
    met += 1 - missed_by_all(moe, groups_on(moe.groups, places, place));
  }
  return alike * met;
}

ExpertLoad expert_load(const MixtureOfExperts& moe, int ranks) {
  if (ranks == 1) return {};
  if (moe.zipf == 0) return {0, moe.imbalance};
  std::vector<double> shares = popularity(moe);
  const auto hot_end = shares.begin() + std::min(moe.hot_experts, moe.experts);
  ExpertLoad load;
  load.hot = std::accumulate(shares.begin(), hot_end, 0.0);
  std::fill(shares.begin(), hot_end, 0.0);  // their tokens stay local
  load.by_rank = moe.orders == PopularityOrder::one
                     ? usual_parts(std::move(shares), ranks)
                     : parts_of_layer(std::move(shares), ranks, moe.layer);
  load.received = std::ranges::max(load.by_rank) * ranks;
  for (double& part : load.by_rank) part *= ranks / std::max(1 - load.hot, 1e-12);
  return load;
}

}  // namespace windtunnel
