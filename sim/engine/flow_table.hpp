// Every transfer that a Plan can make, as a route over links. Messages are listed by (class, peer
// slot, member), demands of tasks by (class, task, flow, member), pipelined flows of collectives by
// (group, pattern, pipelined flow). Folding finds equal flows here, and the engine runs them.
// A pipelined flow is ONE flow over all edges of a collective that carry equal bytes, and over the
// resources that its members demand, because chunks of a ring or a tree pass every edge at the pace
// of the slowest. Independent edges (all-to-all pairs) are separate flows. A transfer that routing
// splits over several paths is one flow, too, because its parts share the sender's window.
#pragma once

#include <cstdint>
#include <vector>

#include "models/calibration/calibration.hpp"
#include "models/machine/cluster.hpp"
#include "models/plan/plan.hpp"
#include "sim/engine/flow_routes.hpp"

namespace windtunnel {

struct FlowTable : FlowRoutes {
  // The flow of a member is the listed one plus the member's position in the class; -1: no flow.
  struct ClassFlows {
    std::vector<FlowIndex> message;              // [peer slot]
    std::vector<std::vector<FlowIndex>> demand;  // [task][flow]
  };
  // `bytes` is what the flow carries for each byte of the collective's buffer.
  struct PipelinedFlow {
    std::int32_t source = 0;  // one of the members at which it starts
    double bytes = 0;
  };
  // Collectives of one group with the same edges share a pattern, in which flow `first_flow` + s
  // carries pipelined[s].
  struct Pattern {
    FlowIndex first_flow = 0;
    std::vector<PipelinedFlow> pipelined;
  };
  struct GroupFlows {
    std::vector<Pattern> patterns;
    std::vector<std::int32_t> pattern_of_collective;  // [index into `collectives`]; -1: unused
  };
  struct Collective {
    CollectiveKind kind;
    CollectiveChoice choice;
    double bytes;
    std::int16_t exchange = -1;  // Task::exchange; the next member is Task::returns
    bool returns = false;
    bool operator==(const Collective&) const = default;
  };

  // [link] Whether routing (hash, plan or turns) chose this link for some flow among several equal
  // paths. Spraying uses all paths equally, so it does not count.
  std::vector<char> chosen;
  std::vector<ClassFlows> classes;
  std::vector<Collective> collectives;                   // those of all tasks as_flows, each once
  std::vector<std::vector<std::int32_t>> collective_of;  // [class][task]; -1: none
  std::vector<GroupFlows> groups;
};

// Links that can never be the bottleneck are omitted (sim/engine/flow_routes.hpp). Sharing does not
// change, more ranks fold, and the table is smaller. Paths by FabricSpec::routing are chosen in the
// order of the Plan: messages and demands by class, then collectives. Throws Error if a flow needs
// a link without bandwidth. `pools`: [pool] calibrations for groups inside one pool.
FlowTable flow_table(const Plan& plan, const Cluster& cluster, const Calibration& calibration,
                     const std::vector<Calibration>& pools = {});

}  // namespace windtunnel
