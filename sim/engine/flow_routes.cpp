#include "sim/engine/flow_routes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

bool repeats_a_link(std::span<const std::int32_t> way) {
  for (size_t i = 1; i < way.size(); ++i) {
    if (std::find(way.begin(), way.begin() + i, way[i]) != way.begin() + i) return true;
  }
  return false;
}

std::vector<std::int32_t> ways_by_end_link(const Ways& ways, size_t links, bool first) {
  std::vector<std::uint32_t> start(links + 1, 0);
  const auto end_link = [&](std::int32_t way) {
    const std::span<const std::int32_t> route = ways.links_of(way);
    return first ? route.front() : route.back();
  };
  for (std::int32_t way = 0; way < ways.count(); ++way) {
    if (!ways.links_of(way).empty()) ++start[end_link(way) + 1];
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::int32_t> order(start.back());
  for (std::int32_t way = 0; way < ways.count(); ++way) {
    if (!ways.links_of(way).empty()) order[start[end_link(way)]++] = way;
  }
  return order;
}

// Returns for each link the total capacity of the distinct first (or last) links of the paths
// through it. Infinite: the link itself is first (last) in a path, or a path repeats a link.
std::vector<double> bound_of_links(const Ways& ways, const std::vector<double>& capacity,
                                   bool first) {
  std::vector<double> bound(capacity.size(), 0);
  std::vector<std::int32_t> counted(capacity.size(), -1);
  for (const std::int32_t way : ways_by_end_link(ways, capacity.size(), first)) {
    const std::span<const std::int32_t> route = ways.links_of(way);
    const std::int32_t end = first ? route.front() : route.back();
    const bool repeats = repeats_a_link(route);
    for (const std::int32_t link : route) {
      if (link == end || repeats) {
        bound[link] = std::numeric_limits<double>::infinity();
      } else if (counted[link] != end) {
        counted[link] = end;
        bound[link] += capacity[end];
      }
    }
  }
  return bound;
}

struct Use {
  FlowIndex flow = 0;
  std::int32_t weight = 0;
  bool operator==(const Use&) const = default;
};

// Which flows use a link, ascending, and in which proportion, in lowest terms.
struct Uses {
  std::vector<std::uint32_t> first;  // [link + 1]
  std::vector<Use> uses;
  std::vector<std::int32_t> divisor;  // [link] the common divisor of its weights; 0: not used

  std::span<const Use> of(std::int32_t link) const {
    return {uses.data() + first[link], uses.data() + first[link + 1]};
  }
};

Uses uses_of_links(const FlowRoutes& routes) {
  Uses result;
  const size_t links = routes.capacity.size();
  result.first.assign(links + 1, 0);
  result.divisor.assign(links, 0);
  for (const WeightedLink& link : routes.links) {
    ++result.first[link.link + 1];
    std::int32_t& divisor = result.divisor[link.link];
    divisor = std::gcd(divisor, link.weight);
  }
  std::partial_sum(result.first.begin(), result.first.end(), result.first.begin());
  result.uses.resize(routes.links.size());
  std::vector<std::uint32_t> next(result.first.begin(), result.first.end() - 1);
  for (FlowIndex flow = 0; flow < routes.flows(); ++flow) {
    for (const WeightedLink& link : routes.route(flow)) {
      result.uses[next[link.link]++] = {flow, link.weight / result.divisor[link.link]};
    }
  }
  return result;
}

// Returns for each link the lowest link with the same uses.
std::vector<std::int32_t> alike_links(const Uses& uses, const std::vector<LinkBurst>& bursts) {
  const auto links = static_cast<std::int32_t>(uses.divisor.size());
  std::vector<std::pair<std::uint64_t, std::int32_t>> order;  // hash of the uses, link
  for (std::int32_t link = 0; link < links; ++link) {
    if (uses.divisor[link] == 0 || (!bursts.empty() && bursts[link].load >= 0)) continue;
    std::uint64_t hash = 0;
    for (const Use& use : uses.of(link)) {
      const auto both = static_cast<std::uint64_t>(use.flow) << 32 | use.weight;
      hash = (hash ^ both) * 0x9e3779b97f4a7c15ull;
      hash ^= hash >> 29;
    }
    order.emplace_back(hash, link);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> alike(links);
  std::iota(alike.begin(), alike.end(), 0);
  for (size_t i = 1; i < order.size(); ++i) {
    const std::int32_t link = order[i].second;
    const std::int32_t before = alike[order[i - 1].second];
    const bool same =
        order[i].first == order[i - 1].first && std::ranges::equal(uses.of(link), uses.of(before));
    if (same) alike[link] = before;
  }
  return alike;
}

}  // namespace

void lay_routes(std::vector<FlowLoad> loads, FlowIndex flows, FlowRoutes& routes) {
  const auto place = [](const FlowLoad& load) { return std::pair(load.flow, load.link.link); };
  std::ranges::sort(loads, {}, place);
  size_t next = 0;
  for (FlowIndex flow = 0; flow < flows; ++flow) {
    while (next < loads.size() && loads[next].flow == flow) {
      WeightedLink sum{loads[next].link.link, 0};
      const auto here = place(loads[next]);
      for (; next < loads.size() && place(loads[next]) == here; ++next) {
        sum.weight += loads[next].link.weight;
      }
      routes.links.push_back(sum);
    }
    routes.first_link.push_back(static_cast<std::uint32_t>(routes.links.size()));
  }
}

std::int32_t whole_unit(const Ways& ways) {
  constexpr std::int32_t kMost = 1 << 20;
  std::int64_t unit = 1;
  for (const double share : ways.share) {
    std::int32_t parts = 1;
    const auto whole = [](double x) { return std::abs(x - std::round(x)) < 1e-9; };
    if (whole(share * static_cast<double>(unit))) continue;
    while (!whole(share * parts)) ++parts;
    unit = std::lcm(unit, std::int64_t{parts});
    CHECK(unit < kMost, "ways of a {}th share among {} parts", parts, unit);
  }
  return static_cast<std::int32_t>(unit);
}

void drop_bounded_links(Ways& ways, const std::vector<double>& capacity,
                        const std::vector<double>& least) {
  const std::vector<double> before = bound_of_links(ways, capacity, true);
  const std::vector<double> behind = bound_of_links(ways, capacity, false);
  std::uint32_t kept = 0;
  std::uint32_t begin = 0;
  for (std::int32_t way = 0; way < ways.count(); ++way) {
    const std::uint32_t end = ways.first_link[way + 1];
    for (std::uint32_t i = begin; i < end; ++i) {
      const std::int32_t link = ways.links[i];
      const bool inner = i > begin && i + 1 < end;
      const double enough = least[link] * (1 + 1e-12);
      if (inner && (before[link] <= enough || behind[link] <= enough)) continue;
      ways.links[kept++] = link;
    }
    begin = end;
    ways.first_link[way + 1] = kept;
  }
  ways.links.resize(kept);
}

std::vector<std::int32_t> merge_alike_links(FlowRoutes& routes) {
  const Uses uses = uses_of_links(routes);
  const std::vector<std::int32_t> alike = alike_links(uses, routes.bursts);
  std::vector<std::int32_t> number(alike.size(), -1);  // new numbers of the links that stay
  std::vector<double> capacity;
  std::vector<double> largest_amount;
  std::vector<LinkBurst> bursts;
  for (size_t link = 0; link < alike.size(); ++link) {
    if (uses.divisor[link] == 0) continue;
    const double own = routes.capacity[link] / uses.divisor[link];
    std::int32_t& stays = number[alike[link]];
    if (stays < 0) {
      stays = static_cast<std::int32_t>(capacity.size());
      capacity.push_back(own);
      largest_amount.push_back(0);
      if (!routes.bursts.empty()) bursts.push_back(routes.bursts[alike[link]]);
    }
    capacity[stays] = std::min(capacity[stays], own);
    largest_amount[stays] = std::max(largest_amount[stays], routes.largest_amount[link]);
  }
  std::uint32_t kept = 0;
  std::uint32_t begin = 0;
  for (FlowIndex flow = 0; flow < routes.flows(); ++flow) {
    const std::uint32_t end = routes.first_link[flow + 1];
    for (std::uint32_t i = begin; i < end; ++i) {
      const WeightedLink link = routes.links[i];
      if (alike[link.link] != link.link) continue;
      routes.links[kept++] = {number[link.link], link.weight / uses.divisor[link.link]};
    }
    begin = end;
    routes.first_link[flow + 1] = kept;
  }
  routes.links.resize(kept);
  routes.links.shrink_to_fit();
  routes.bursts = std::move(bursts);
  routes.capacity = std::move(capacity);
  routes.largest_amount = std::move(largest_amount);
  for (size_t link = 0; link < alike.size(); ++link) number[link] = number[alike[link]];
  return number;
}

}  // namespace windtunnel
