// Flows as weights on links, and the two reductions after which only links that can bind are left.
// Both are exact: the set of rates that the links allow stays the same, so max-min sharing does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace windtunnel {

using FlowIndex = std::int32_t;

// A link under a flow that lays `weight` units of its rate on it.
struct WeightedLink {
  std::int32_t link = 0;
  std::int32_t weight = 1;
  bool operator==(const WeightedLink&) const = default;
};

// Others' traffic that comes in bursts: index into FabricSpec::background, -1: none; and what tells
// the link from others of the machine.
struct LinkBurst {
  std::int32_t load = -1;
  std::uint32_t link = 0;
  double most = 0;  // the largest share of the bandwidth that others take
  bool operator==(const LinkBurst&) const = default;
};

struct FlowRoutes {
  std::vector<std::uint32_t> first_link{0};  // [flow + 1]
  std::vector<WeightedLink> links;           // of a flow, no link twice
  std::vector<double> capacity;              // [link], between bursts
  std::vector<LinkBurst> bursts;             // [link]; empty: none has any
  std::vector<double> largest_amount;        // [link], of a flow that uses it

  FlowIndex flows() const { return static_cast<FlowIndex>(first_link.size() - 1); }
  std::span<const WeightedLink> route(FlowIndex flow) const {
    return {links.data() + first_link[flow], links.data() + first_link[flow + 1]};
  }
};

// What a flow lays on a link, or a part of it.
struct FlowLoad {
  FlowIndex flow = 0;
  WeightedLink link;
};

// Appends the routes of flows 0 to `flows` - 1. On each link a flow has the sum of its loads there.
void lay_routes(std::vector<FlowLoad> loads, FlowIndex flows, FlowRoutes& routes);

// Ways from end to end, before they make up flows: each carries `share` of its flow over all of its
// links, in order.
struct Ways {
  std::vector<std::uint32_t> first_link{0};  // [way + 1]
  std::vector<std::int32_t> links;
  std::vector<double> share;  // [way]

  std::int32_t count() const { return static_cast<std::int32_t>(share.size()); }
  std::span<const std::int32_t> links_of(std::int32_t way) const {
    return {links.data() + first_link[way], links.data() + first_link[way + 1]};
  }
};

// The smallest number that makes a whole one of every share.
std::int32_t whole_unit(const Ways& ways);

// Drops inner links that cannot be the bottleneck: the links before (or behind) them, where all
// their ways begin (or end), have no more capacity together. `least`: the share of a link that is
// left in bursts.
void drop_bounded_links(Ways& ways, const std::vector<double>& capacity,
                        const std::vector<double>& least);

// Links that all flows load in the same proportion are one, the tightest (but those with bursts);
// the common divisor of the weights on a link goes into its capacity. Links that no flow uses go.
// [link]: as which one it stays; -1: it goes.
std::vector<std::int32_t> merge_alike_links(FlowRoutes& routes);

}  // namespace windtunnel
