#include "sim/engine/way_loads.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "models/plan/task_cost.hpp"

namespace windtunnel {
namespace {

// Returns the time that the busiest stream of any rank takes without its transfers.
double busiest_stream_s(const Plan& plan) {
  double longest = 0;
  for (const RankClass& rank_class : plan.classes) {
    std::vector<double> seconds(rank_class.streams.size(), 0);
    for (const Task& task : rank_class.tasks) seconds[task.stream] += total_seconds(task.cost);
    for (const double stream : seconds) longest = std::max(longest, stream);
  }
  return longest;
}

struct SampledFlow {
  FlowIndex flow = 0;
  WayLoads::Way way;
};

// Returns the mean path of these flows, weighted by the part of each that is simulated.
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

WayLoads::WayLoads(const Plan& plan, const FlowTable& flows, const std::vector<Colour>& kinds,
                   const std::vector<char>& in_pipeline, double duration_s)
    : flows_(flows),
      kinds_(kinds),
      in_pipeline_(in_pipeline),
      amount_(flows.flows(), 0),
      duration_s_(std::max(duration_s, busiest_stream_s(plan))) {
  add_amounts(plan);
  add_loads();
  std::vector<double> busy(flows.capacity.size(), 0);
  for (const Load& load : loads_) busy[load.link] += load.busy_s;
  for (const double seconds : busy) duration_s_ = std::max(duration_s_, seconds);
}

void WayLoads::add_amounts(const Plan& plan) {
  for (size_t c = 0; c < plan.classes.size(); ++c) {
    const RankClass& rank_class = plan.classes[c];
    const FlowTable::ClassFlows& own = flows_.classes[c];
    const auto add_to_members = [&](FlowIndex first, double amount) {
      for (size_t i = 0; i < rank_class.members.size(); ++i) amount_[first + i] += amount;
    };
    std::vector<double> messages(own.message.size(), 0);
    // Each class states the full amounts of its groups, so their maximum over the classes is taken.
    std::vector<double> of_groups(amount_.size(), 0);
    for (size_t t = 0; t < rank_class.tasks.size(); ++t) {
      const Task& task = rank_class.tasks[t];
      if (task.kind == TaskKind::send) messages[task.peer_slot] += task.bytes;
      for (size_t f = 0; f < task.flows.size(); ++f) {
        add_to_members(own.demand[t][f], task.flows[f].amount);
      }
      const std::int32_t collective = flows_.collective_of[c][t];
      if (collective < 0) continue;
      add_collective(rank_class.groups[task.group_slot], collective, task.bytes, of_groups);
    }
    for (size_t s = 0; s < messages.size(); ++s) {
      if (own.message[s] >= 0) add_to_members(own.message[s], messages[s]);
    }
    for (size_t f = 0; f < amount_.size(); ++f) amount_[f] = std::max(amount_[f], of_groups[f]);
  }
}

void WayLoads::add_collective(std::vector<std::int32_t> groups, std::int32_t collective,
                              double bytes, std::vector<double>& amounts) const {
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  for (const std::int32_t group : groups) {
    const FlowTable::GroupFlows& own = flows_.groups[group];
    const FlowTable::Pattern& pattern = own.patterns[own.pattern_of_collective[collective]];
    for (size_t e = 0; e < pattern.pipelined.size(); ++e) {
      amounts[pattern.first_flow + e] += pattern.pipelined[e].bytes * bytes;
    }
  }
}

void WayLoads::add_loads() {
  for (FlowIndex flow = 0; flow < flows_.flows(); ++flow) {
    for (const WeightedLink& link : flows_.route(flow)) {
      if (!flows_.chosen[link.link]) continue;
      loads_.push_back({link.link, kinds_[flow], in_pipeline_[flow] != 0,
                        static_cast<double>(link.weight), busy_s(flow, link)});
    }
  }
  std::ranges::stable_sort(loads_, {},
                           [](const Load& load) { return std::tuple(load.link, load.kind); });
  size_t kept = 0;
  for (const Load& load : loads_) {
    if (kept > 0 && loads_[kept - 1].link == load.link && loads_[kept - 1].kind == load.kind) {
      loads_[kept - 1].weight += load.weight;
      loads_[kept - 1].busy_s += load.busy_s;
    } else {
      loads_[kept++] = load;
    }
  }
  loads_.resize(kept);
  first_.assign(flows_.capacity.size() + 1, 0);
  for (const Load& load : loads_) ++first_[load.link + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

double WayLoads::share_left(double busy_s, double weight, double all_weight) const {
  return std::max(1 - busy_s / duration_s_, 1 - weight / all_weight);
}

WayLoads::Way WayLoads::slowest_way(FlowIndex flow) const {
  Way slowest;
  for (const WeightedLink& link : flows_.route(flow)) {
    if (!flows_.chosen[link.link]) continue;
    double own = 0, others = 0, others_s = 0;
    for (std::uint32_t i = first_[link.link]; i < first_[link.link + 1]; ++i) {
      if (loads_[i].kind == kinds_[flow]) {
        own = loads_[i].weight;
      } else if (in_pipeline_[flow] || loads_[i].in_pipeline) {
        others += loads_[i].weight;
        others_s += loads_[i].busy_s;
      }
    }
    const Way way{link.link, link.weight, own / link.weight,
                  flows_.capacity[link.link] * share_left(others_s, others, own + others)};
    if (way.seconds_per_unit() > slowest.seconds_per_unit()) slowest = way;
  }
  return slowest;
}

// Sorts the flows of a kind by the number that share their link, and cuts them into groups: a group
// ends when it has as many flows as its mean number. Flows with equal numbers are in pseudo-random
// order. Otherwise pipelines that share one link would share all and stay in step.
std::vector<SharedWay> shared_ways(const std::vector<FlowIndex>& sampled,
                                   const std::vector<Colour>& kinds, const WayLoads& loads) {
  std::map<Colour, std::vector<SampledFlow>> by_kind;
  for (const FlowIndex flow : sampled) {
    const WayLoads::Way way = loads.slowest_way(flow);
    if (way.link >= 0) by_kind[kinds[flow]].push_back({flow, way});
  }
  std::vector<SharedWay> ways;
  for (auto& [kind, flows] : by_kind) {
    std::ranges::stable_sort(flows, std::greater(), [](const SampledFlow& flow) {
      return std::pair(flow.way.flows, mix_colour(static_cast<Colour>(flow.flow)));
    });
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
