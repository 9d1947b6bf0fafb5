// Every transfer that a Plan can make, as a route over links: messages by (class, peer slot,
// member), demands of tasks by (class, task, flow, member), strands of collectives by (group,
// pattern, strand). One table serves the folding, which looks for equal flows, and the engine,
// which runs them.
//
// A strand is the edges of a collective that carry equal bytes, as ONE flow over the links of all
// of them: a ring or a tree is a pipeline, whose chunks pass every edge at the pace of the slowest
// one. All-to-all pairs do not wait for each other: each is a strand of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/calibration.hpp"
#include "models/cluster.hpp"
#include "models/plan.hpp"

namespace windtunnel {

using FlowIndex = std::int32_t;

struct FlowTable {
  // A member's flow is the listed one plus its position among the class's members; -1: none.
  struct ClassFlows {
    std::vector<FlowIndex> message;              // [peer slot]
    std::vector<std::vector<FlowIndex>> demand;  // [task][flow]
  };
  // Sizes per byte of the collective's buffer.
  struct Strand {
    std::int32_t source = 0;  // a member that it starts at
    double bytes = 0;
  };
  // Collectives of one group that have the same edges share a pattern: `first_flow` + s carries
  // strands[s].
  struct Pattern {
    FlowIndex first_flow = 0;
    std::vector<Strand> strands;
  };
  struct GroupFlows {
    std::vector<Pattern> patterns;
    std::vector<std::int32_t> pattern_of_collective;  // by index into `collectives`; -1: not used
  };
  struct Collective {
    CollectiveKind kind;
    CollectiveAlgorithm algorithm;
    double bytes;
    bool operator==(const Collective&) const = default;
  };

  // Routes: link l of flow f stands as often as its weight. Links are numbered densely over those
  // that some flow uses.
  std::vector<std::uint32_t> first_link{0};  // [flow + 1]
  std::vector<std::int32_t> links;
  std::vector<double> capacity;        // [link]
  std::vector<double> largest_amount;  // [link], of a flow that uses it

  std::vector<ClassFlows> classes;
  std::vector<Collective> collectives;                   // distinct, of all tasks as_flows
  std::vector<std::vector<std::int32_t>> collective_of;  // [class][task]; -1: none
  std::vector<GroupFlows> groups;

  FlowIndex flows() const { return static_cast<FlowIndex>(first_link.size() - 1); }
  std::span<const std::int32_t> route(FlowIndex flow) const {
    return {links.data() + first_link[flow], links.data() + first_link[flow + 1]};
  }
};

// Kinds of task that take longer on a slow node, in plain time and in the amounts of their flows;
// messages, collectives and storage do not.
bool slowed_by_node(TaskKind kind);

// Links inside a route that can never be the bottleneck, because the links before (or behind) them
// are together no faster, are left out: sharing is the same without them, and more ranks fold.
// Throws Error when a flow needs a link without bandwidth.
FlowTable flow_table(const Plan& plan, const Cluster& cluster, const Calibration& calibration);

}  // namespace windtunnel
