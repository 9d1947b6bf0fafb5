#include "sim/engine/refinement.hpp"

#include <bit>
#include <utility>

#include "models/plan/kernel_pace.hpp"

namespace windtunnel {
namespace {

Colour join(Colour sequence, Colour next) {
  return mix_colour(sequence * 3 + next);
}
Colour of_number(double x) {
  return mix_colour(std::bit_cast<Colour>(x));
}

class Refinement {
 public:
  Refinement(const Plan& plan, const Cluster& cluster, const FlowTable& flows, ChosenWays ways)
      : plan_(plan),
        flows_(flows),
        ignore_chosen_(ways == ChosenWays::ignored),
        rank_(plan.ranks),
        group_(plan.groups.size()),
        link_(flows.capacity.size()),
        flow_(flows.flows()) {
    KernelPace pace(plan, cluster);
    for (size_t c = 0; c < plan.classes.size(); ++c) {
      for (RankId rank : plan.classes[c].members) {
        rank_[rank] = mix_colour(c);
        for (const double slowdown : pace.slowdowns(rank)) {
          rank_[rank] = join(rank_[rank], of_number(slowdown));
        }
      }
    }
    for (size_t l = 0; l < link_.size(); ++l) link_[l] = of_number(flows.capacity[l]);
    for (size_t l = 0; l < flows.bursts.size(); ++l) {  // each link has different bursts
      if (flows.bursts[l].load >= 0) link_[l] = join(link_[l], mix_colour(flows.bursts[l].link));
    }
    for (size_t g = 0; g < group_.size(); ++g)
      group_[g] = mix_colour(plan.groups[g].members.size());
  }

  // In every round the new colour of an element is a function of its old colour and of its
  // surroundings, so colours only split. When none has split, the partition is equitable. Colours
  // of flows are not counted, because they are a function of the other colours.
  Colours run() {
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
    return {std::move(rank_), std::move(group_), std::move(link_), std::move(flow_)};
  }

 private:
  bool ignored(std::int32_t link) const { return ignore_chosen_ && flows_.chosen[link]; }

  // All links of a flow are treated alike, because sharing does not depend on the order in which a
  // flow crosses them.
  void colour_flow(FlowIndex flow, Colour owner) {
    Colour route = 0;
    for (const WeightedLink& link : flows_.route(flow)) {
      if (ignored(link.link)) continue;
      route += link.weight * mix_colour(link_[link.link]);
    }
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
      for (size_t s = 0; s < own.message.size(); ++s) colour_members(own.message[s], mix_colour(s));
      for (size_t t = 0; t < own.demand.size(); ++t) {
        for (size_t f = 0; f < own.demand[t].size(); ++f) {
          colour_members(own.demand[t][f], join(mix_colour(t + 1000003), f));
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
      const Colour colour = mix_colour(flow_[flow]);
      for (const WeightedLink& link : flows_.route(flow)) load[link.link] += link.weight * colour;
    }
    for (size_t l = 0; l < link_.size(); ++l) {
      if (!ignored(static_cast<std::int32_t>(l))) link_[l] = join(link_[l], load[l]);
    }
  }

  // All members of a group are treated alike, because the position on a ring makes no difference.
  void colour_groups() {
    std::vector<Colour> content(group_.size(), 0);
    for (const RankClass& rank_class : plan_.classes) {
      for (size_t s = 0; s < rank_class.groups.size(); ++s) {
        for (size_t i = 0; i < rank_class.members.size(); ++i) {
          content[rank_class.groups[s][i]] += mix_colour(join(rank_[rank_class.members[i]], s));
        }
      }
    }
    for (size_t g = 0; g < group_.size(); ++g) {
      for (const FlowTable::Pattern& pattern : flows_.groups[g].patterns) {
        for (size_t e = 0; e < pattern.pipelined.size(); ++e) {
          content[g] += mix_colour(flow_[pattern.first_flow + e] ^ 0x5bd1e995);
        }
      }
      group_[g] = join(group_[g], content[g]);
    }
  }

  // Returns the flows of its messages, then those that its tasks demand. They are found once per
  // class, because a search of thousands of tasks for a million members takes long.
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

  // Uses the old colours of the peers, so that the order of the ranks does not matter.
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
  bool ignore_chosen_ = false;
  std::vector<Colour> rank_, group_, link_, flow_;
};

}  // namespace

std::int64_t distinct(const std::vector<Colour>& colours) {
  Numbering numbering;
  for (Colour colour : colours) numbering.number(colour);
  return numbering.count();
}

Colours refined_colours(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
                        ChosenWays ways) {
  return Refinement(plan, cluster, flows, ways).run();
}

}  // namespace windtunnel
