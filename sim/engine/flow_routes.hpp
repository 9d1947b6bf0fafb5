// Flows as weights on links, and two reductions that remove links that cannot limit any flow. Both
// are exact: they change neither the set of feasible rates nor max-min sharing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace windtunnel {

using FlowIndex = std::int32_t;

// A link that a flow loads with `weight` units of its rate.
struct WeightedLink {
  std::int32_t link = 0;
  std::int32_t weight = 1;
  bool operator==(const WeightedLink&) const = default;
};

// Bursts of other jobs' traffic that a link meets.
struct LinkBurst {
  std::int32_t load = -1;  // index into FabricSpec::background; -1: no bursts
  std::uint32_t link = 0;  // number of the link on the machine
  double most = 0;         // largest share of the bandwidth that others take
  bool operator==(const LinkBurst&) const = default;
};

struct FlowRoutes {
  std::vector<std::uint32_t> first_link{0};  // [flow + 1]
  std::vector<WeightedLink> links;           // the links of each flow, none twice
  std::vector<double> capacity;              // [link], between bursts
  std::vector<LinkBurst> bursts;             // [link]; empty: no link has bursts
  std::vector<double> largest_amount;        // [link] largest amount of any flow that uses it

  FlowIndex flows() const { return static_cast<FlowIndex>(first_link.size() - 1); }
  std::span<const WeightedLink> route(FlowIndex flow) const {
    return {links.data() + first_link[flow], links.data() + first_link[flow + 1]};
  }
};

// Load of a flow, or a part of it, on a link.
struct FlowLoad {
  FlowIndex flow = 0;
  WeightedLink link;
};

// Appends the routes of flows 0 to `flows` - 1. Loads of a flow on the same link are added.
void lay_routes(std::vector<FlowLoad> loads, FlowIndex flows, FlowRoutes& routes);

// Paths from end to end. A flow consists of one or several paths; each carries `share` of the flow
// over all its links, in order.
struct Ways {
  std::vector<std::uint32_t> first_link{0};  // [way + 1]
  std::vector<std::int32_t> links;
  std::vector<double> share;  // [way]

  std::int32_t count() const { return static_cast<std::int32_t>(share.size()); }
  std::span<const std::int32_t> links_of(std::int32_t way) const {
    return {links.data() + first_link[way], links.data() + first_link[way + 1]};
  }
};

// Returns the smallest integer by which every share becomes an integer.
std::int32_t whole_unit(const Ways& ways);

// Drops inner links that cannot be a bottleneck: all their paths begin (or end) at some links
// before (or after) them, and these have no more capacity in total. `least`: the share of a link's
// bandwidth that is left during bursts.
void drop_bounded_links(Ways& ways, const std::vector<double>& capacity,
                        const std::vector<double>& least);

// Merges links that all flows load in the same proportion into the tightest of them (except links
// with bursts). Divides the weights on a link and its capacity by their common divisor. Drops
// unused links. Returns the new number of each link, -1: dropped.
std::vector<std::int32_t> merge_alike_links(FlowRoutes& routes);

}  // namespace windtunnel
