#include "sim/engine/fold.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "sim/engine/refinement.hpp"
#include "sim/engine/sampled_fold.hpp"

namespace windtunnel {
namespace {

// Without folding everything has a different colour.
std::vector<Colour> all_different(size_t count) {
  std::vector<Colour> colours(count);
  std::iota(colours.begin(), colours.end(), Colour{0});
  return colours;
}

void fold_ranks(const Plan& plan, const std::vector<Colour>& colours, Folding& folding) {
  const std::vector<ClassMember> of_rank = class_of_rank(plan);
  Numbering numbering;
  folding.representative.resize(plan.ranks);
  for (RankId rank = 0; rank < plan.ranks; ++rank) {
    const std::int32_t number = numbering.number(colours[rank]);
    if (number == static_cast<std::int32_t>(folding.ranks.size())) {
      folding.ranks.push_back({rank, of_rank[rank].rank_class, of_rank[rank].member, 0});
    }
    ++folding.ranks[number].multiplicity;
    folding.representative[rank] = number;
  }
}

void fold_groups(const std::vector<Colour>& colours, Folding& folding) {
  Numbering numbering;
  for (size_t g = 0; g < colours.size(); ++g) {
    const std::int32_t number = numbering.number(colours[g]);
    if (number == static_cast<std::int32_t>(folding.groups.size())) {
      folding.groups.push_back(static_cast<std::int32_t>(g));
    }
    folding.group_of.push_back(number);
  }
}

// Returns for each link of the table the folded link that it represents; -1: another link of its
// colour represents the folded link.
std::vector<std::int32_t> fold_links(const FlowTable& flows, const std::vector<Colour>& colours,
                                     std::vector<std::int32_t>& number_of_link, Folding& folding) {
  Numbering numbering;
  std::vector<std::int32_t> represents(colours.size(), -1);
  for (size_t l = 0; l < colours.size(); ++l) {
    const std::int32_t number = numbering.number(colours[l]);
    number_of_link.push_back(number);
    if (number == static_cast<std::int32_t>(folding.capacity.size())) {
      represents[l] = number;
      folding.capacity.push_back(flows.capacity[l]);
      if (!flows.bursts.empty()) folding.bursts.push_back(flows.bursts[l]);
      folding.largest_amount.push_back(0);
    }
    double& largest = folding.largest_amount[number];
    largest = std::max(largest, flows.largest_amount[l]);
  }
  return represents;
}

// [flow] its owner. Only the owner that puts the largest load on a link counts there. Empty: no
// flows are left out.
using Owners = std::vector<std::int64_t>;

// Ranks in step with each other own their messages together, and a group inside a replica owns its
// collectives. All other flows have one common owner.
Owners owners_of(const Plan& plan, const FlowTable& flows) {
  Owners owners(flows.flows(), -1);
  for (size_t c = 0; c < plan.classes.size(); ++c) {
    const std::vector<RankId>& members = plan.classes[c].members;
    for (const FlowIndex first : flows.classes[c].message) {
      if (first < 0) continue;
      for (size_t i = 0; i < members.size(); ++i) owners[first + i] = members[i] / plan.in_step;
    }
  }
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    if (of_replicas(plan.groups[g])) continue;
    for (const FlowTable::Pattern& pattern : flows.groups[g].patterns) {
      for (size_t e = 0; e < pattern.pipelined.size(); ++e) {
        owners[pattern.first_flow + e] = static_cast<std::int64_t>(g);
      }
    }
  }
  return owners;
}

struct OwnedLoad {
  FlowLoad load;
  std::int64_t owner = 0;
  auto place() const { return std::tuple(load.flow, load.link.link, owner); }
};

// Returns for each flow and link the largest load that one owner puts there.
std::vector<FlowLoad> loads_of_one(std::vector<OwnedLoad> owned) {
  std::ranges::sort(owned, {}, &OwnedLoad::place);
  std::vector<FlowLoad> loads;
  for (size_t i = 0; i < owned.size();) {
    FlowLoad sum = owned[i].load;
    const size_t first = i++;
    for (; i < owned.size() && owned[i].place() == owned[first].place(); ++i) {
      sum.link.weight += owned[i].load.link.weight;
    }
    const bool known =
        !loads.empty() && loads.back().flow == sum.flow && loads.back().link.link == sum.link.link;
    if (!known) loads.push_back(sum);
    std::int32_t& most = loads.back().link.weight;
    most = std::max(most, sum.link.weight);
  }
  return loads;
}

// Makes routes of folded flows: on a link colour, the load of all flows of a colour on one link.
void fold_flows(const FlowTable& flows, const std::vector<Colour>& flow_colours,
                const std::vector<Colour>& link_colours, const Owners& owners, Folding& folding) {
  std::vector<std::int32_t> number_of_link;
  const std::vector<std::int32_t> represents =
      fold_links(flows, link_colours, number_of_link, folding);

  Numbering numbering;
  for (const Colour colour : flow_colours) folding.flow_of.push_back(numbering.number(colour));

  std::vector<FlowLoad> loads;
  std::vector<OwnedLoad> owned;
  for (FlowIndex flow = 0; flow < flows.flows(); ++flow) {
    for (const WeightedLink& link : flows.route(flow)) {
      if (represents[link.link] < 0) continue;
      const FlowLoad load{folding.flow_of[flow], {represents[link.link], link.weight}};
      if (owners.empty()) {
        loads.push_back(load);
      } else {
        owned.push_back({load, owners[flow]});
      }
    }
  }
  if (!owners.empty()) loads = loads_of_one(std::move(owned));
  lay_routes(std::move(loads), numbering.count(), folding);
}

}  // namespace

Folding fold(const Plan& plan, const Cluster& cluster, const FlowTable& flows, FoldMode mode,
             const FoldLimits& limits) {
  Folding folding;
  if (mode == FoldMode::none) {
    fold_ranks(plan, all_different(plan.ranks), folding);
    fold_groups(all_different(plan.groups.size()), folding);
    fold_flows(flows, all_different(flows.flows()), all_different(flows.capacity.size()), {},
               folding);
    merge_alike_links(folding);
    return folding;
  }
  const Colours colours = refined_colours(plan, cluster, flows, ChosenWays::tell_apart);
  fold_ranks(plan, colours.ranks, folding);
  const auto unlike = static_cast<std::int64_t>(folding.ranks.size());
  // Links with bursts are not sampled, because each of the links that one represents has different
  // bursts.
  const bool samples = mode == FoldMode::automatic && flows.bursts.empty();
  if (samples && unlike > limits.unlike_ranks) {
    Folding sampled = sampled_fold(plan, cluster, flows, limits.sampled_ranks);
    sampled.sampled_of = unlike;
    if (std::ssize(sampled.ranks) < unlike) return sampled;
  }
  fold_groups(colours.groups, folding);
  fold_flows(flows, colours.flows, colours.links, {}, folding);
  merge_alike_links(folding);
  return folding;
}

Folding fold_of_one_replica(const Plan& plan, const Cluster& cluster, const FlowTable& flows) {
  const Colours colours = refined_colours(plan, cluster, flows, ChosenWays::tell_apart);
  Folding folding;
  fold_ranks(plan, colours.ranks, folding);
  fold_groups(colours.groups, folding);
  fold_flows(flows, colours.flows, colours.links, owners_of(plan, flows), folding);
  merge_alike_links(folding);
  return folding;
}

bool of_replicas(const Group& group) {
  return group.axis == Category::dp || group.axis == Category::snapshot;
}

}  // namespace windtunnel
