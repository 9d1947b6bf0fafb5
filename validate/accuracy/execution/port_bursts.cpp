#include "validate/accuracy/execution/port_bursts.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "models/plan/class_template.hpp"
#include "validate/harness/execute/collective_work.hpp"
#include "validate/harness/execute/testbed.hpp"

namespace windtunnel {
namespace {

// The use of a port by a task that sends from its node.
struct PortUse {
  Span span;
  RankId rank = 0;
  std::int32_t rank_class = 0;
  TaskIndex task = 0;
  double bytes = 0;  // over the port
};

double bytes_over_port(const ExecutedPlan& executed, const CollectiveWorks& works,
                       const RankTimeline& recorded, const ClassMember& at, const Task& task) {
  const RankClass& rank_class = executed.plan.classes[at.rank_class];
  const int node = executed.cluster.node_of(recorded.rank);
  if (task.kind == TaskKind::send) {
    const RankId peer = rank_class.peers[task.peer_slot][at.member];
    return executed.cluster.node_of(peer) == node ? 0 : task.bytes;
  }
  if (task.kind != TaskKind::collective) return 0;
  const CollectiveWork work =
      works.of(task, rank_class.groups[task.group_slot][at.member], recorded.rank);
  double bytes = 0;
  for (const auto& [to, sent] : work.out) {
    if (executed.cluster.node_of(work.members[to]) != node) bytes += sent;
  }
  return bytes;
}

// [node] Sorted by start.
std::vector<std::vector<PortUse>> port_uses(const ExecutedPlan& executed,
                                            const Timeline& predicted) {
  const LinkTable links(executed.cluster, copies_over_pcie(executed.plan));
  const CollectiveWorks works(executed.plan, executed.cluster, executed.calibration,
                              executed.pool_calibrations, links);
  const std::vector<ClassMember> of_rank = class_of_rank(executed.plan);
  std::vector<std::vector<PortUse>> uses(static_cast<std::size_t>(executed.cluster.nodes));
  for (const RankTimeline& recorded : predicted.ranks) {
    const ClassMember& at = of_rank[recorded.rank];
    const std::vector<Task>& tasks = executed.plan.classes[at.rank_class].tasks;
    for (TaskIndex t = 0; t < std::ssize(tasks); ++t) {
      const double bytes = bytes_over_port(executed, works, recorded, at, tasks[t]);
      if (bytes <= 0) continue;
      uses[executed.cluster.node_of(recorded.rank)].push_back(
          {recorded.spans[t], recorded.rank, at.rank_class, t, bytes});
    }
  }
  for (std::vector<PortUse>& of_node : uses) {
    std::ranges::sort(of_node, {}, [](const PortUse& use) { return use.span.start_s; });
  }
  return uses;
}

}  // namespace

ExecutedPlan with_bursts(const ExecutedPlan& executed, const Timeline& predicted,
                         const ExecutionScale& scale) {
  ExecutedPlan result = executed;
  if (!executed.testbed) return result;
  // The remaining share: of a message by class and task, of a collective by group and sequence. If
  // ranks differ, the one with the smallest burst counts.
  std::map<std::pair<std::int32_t, std::int32_t>, double> messages, collectives;
  const std::vector<ClassMember> of_rank = class_of_rank(executed.plan);
  const std::vector<std::vector<PortUse>> uses = port_uses(executed, predicted);
  for (int node = 0; node < executed.cluster.nodes; ++node) {
    const double burst = testbed_burst_bytes(executed.cluster, node, scale);
    const double port_Bps = testbed_port_Bps(executed.cluster, node);
    double busy_until_s = -std::numeric_limits<double>::infinity();
    for (const PortUse& use : uses[node]) {
      const double pause_s = std::max(0.0, use.span.start_s - busy_until_s);
      busy_until_s = std::max(busy_until_s, use.span.end_s);
      const double left = 1 - std::min({burst, pause_s * port_Bps, use.bytes}) / use.bytes;
      const RankClass& rank_class = executed.plan.classes[use.rank_class];
      const Task& task = rank_class.tasks[use.task];
      const bool sends = task.kind == TaskKind::send;
      const std::int32_t of =
          sends ? use.rank_class : rank_class.groups[task.group_slot][of_rank[use.rank].member];
      double& least = (sends ? messages : collectives)[{of, sends ? use.task : task.sequence}];
      least = std::max(least, left);
    }
  }
  for (std::int32_t c = 0; c < std::ssize(result.plan.classes); ++c) {
    RankClass& rank_class = result.plan.classes[c];
    for (TaskIndex t = 0; t < std::ssize(rank_class.tasks); ++t) {
      Task& task = rank_class.tasks[t];
      const bool sends = task.kind == TaskKind::send;
      if (!sends && task.kind != TaskKind::collective) continue;
      double left = 0;
      bool known = false;
      for (std::size_t m = 0; m < rank_class.members.size() && (!sends || !known); ++m) {
        const auto& shares = sends ? messages : collectives;
        const auto found =
            shares.find(sends ? std::pair(c, t)
                              : std::pair(rank_class.groups[task.group_slot][m], task.sequence));
        if (found == shares.end()) continue;
        known = true;
        left = std::max(left, found->second);
      }
      // Groups at different places of one class have one number of bytes: the largest.
      if (known) task.bytes *= left;
    }
  }
  return result;
}

}  // namespace windtunnel
