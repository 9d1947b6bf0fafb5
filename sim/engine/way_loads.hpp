// What flows lay on the ways that routing chose for them, told by kinds of flow (their colours) in
// place of by flow: of a link, how many units of each kind, and how many seconds of the plan they
// keep it busy. Flows of one kind are the same message of pipelines that are alike, so they go at
// about the same time. Those of other kinds take of a link what they need on average over the
// plan's duration, but never more than their fair share.
#pragma once

#include <cstdint>
#include <vector>

#include "models/plan/plan.hpp"
#include "sim/engine/flow_table.hpp"
#include "sim/engine/refinement.hpp"

namespace windtunnel {

class WayLoads {
 public:
  // By flow: `kinds`, its colour; `in_pipeline`, or of a group of replicas: such flows do not see
  // each other on average, since all of them are simulated. The table and both are kept by
  // reference. `duration_s`: of the plan; what its busiest stream or way takes alone, if that is
  // longer.
  WayLoads(const Plan& plan, const FlowTable& flows, const std::vector<Colour>& kinds,
           const std::vector<char>& in_pipeline, double duration_s);

  double amount(FlowIndex flow) const { return amount_[flow]; }  // all that it carries in the plan
  double busy_s(FlowIndex flow, const WeightedLink& link) const {
    return amount_[flow] * link.weight / flows_.capacity[link.link];
  }
  // The share of a link that is left. Flows with `weight` of its `all_weight` units take `busy_s`
  // in all.
  double share_left(double busy_s, double weight, double all_weight) const;

  // The slowest of the links that routing chose for a flow; -1: it chose none.
  struct Way {
    std::int32_t link = -1;
    std::int32_t weight = 0;  // of the flow on it
    double flows = 0;         // flows of its kind that share the link, itself included
    double capacity = 0;      // what other kinds leave them of it
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
  std::vector<Load> loads_;           // by link and kind, each once
  std::vector<std::uint32_t> first_;  // [link + 1] into loads_
  double duration_s_ = 0;
};

// What sampled flows share, in place of the flows that they share their ways with in truth and that
// are not simulated.
struct SharedWay {
  std::int32_t link = 0;  // one of those that it is made of
  double capacity = 0;
  struct Member {
    FlowIndex flow = 0;
    std::int32_t weight = 0;
  };
  std::vector<Member> flows;
};

// Each of the `sampled` flows on its slowest way, where routing chose one for it: with as many of
// its own kind as share that way in truth; where they are fewer, so is the capacity.
// `kinds`: of all flows.
std::vector<SharedWay> shared_ways(const std::vector<FlowIndex>& sampled,
                                   const std::vector<Colour>& kinds, const WayLoads& loads);

}  // namespace windtunnel
