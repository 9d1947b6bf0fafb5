// Every transfer that a Plan can make, as a route over links: messages by (class, peer slot,
// member), demands of tasks by (class, task, flow, member), pipelined flows of collectives by
// (group, pattern, pipelined flow). Folding finds equal flows here, and the engine runs them.
//
// A pipelined flow is ONE flow over all edges of a collective that carry equal bytes, and over its
// members' own resources: chunks of a ring or a tree pass every edge at the pace of the slowest.
// Independent edges (all-to-all pairs) are separate flows. A transfer that routing splits over
// several paths is one flow too, because a sender's window spans its parts.
#pragma once

#include <cstdint>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "sim/engine/flow_routes.hpp"

namespace windtunnel {

struct FlowTable : FlowRoutes {
  // A member's flow is the listed one plus its position in the class; -1: none.
  struct ClassFlows {
    std::vector<FlowIndex> message;              // [peer slot]
    std::vector<std::vector<FlowIndex>> demand;  // [task][flow]
  };
  // `bytes` is what the flow carries per byte of the collective's buffer.
  struct PipelinedFlow {
    std::int32_t source = 0;  // one of its starting members
    double bytes = 0;
  };
  // Collectives of one group with the same edges share a pattern: `first_flow` + s carries
  // pipelined[s].
  struct Pattern {
    FlowIndex first_flow = 0;
    std::vector<PipelinedFlow> pipelined;
  };
  struct GroupFlows {
    std::vector<Pattern> patterns;
    std::vector<std::int32_t> pattern_of_collective;  // by index into `collectives`; -1: unused
  };
  struct Collective {
    CollectiveKind kind;
    CollectiveChoice choice;
    double bytes;
    std::int16_t exchange = -1;  // Task::exchange, Task::returns
    bool returns = false;
    bool operator==(const Collective&) const = default;
  };

  // [link] Whether routing (hash, plan or turns) chose this link among several equal paths for some
  // flow. Spraying uses all paths equally and does not count.
  std::vector<char> chosen;
  std::vector<ClassFlows> classes;
  std::vector<Collective> collectives;                   // distinct, of all tasks as_flows
  std::vector<std::vector<std::int32_t>> collective_of;  // [class][task]; -1: none
  std::vector<GroupFlows> groups;
};

// Links that can never be the bottleneck are omitted (sim/engine/flow_routes.hpp): sharing is
// unchanged, more ranks fold, and the table is smaller. Paths by FabricSpec::routing are chosen in
// the order of the Plan: messages and demands by class, then collectives. Throws Error if a flow
// needs a link without bandwidth. `pools`: calibrations for groups inside one pool, [pool].
FlowTable flow_table(const Plan& plan, const Cluster& cluster, const Calibration& calibration,
                     const std::vector<Calibration>& pools = {});

}  // namespace windtunnel
