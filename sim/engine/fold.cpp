#include "sim/engine/fold.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "models/base/error.hpp"
#include "models/plan/kernel_pace.hpp"

namespace windtunnel {
namespace {

using Colour = std::uint64_t;

// Finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA'14): a bijection that scatters every bit.
Colour mix(Colour x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

Colour join(Colour sequence, Colour next) {
  return mix(sequence * 3 + next);
}
Colour of_number(double x) {
  return mix(std::bit_cast<Colour>(x));
}

// Numbers the distinct values by first occurrence. Open addressing in a table that grows with them:
// a million colours are counted several times, and few of them differ where folding pays, so that
// they stay in the cache.
class Numbering {
 public:
  std::int32_t number(Colour colour) {
    Slot& slot = slot_of(colour);
    if (slot.number >= 0) return slot.number;
    slot = {colour, count_++};
    if (2 * static_cast<size_t>(count_) > slots_.size()) grow();
    return count_ - 1;
  }
  std::int32_t count() const { return count_; }

 private:
  struct Slot {
    Colour colour = 0;
    std::int32_t number = -1;
  };

  // Its own, or the free one that it would take.
  Slot& slot_of(Colour colour) {
    const size_t mask = slots_.size() - 1;
    size_t i = mix(colour) & mask;
    while (slots_[i].number >= 0 && slots_[i].colour != colour) i = (i + 1) & mask;
    return slots_[i];
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number >= 0) slot_of(slot.colour) = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two
  std::int32_t count_ = 0;
};

std::int64_t distinct(const std::vector<Colour>& colours) {
  Numbering numbering;
  for (Colour colour : colours) numbering.number(colour);
  return numbering.count();
}

class Refinement {
 public:
  Refinement(const Plan& plan, const Cluster& cluster, const FlowTable& flows)
      : plan_(plan),
        flows_(flows),
        rank_(plan.ranks),
        group_(plan.groups.size()),
        link_(flows.capacity.size()),
        flow_(flows.flows()) {
    KernelPace pace(plan, cluster);
    for (size_t c = 0; c < plan.classes.size(); ++c) {
      for (RankId rank : plan.classes[c].members) {
        rank_[rank] = mix(c);
        for (const double slowdown : pace.slowdowns(rank)) {
          rank_[rank] = join(rank_[rank], of_number(slowdown));
        }
      }
    }
    for (size_t l = 0; l < link_.size(); ++l) link_[l] = of_number(flows.capacity[l]);
    for (size_t g = 0; g < group_.size(); ++g) group_[g] = mix(plan.groups[g].members.size());
  }

  // Every round makes each colour a function of its old value and of its surroundings, so colours
  // only split; when none did, the partition is equitable. Flows need no count: their colour is a
  // function of the others'.
  void run() {
    std::int64_t before = 0;
    for (;;) {
      colour_flows();
      colour_links();
      colour_groups();
      colour_ranks();
      const std::int64_t colours = distinct(rank_) + distinct(group_) + distinct(link_);
      if (colours == before) break;
      before = colours;
    }
    colour_flows();
  }

  const std::vector<Colour>& ranks() const { return rank_; }
  const std::vector<Colour>& groups() const { return group_; }
  const std::vector<Colour>& links() const { return link_; }
  const std::vector<Colour>& flows() const { return flow_; }

 private:
  // Alike in all links: sharing does not know in which order a flow passes them.
  void colour_flow(FlowIndex flow, Colour owner) {
    Colour route = 0;
    for (const WeightedLink& link : flows_.route(flow))
      route += link.weight * mix(link_[link.link]);
    flow_[flow] = join(owner, route);
  }

  void colour_flows() {
    for (size_t c = 0; c < plan_.classes.size(); ++c) {
      const std::vector<RankId>& members = plan_.classes[c].members;
      const auto colour_members = [&](FlowIndex first, Colour kind) {
        if (first < 0) return;
        for (size_t i = 0; i < members.size(); ++i) {
          colour_flow(first + static_cast<FlowIndex>(i), join(rank_[members[i]], kind));
        }
      };
      const FlowTable::ClassFlows& own = flows_.classes[c];
      for (size_t s = 0; s < own.message.size(); ++s) colour_members(own.message[s], mix(s));
      for (size_t t = 0; t < own.demand.size(); ++t) {
        for (size_t f = 0; f < own.demand[t].size(); ++f) {
          colour_members(own.demand[t][f], join(mix(t + 1000003), f));
        }
      }
    }
    for (size_t g = 0; g < group_.size(); ++g) {
      const std::vector<FlowTable::Pattern>& patterns = flows_.groups[g].patterns;
      for (size_t p = 0; p < patterns.size(); ++p) {
        for (size_t e = 0; e < patterns[p].pipelined.size(); ++e) {
          colour_flow(patterns[p].first_flow + static_cast<FlowIndex>(e),
                      join(join(group_[g], p), of_number(patterns[p].pipelined[e].bytes)));
        }
      }
    }
  }

  void colour_links() {
    std::vector<Colour> load(link_.size(), 0);
    for (FlowIndex flow = 0; flow < flows_.flows(); ++flow) {
      const Colour colour = mix(flow_[flow]);
      for (const WeightedLink& link : flows_.route(flow)) load[link.link] += link.weight * colour;
    }
    for (size_t l = 0; l < link_.size(); ++l) link_[l] = join(link_[l], load[l]);
  }

  // Alike in all members: a position on the ring is no difference by itself.
  void colour_groups() {
    std::vector<Colour> content(group_.size(), 0);
    for (const RankClass& rank_class : plan_.classes) {
      for (size_t s = 0; s < rank_class.groups.size(); ++s) {
        for (size_t i = 0; i < rank_class.members.size(); ++i) {
          content[rank_class.groups[s][i]] += mix(join(rank_[rank_class.members[i]], s));
        }
      }
    }
    for (size_t g = 0; g < group_.size(); ++g) {
      for (const FlowTable::Pattern& pattern : flows_.groups[g].patterns) {
        for (size_t e = 0; e < pattern.pipelined.size(); ++e) {
          content[g] += mix(flow_[pattern.first_flow + e] ^ 0x5bd1e995);
        }
      }
      group_[g] = join(group_[g], content[g]);
    }
  }

  // Its messages, then what its tasks demand. Most tasks demand nothing, and to find those that do
  // among thousands for each of a million members would take most of the time.
  static std::vector<FlowIndex> flows_of_first_member(const FlowTable::ClassFlows& own) {
    std::vector<FlowIndex> flows;
    for (const FlowIndex flow : own.message) {
      if (flow >= 0) flows.push_back(flow);
    }
    for (const std::vector<FlowIndex>& task : own.demand) {
      flows.insert(flows.end(), task.begin(), task.end());
    }
    return flows;
  }

  // From the old colours of the peers, so that the order of the ranks does not matter.
  void colour_ranks() {
    std::vector<Colour> next = rank_;
    for (size_t c = 0; c < plan_.classes.size(); ++c) {
      const RankClass& rank_class = plan_.classes[c];
      const std::vector<FlowIndex> first_flows = flows_of_first_member(flows_.classes[c]);
      for (size_t i = 0; i < rank_class.members.size(); ++i) {
        Colour& colour = next[rank_class.members[i]];
        for (const auto& slot : rank_class.groups) colour = join(colour, group_[slot[i]]);
        for (const auto& slot : rank_class.peers) colour = join(colour, rank_[slot[i]]);
        for (const FlowIndex first : first_flows) colour = join(colour, flow_[first + i]);
      }
    }
    rank_ = std::move(next);
  }

  const Plan& plan_;
  const FlowTable& flows_;
  std::vector<Colour> rank_, group_, link_, flow_;
};

// Without folding everything is its own colour.
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

// Representative link of every colour, and which link is one: [link] -> folded link or -1.
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
      folding.largest_amount.push_back(0);
    }
    double& largest = folding.largest_amount[number];
    largest = std::max(largest, flows.largest_amount[l]);
  }
  return represents;
}

// Routes of the folded flows: on each link colour, as many units as the flows of this colour lay on
// one link of it.
void fold_flows(const FlowTable& flows, const std::vector<Colour>& flow_colours,
                const std::vector<Colour>& link_colours, Folding& folding) {
  std::vector<std::int32_t> number_of_link;
  const std::vector<std::int32_t> represents =
      fold_links(flows, link_colours, number_of_link, folding);

  Numbering numbering;
  std::vector<FlowIndex> representative;
  for (FlowIndex flow = 0; flow < flows.flows(); ++flow) {
    const std::int32_t number = numbering.number(flow_colours[flow]);
    if (number == static_cast<std::int32_t>(representative.size())) representative.push_back(flow);
    folding.flow_of.push_back(number);
  }

  struct Load {
    FlowIndex flow;
    WeightedLink link;
  };
  std::vector<Load> loads;  // folded flow, folded link
  for (FlowIndex flow = 0; flow < flows.flows(); ++flow) {
    for (const WeightedLink& link : flows.route(flow)) {
      if (represents[link.link] < 0) continue;
      loads.push_back({folding.flow_of[flow], {represents[link.link], link.weight}});
    }
  }
  const auto place = [](const Load& load) { return std::pair(load.flow, load.link.link); };
  std::ranges::sort(loads, {}, place);
  size_t next = 0;
  for (size_t f = 0; f < representative.size(); ++f) {
    while (next < loads.size() && loads[next].flow == static_cast<FlowIndex>(f)) {
      WeightedLink sum{loads[next].link.link, 0};
      const auto here = place(loads[next]);
      for (; next < loads.size() && place(loads[next]) == here; ++next) {
        sum.weight += loads[next].link.weight;
      }
      folding.links.push_back(sum);
    }
    folding.first_link.push_back(static_cast<std::uint32_t>(folding.links.size()));
  }
}

}  // namespace

Folding fold(const Plan& plan, const Cluster& cluster, const FlowTable& flows, FoldMode mode) {
  Folding folding;
  if (mode == FoldMode::none) {
    fold_ranks(plan, all_different(plan.ranks), folding);
    fold_groups(all_different(plan.groups.size()), folding);
    fold_flows(flows, all_different(flows.flows()), all_different(flows.capacity.size()), folding);
  } else {
    Refinement refinement(plan, cluster, flows);
    refinement.run();
    fold_ranks(plan, refinement.ranks(), folding);
    fold_groups(refinement.groups(), folding);
    fold_flows(flows, refinement.flows(), refinement.links(), folding);
  }
  merge_alike_links(folding);
  return folding;
}

}  // namespace windtunnel
