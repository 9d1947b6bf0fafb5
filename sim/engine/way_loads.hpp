// Load of flows on the links that routing chose for them. It is kept by kind of flow (colour)
// instead of by flow: for each link the units of each kind, and the seconds for which they occupy
// the link during the plan. Flows of one kind are the same message of equal pipelines, so they are
// sent at about the same time. Flows of other kinds take their average bandwidth over the plan's
// duration, but at most their fair share.
#pragma once

#include <cstdint>
#include <vector>

#include "models/plan/plan.hpp"
#include "sim/engine/flow_table.hpp"
#include "sim/engine/refinement.hpp"

namespace windtunnel {

class WayLoads {
 public:
  // `kinds`: [flow] its colour. `in_pipeline`: [flow] whether it belongs to no group of replicas
  // (flows of these groups do not interact on average, because all are simulated). Keeps
  // references. `duration_s`: the plan's, at least that of its busiest stream or link.
  WayLoads(const Plan& plan, const FlowTable& flows, const std::vector<Colour>& kinds,
           const std::vector<char>& in_pipeline, double duration_s);

  double amount(FlowIndex flow) const { return amount_[flow]; }  // total over the plan
  double busy_s(FlowIndex flow, const WeightedLink& link) const {
    return amount_[flow] * link.weight / flows_.capacity[link.link];
  }
  // Returns the share of a link that is left if flows with `weight` of its `all_weight` units
  // occupy it for `busy_s`.
  double share_left(double busy_s, double weight, double all_weight) const;

  // The slowest of the links that routing chose for a flow; -1: it chose none.
  struct Way {
    std::int32_t link = -1;
    std::int32_t weight = 0;  // weight of the flow on the link
    double flows = 0;         // flows of its kind on the link, including itself
    double capacity = 0;      // capacity that other kinds leave
    double seconds_per_unit() const { return link < 0 ? 0 : weight * flows / capacity; }
  };
  Way slowest_way(FlowIndex flow) const;

 private:
  struct Load {
    std::int32_t link = 0;
    Colour kind = 0;
    bool in_pipeline = false;
    double weight = 0;
    double busy_s = 0;
  };

  void add_amounts(const Plan& plan);
  void add_collective(std::vector<std::int32_t> groups, std::int32_t collective, double bytes,
                      std::vector<double>& amounts) const;
  void add_loads();

  const FlowTable& flows_;
  const std::vector<Colour>& kinds_;
  const std::vector<char>& in_pipeline_;
  std::vector<double> amount_;        // [flow]
  std::vector<Load> loads_;           // sorted by link and kind, each once
  std::vector<std::uint32_t> first_;  // [link + 1] into loads_
  double duration_s_ = 0;
};

// A link that sampled flows share. They stand for the flows that share it in reality but are not
// simulated.
struct SharedWay {
  std::int32_t link = 0;  // one of the links that it represents
  double capacity = 0;
  struct Member {
    FlowIndex flow = 0;
    std::int32_t weight = 0;
  };
  std::vector<Member> flows;
};

// Puts each of the `sampled` flows on its slowest link, if routing chose one. On it are as many
// flows of its kind as share that link in reality; if the sample has fewer, the capacity is reduced
// accordingly. `kinds`: those of all flows.
std::vector<SharedWay> shared_ways(const std::vector<FlowIndex>& sampled,
                                   const std::vector<Colour>& kinds, const WayLoads& loads);

}  // namespace windtunnel
