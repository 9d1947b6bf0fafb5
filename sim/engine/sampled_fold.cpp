#include "sim/engine/sampled_fold.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "sim/engine/refinement.hpp"
#include "sim/engine/way_loads.hpp"

namespace windtunnel {
namespace {

struct Pipeline {
  std::vector<RankId> ranks;         // by colour, then number: pipelines of a kind match by index
  std::vector<std::int32_t> groups;  // in the same order, without groups of replicas
  Colour kind = 0;
  double seconds = 0;           // sum of its transfers' times, each over its slowest path
  std::int32_t played_by = -1;  // the simulated pipeline whose times it gets
};

// Returns for each rank the lowest rank to which messages and groups within pipelines join it.
std::vector<RankId> joined_ranks(const Plan& plan) {
  std::vector<RankId> root(plan.ranks);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&root](RankId rank) {
    while (root[rank] != rank) rank = root[rank] = root[root[rank]];
    return rank;
  };
  const auto join = [&](RankId a, RankId b) {
    const auto [low, high] = std::minmax({find(a), find(b)});
    root[high] = low;
  };
  for (const RankClass& rank_class : plan.classes) {
    for (const auto& slot : rank_class.peers) {
      for (size_t i = 0; i < slot.size(); ++i) join(rank_class.members[i], slot[i]);
    }
  }
  for (const Group& group : plan.groups) {
    if (of_replicas(group)) continue;
    for (const RankId member : group.members) join(group.members.front(), member);
  }
  for (RankId rank = 0; rank < plan.ranks; ++rank) root[rank] = find(rank);
  return root;
}

class Sampler {
 public:
  Sampler(const Plan& plan, const FlowTable& flows, const Colours& colours, double duration_s)
      : plan_(plan), flows_(flows), colours_(colours), class_of_(class_of_rank(plan)) {
    find_pipelines();
    find_owners();
    for (const std::int32_t owner : owner_) in_pipeline_.push_back(owner >= 0);
    loads_.emplace(plan, flows, colours.flows, in_pipeline_, duration_s);
  }

  Folding fold(std::int64_t ranks) {
    add_seconds();
    choose_simulated(ranks);
    fold_ranks();
    fold_groups();
    fold_flows();
    keep_links();
    lay_on_kept_links();
    add_shared_ways();
    lay_routes(std::move(routes_), folded_flows_, folding_);
    merge_alike_links(folding_);
    return std::move(folding_);
  }

 private:
  // ---- pipelines, and which of them are simulated ----

  void find_pipelines() {
    const std::vector<RankId> joined = joined_ranks(plan_);
    pipeline_of_.resize(plan_.ranks);
    for (RankId rank = 0; rank < plan_.ranks; ++rank) {
      if (joined[rank] == rank) {
        pipeline_of_[rank] = static_cast<std::int32_t>(pipelines_.size());
        pipelines_.emplace_back();
      }
      pipeline_of_[rank] = pipeline_of_[joined[rank]];
      Pipeline& pipeline = pipelines_[pipeline_of_[rank]];
      pipeline.ranks.push_back(rank);
      pipeline.kind += mix_colour(colours_.ranks[rank]);
    }
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      if (of_replicas(plan_.groups[g])) continue;
      Pipeline& pipeline = pipelines_[pipeline_of_[plan_.groups[g].members.front()]];
      pipeline.groups.push_back(static_cast<std::int32_t>(g));
      pipeline.kind += mix_colour(colours_.groups[g] + 1);
    }
    for (Pipeline& pipeline : pipelines_) {
      std::ranges::stable_sort(pipeline.ranks, {}, [&](RankId r) { return colours_.ranks[r]; });
      std::ranges::stable_sort(pipeline.groups, {}, [&](auto g) { return colours_.groups[g]; });
    }
  }

  // Finds the pipeline of each flow; -1: the flow belongs to a group of replicas.
  void find_owners() {
    owner_.assign(flows_.flows(), -1);
    for_each_of_ranks([&](FlowIndex first, const RankClass& rank_class) {
      for (size_t i = 0; i < rank_class.members.size(); ++i) {
        owner_[first + i] = pipeline_of_[rank_class.members[i]];
      }
    });
    for (size_t p = 0; p < pipelines_.size(); ++p) {
      for (const std::int32_t group : pipelines_[p].groups) {
        for_each_of_group(group, [&](FlowIndex flow) { owner_[flow] = static_cast<int>(p); });
      }
    }
  }

  // Calls `visit` with the first flow of each message and demand, and the class of its ranks.
  template <class Visit>
  void for_each_of_ranks(const Visit& visit) const {
    for (size_t c = 0; c < plan_.classes.size(); ++c) {
      for (const FlowIndex first : flows_.classes[c].message) {
        if (first >= 0) visit(first, plan_.classes[c]);
      }
      for (const std::vector<FlowIndex>& task : flows_.classes[c].demand) {
        for (const FlowIndex first : task) visit(first, plan_.classes[c]);
      }
    }
  }

  template <class Visit>
  void for_each_of_group(std::int32_t group, const Visit& visit) const {
    for (const FlowTable::Pattern& pattern : flows_.groups[group].patterns) {
      for (size_t e = 0; e < pattern.pipelined.size(); ++e) {
        visit(pattern.first_flow + static_cast<FlowIndex>(e));
      }
    }
  }

  void add_seconds() {
    for (FlowIndex flow = 0; flow < flows_.flows(); ++flow) {
      if (owner_[flow] < 0) continue;
      pipelines_[owner_[flow]].seconds +=
          loads_->amount(flow) * loads_->slowest_way(flow).seconds_per_unit();
    }
  }

  void choose_simulated(std::int64_t ranks) {
    std::map<Colour, std::vector<std::int32_t>> kinds;  // the slowest first
    for (size_t p = 0; p < pipelines_.size(); ++p) {
      kinds[pipelines_[p].kind].push_back(static_cast<std::int32_t>(p));
    }
    for (auto& [kind, of_kind] : kinds) {
      std::ranges::stable_sort(of_kind, std::greater(),
                               [&](std::int32_t p) { return pipelines_[p].seconds; });
    }
    const std::int64_t each = sample_of_each(kinds, ranks);
    for (const auto& [kind, of_kind] : kinds) choose_of_kind(of_kind, each);
  }

  std::int64_t sample_of_each(const std::map<Colour, std::vector<std::int32_t>>& kinds,
                              std::int64_t ranks) const {
    const auto needed = [&](std::int64_t each) {
      std::int64_t sum = 0;
      for (const auto& [kind, of_kind] : kinds) {
        sum += std::min<std::int64_t>(each, std::ssize(of_kind)) *
               std::ssize(pipelines_[of_kind.front()].ranks);
      }
      return sum;
    };
    std::int64_t each = 1;
    while (each < std::ssize(pipelines_) && needed(each + 1) <= ranks) ++each;
    return each;
  }

  // The first half of the sample are the slowest pipelines; the second half is spread over the
  // others. One that is not simulated gets the times of the nearest simulated one in that order.
  void choose_of_kind(const std::vector<std::int32_t>& of_kind, std::int64_t most) {
    const std::int64_t count = std::ssize(of_kind);
    const std::int64_t sample = std::min(most, count);
    const std::int64_t slowest = (sample + 1) / 2;
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < slowest; ++i) places.push_back(i);
    for (std::int64_t i = slowest; i < sample; ++i) {
      places.push_back(slowest +
                       (2 * (i - slowest) + 1) * (count - slowest) / (2 * (sample - slowest)));
    }
    size_t nearest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      while (nearest + 1 < places.size() &&
             std::abs(places[nearest + 1] - i) <= std::abs(places[nearest] - i)) {
        ++nearest;
      }
      pipelines_[of_kind[i]].played_by = of_kind[places[nearest]];
    }
  }

  bool simulated(std::int32_t pipeline) const { return pipelines_[pipeline].played_by == pipeline; }

  // ---- ranks, groups and flows ----

  void fold_ranks() {
    played_by_.resize(plan_.ranks);
    for (const Pipeline& pipeline : pipelines_) {
      const Pipeline& other = pipelines_[pipeline.played_by];
      for (size_t i = 0; i < pipeline.ranks.size(); ++i) {
        played_by_[pipeline.ranks[i]] = other.ranks[i];
      }
    }
    std::vector<std::int32_t> number(plan_.ranks, -1);
    for (RankId rank = 0; rank < plan_.ranks; ++rank) {
      if (played_by_[rank] != rank) continue;
      number[rank] = static_cast<std::int32_t>(folding_.ranks.size());
      folding_.ranks.push_back({rank, class_of_[rank].rank_class, class_of_[rank].member, 0});
    }
    for (RankId rank = 0; rank < plan_.ranks; ++rank) {
      folding_.representative.push_back(number[played_by_[rank]]);
      ++folding_.ranks[folding_.representative.back()].multiplicity;
    }
  }

  void fold_groups() {
    group_played_by_.assign(plan_.groups.size(), -1);
    for (const Pipeline& pipeline : pipelines_) {
      const Pipeline& other = pipelines_[pipeline.played_by];
      for (size_t i = 0; i < pipeline.groups.size(); ++i) {
        group_played_by_[pipeline.groups[i]] = other.groups[i];
      }
    }
    std::map<Colour, std::int32_t> first_alike;
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      if (!of_replicas(plan_.groups[g])) continue;
      group_played_by_[g] =
          first_alike.try_emplace(colours_.groups[g], static_cast<int>(g)).first->second;
    }
    std::vector<std::int32_t> number(plan_.groups.size(), -1);
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      if (group_played_by_[g] != static_cast<std::int32_t>(g)) continue;
      number[g] = static_cast<std::int32_t>(folding_.groups.size());
      folding_.groups.push_back(static_cast<std::int32_t>(g));
    }
    for (const std::int32_t by : group_played_by_) folding_.group_of.push_back(number[by]);
  }

  void fold_flows() {
    std::vector<FlowIndex> played_by(flows_.flows(), -1);
    for_each_of_ranks([&](FlowIndex first, const RankClass& rank_class) {
      for (size_t i = 0; i < rank_class.members.size(); ++i) {
        played_by[first + i] = first + class_of_[played_by_[rank_class.members[i]]].member;
      }
    });
    std::map<Colour, FlowIndex> first_alike;
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      if (of_replicas(plan_.groups[g])) {
        for_each_of_group(static_cast<int>(g), [&](FlowIndex flow) {
          played_by[flow] = first_alike.try_emplace(colours_.flows[flow], flow).first->second;
        });
        continue;
      }
      const std::vector<FlowTable::Pattern>& own = flows_.groups[g].patterns;
      const std::vector<FlowTable::Pattern>& other = flows_.groups[group_played_by_[g]].patterns;
      for (size_t p = 0; p < own.size(); ++p) {
        CHECK(own[p].pipelined.size() == other[p].pipelined.size(), "groups {} and {} differ", g,
              group_played_by_[g]);
        for (size_t e = 0; e < own[p].pipelined.size(); ++e) {
          played_by[own[p].first_flow + e] = other[p].first_flow + static_cast<FlowIndex>(e);
        }
      }
    }
    std::vector<FlowIndex> number(flows_.flows(), -1);
    for (FlowIndex flow = 0; flow < flows_.flows(); ++flow) {
      if (played_by[flow] == flow) number[flow] = folded_flows_++;
    }
    for (const FlowIndex by : played_by) folding_.flow_of.push_back(number[by]);
  }

  // ---- links ----

  // All flows of groups of replicas take part, because one flow represents them all.
  bool takes_part(FlowIndex flow) const { return owner_[flow] < 0 || simulated(owner_[flow]); }

  std::int32_t add_link(double capacity, double largest_amount) {
    folding_.capacity.push_back(capacity);
    folding_.largest_amount.push_back(largest_amount);
    return static_cast<std::int32_t>(folding_.capacity.size() - 1);
  }

  // Keeps three kinds of links: links that simulated pipelines cross without a choice; of the other
  // links without a choice, one for each colour; and the slowest link of groups of replicas, which
  // are one rendezvous.
  void keep_links() {
    std::vector<char> kept(flows_.capacity.size(), 0);
    std::vector<WayLoads::Way> slowest(folded_flows_);
    for (FlowIndex flow = 0; flow < flows_.flows(); ++flow) {
      if (owner_[flow] < 0) {
        const WayLoads::Way way = loads_->slowest_way(flow);
        WayLoads::Way& of_all = slowest[folding_.flow_of[flow]];
        if (way.seconds_per_unit() > of_all.seconds_per_unit()) of_all = way;
      } else if (simulated(owner_[flow])) {
        for (const WeightedLink& link : flows_.route(flow)) {
          kept[link.link] |= !flows_.chosen[link.link];
        }
      }
    }
    for (const WayLoads::Way& of_all : slowest) {
      if (of_all.link >= 0) kept[of_all.link] = 1;
    }
    std::map<Colour, bool> has_kept;
    for (size_t l = 0; l < kept.size(); ++l) {
      if (!flows_.chosen[l]) has_kept[colours_.links[l]] |= kept[l] != 0;
    }
    link_number_.assign(kept.size(), -1);
    for (size_t l = 0; l < kept.size(); ++l) {
      if (!kept[l] && (flows_.chosen[l] || std::exchange(has_kept[colours_.links[l]], true))) {
        continue;
      }
      link_number_[l] = add_link(flows_.capacity[l], flows_.largest_amount[l]);
    }
  }

  struct Passing {
    FlowIndex folded = 0;
    Colour kind = 0;
  };

  // Returns for each kept link the folded flows that cross this very link.
  std::vector<std::vector<Passing>> passing_flows() const {
    std::vector<std::vector<Passing>> passing(folding_.capacity.size());
    for (FlowIndex flow = 0; flow < flows_.flows(); ++flow) {
      if (!takes_part(flow)) continue;
      const FlowIndex folded = folding_.flow_of[flow];
      for (const WeightedLink& link : flows_.route(flow)) {
        const bool average = flows_.chosen[link.link] && in_pipeline_[flow];
        if (link_number_[link.link] < 0 || average) continue;
        std::vector<Passing>& here = passing[link_number_[link.link]];
        const bool known = std::ranges::find(here, folded, &Passing::folded) != here.end();
        if (!known) here.push_back({folded, colours_.flows[flow]});
      }
    }
    return passing;
  }

  // The simulated representative of a flow has the flow's load on a link if it crosses the link,
  // too; otherwise another flow of its kind has it. On links of replicas' groups pipelines have
  // their average load.
  void lay_on_kept_links() {
    struct Average {
      double busy_s = 0, weight = 0, all_weight = 0;
    };
    const std::vector<std::vector<Passing>> passing = passing_flows();
    std::vector<Average> averages(folding_.capacity.size());
    for (FlowIndex flow = 0; flow < flows_.flows(); ++flow) {
      const FlowIndex folded = folding_.flow_of[flow];
      for (const WeightedLink& link : flows_.route(flow)) {
        const std::int32_t number = link_number_[link.link];
        if (number < 0) continue;
        Average& average = averages[number];
        average.all_weight += link.weight;
        if (flows_.chosen[link.link] && in_pipeline_[flow]) {
          average.busy_s += loads_->busy_s(flow, link);
          average.weight += link.weight;
          continue;
        }
        const std::vector<Passing>& here = passing[number];
        auto player = std::ranges::find(here, folded, &Passing::folded);
        if (player == here.end()) {
          player = std::ranges::find(here, colours_.flows[flow], &Passing::kind);
        }
        routes_.push_back({player != here.end() ? player->folded : folded, {number, link.weight}});
      }
    }
    for (size_t l = 0; l < averages.size(); ++l) {
      const Average& average = averages[l];
      if (average.weight == 0) continue;
      folding_.capacity[l] *=
          loads_->share_left(average.busy_s, average.weight, average.all_weight);
    }
  }

  void add_shared_ways() {
    std::vector<FlowIndex> sampled;
    for (FlowIndex flow = 0; flow < flows_.flows(); ++flow) {
      if (in_pipeline_[flow] && takes_part(flow)) sampled.push_back(flow);
    }
    for (const SharedWay& way : shared_ways(sampled, colours_.flows, *loads_)) {
      const std::int32_t link = add_link(way.capacity, flows_.largest_amount[way.link]);
      for (const SharedWay::Member& member : way.flows) {
        routes_.push_back({folding_.flow_of[member.flow], {link, member.weight}});
      }
    }
  }

  const Plan& plan_;
  const FlowTable& flows_;
  const Colours& colours_;
  const std::vector<ClassMember> class_of_;
  std::vector<Pipeline> pipelines_;
  std::vector<std::int32_t> pipeline_of_;  // [rank]
  std::vector<std::int32_t> owner_;        // [flow]
  std::vector<char> in_pipeline_;          // [flow]
  std::optional<WayLoads> loads_;
  std::vector<RankId> played_by_;              // [rank]
  std::vector<std::int32_t> group_played_by_;  // [group]
  std::vector<std::int32_t> link_number_;      // [link] -> folded link; -1: not simulated
  FlowIndex folded_flows_ = 0;
  std::vector<FlowLoad> routes_;  // routes of the folded flows
  Folding folding_;
};

}  // namespace

Folding sampled_fold(const Plan& plan, const Cluster& cluster, const FlowTable& flows,
                     std::int64_t ranks, double duration_s) {
  const Colours colours = refined_colours(plan, cluster, flows, ChosenWays::ignored);
  return Sampler(plan, flows, colours, duration_s).fold(ranks);
}

}  // namespace windtunnel
