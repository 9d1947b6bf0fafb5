#include "sim/engine/shared_ways.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <span>

namespace windtunnel {
namespace {

struct SampledFlow {
  FlowIndex flow = 0;
  WayLoads::Way way;
};

// The mean way of theirs, by which part of its flows are here.
SharedWay way_of(std::span<const SampledFlow> sampled) {
  SharedWay way{sampled.front().way.link, 0, {}};
  double in_truth = 0;
  for (const SampledFlow& flow : sampled) {
    way.flows.push_back({flow.flow, flow.way.weight});
    way.capacity += flow.way.capacity;
    in_truth += flow.way.flows;
  }
  way.capacity *= static_cast<double>(sampled.size()) / in_truth;
  return way;
}

}  // namespace

// The flows of a kind by the number that share their ways, cut where a group has reached its mean.
std::vector<SharedWay> shared_ways(const std::vector<FlowIndex>& sampled,
                                   const std::vector<Colour>& kinds, const WayLoads& loads) {
  std::map<Colour, std::vector<SampledFlow>> by_kind;
  for (const FlowIndex flow : sampled) {
    const WayLoads::Way way = loads.slowest_way(flow);
    if (way.link >= 0) by_kind[kinds[flow]].push_back({flow, way});
  }
  std::vector<SharedWay> ways;
  for (auto& [kind, flows] : by_kind) {
    std::ranges::stable_sort(flows, std::greater(),
                             [](const SampledFlow& flow) { return flow.way.flows; });
    for (size_t first = 0; first < flows.size();) {
      double in_truth = 0;
      size_t last = first;
      do {
        in_truth += flows[last++].way.flows;
      } while (last < flows.size() &&
               static_cast<double>((last - first) * (last - first)) < in_truth - 1e-9);
      ways.push_back(way_of({flows.data() + first, flows.data() + last}));
      first = last;
    }
  }
  return ways;
}

}  // namespace windtunnel
