#include "policies/search/schedule_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

// Slopes and patiences that warm_up_orders() combines. Slope 1 is 1F1B. With slope 2 no rank waits
// for the first input gradient if T_F = T_I. Larger slopes are for messages and for T_I > T_F.
constexpr double kSlopes[] = {1, 1.25, 1.5, 1.75, 2, 2.25, 2.5};
constexpr double kPatiences[] = {1, 0.5, 0};

}  // namespace

std::vector<NamedOrder> warm_up_orders(const ScheduleRequest& request) {
  std::vector<NamedOrder> orders;
  if (request.chunks != 1) return orders;
  const std::vector<StageCost> costs = costs_of(request);
  const int units = request.microbatches;
  for (const double slope : kSlopes) {
    SplitOrder order{empty_schedule("", request).rank_of_stage, {}};
    for (int rank = 0; rank < request.ranks; ++rank) {
      SplitRank& at = order.ranks.emplace_back();
      const int after = request.ranks - 1 - rank;
      double deep = 1 + std::ceil(slope * after - kSlack);
      if (request.memory_limit > 0 && costs[rank].activation > 0) {
        deep = std::min(deep,
                        std::floor(request.memory_limit / costs[rank].activation * (1 + kSlack)));
      }
      const int warm_up = static_cast<int>(std::clamp<double>(deep, 1, units));
      for (int unit = 0; unit < units; ++unit) {
        at.forwards.push_back({rank, unit});
        at.backwards.push_back({rank, unit});
        at.ahead.push_back(std::min(units, warm_up + unit));
      }
    }
    for (const double patience : kPatiences) {
      for (SplitRank& at : order.ranks) at.patience = patience;
      orders.push_back({fmt::format("warm-up {:g}, patience {:g}", slope, patience), order});
    }
  }
  return orders;
}

std::vector<NamedOrder> rounds_orders(const ScheduleRequest& request) {
  std::vector<NamedOrder> orders;
  if (request.chunks != 1 || request.port_s == 0) return orders;
  const int units = request.microbatches;
  double most = units;
  for (const StageCost& cost : costs_of(request)) {
    if (request.memory_limit == 0 || cost.activation <= 0) continue;
    most = std::min(most, std::floor(request.memory_limit / cost.activation * (1 + kSlack)));
  }
  for (int rounds = static_cast<int>(std::ceil(units / std::max(1.0, most)));; rounds *= 2) {
    const int round = (units + rounds - 1) / rounds;
    if (round <= request.ranks) break;
    SplitOrder order{empty_schedule("", request).rank_of_stage, {}};
    for (int rank = 0; rank < request.ranks; ++rank) {
      SplitRank& at = order.ranks.emplace_back();
      at.patience = 0;
      for (int unit = 0; unit < units; ++unit) {
        at.forwards.push_back({rank, unit});
        at.backwards.push_back({rank, unit});
        at.ahead.push_back(std::min(units, (unit / round + 1) * round));
      }
    }
    orders.push_back({fmt::format("rounds of {}", round), std::move(order)});
  }
  return orders;
}

SplitOrder with_forwards_earlier(SplitOrder order, int places) {
  for (SplitRank& rank : order.ranks) {
    const auto forwards = static_cast<int>(rank.forwards.size());
    for (int& ahead : rank.ahead) ahead = std::min(ahead + places, forwards);
  }
  return order;
}

}  // namespace windtunnel
