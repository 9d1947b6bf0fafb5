#include "traces/chakra/trace_machine.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "models/calibration/prediction_error.hpp"
#include "models/machine/links/links.hpp"
#include "models/network/collectives/collective_interval.hpp"
#include "models/network/collectives/collective_law.hpp"
#include "models/network/groups/group_shapes.hpp"
#include "models/plan/job_collective.hpp"

namespace windtunnel {
namespace {

// The slowest shape among the groups of the class's members. If the collective does not run as
// flows, the shape includes contention with the other groups that run the task at the same time.
GroupShape shape_of(const RankClass& owner, const Task& task, bool flows, const Plan& plan,
                    const Cluster& cluster, GroupShapes& shapes) {
  std::set<std::int32_t> seen;
  std::optional<GroupShape> shape;
  for (const std::int32_t group : owner.groups[task.group_slot]) {
    if (!seen.insert(group).second) continue;
    const GroupShape own = shapes.of(plan.groups[group].members);
    shape = shape ? worse(*shape, own) : own;
  }
  if (!shape) return {};
  return !flows && seen.size() > 1 ? among_concurrent(*shape, cluster) : *shape;
}

struct Chosen {
  CollectiveChoice choice;
  CollectiveCost cost;
};

// Returns the cost as the scenario chooses; an uneven exchange costs its longer phase.
Chosen cost_of(const Job& job, const Task& task, const Plan& plan, const GroupShape& shape) {
  const auto of = [&](const ExchangePhase& phase) {
    CollectiveChoice choice = collective_choice(job, task.category, task.collective, phase.shape);
    if (choice.algorithm == CollectiveAlgorithm::automatic) choice.algorithm = task.algorithm;
    if (choice.protocol == Protocol::automatic) choice.protocol = task.protocol;
    return Chosen{choice, collective_cost(task.collective, choice, phase.shape, phase.bytes,
                                          job.cluster, calibration_of(job, phase.shape.pool))};
  };
  if (task.exchange < 0) return of({shape, task.bytes});
  const ExchangePhases phases = exchange_phases(plan.exchanges[task.exchange], shape, task.bytes);
  const Chosen inside = of(phases.inside);
  if (phases.across.bytes == 0) return inside;
  const Chosen across = of(phases.across);
  return across.cost.seconds > inside.cost.seconds ? across : inside;
}

// Whether the collective runs as flows; the scenario may decide that for all.
bool as_flows(const Task& task, Fidelity fidelity) {
  return fidelity == Fidelity::automatic ? task.as_flows : fidelity == Fidelity::flows;
}

}  // namespace

void run_collectives_as(const Job& job, Plan& plan) {
  GroupShapes shapes(job.cluster);
  for (RankClass& owner : plan.classes) {
    for (Task& task : owner.tasks) {
      const bool exchanges = task.kind == TaskKind::collective && task.bytes > 0;
      if (!exchanges || task.category == Category::snapshot) continue;
      const bool flows = as_flows(task, job.communication.fidelity);
      const GroupShape shape = shape_of(owner, task, flows, plan, job.cluster, shapes);
      const auto [choice, cost] = cost_of(job, task, plan, shape);
      if (choice == CollectiveChoice(task.algorithm, task.protocol) && flows == task.as_flows) {
        continue;
      }
      task.algorithm = choice.algorithm;
      task.protocol = choice.protocol;
      task.as_flows = flows;
      task.cost = {{task.category, cost.origin, cost.seconds - (flows ? cost.transfer_s : 0)}};
    }
  }
}

void add_transfer_costs(Plan& plan, const Cluster& cluster, const Calibration& calibration) {
  const LinkTable links(cluster);
  for (RankClass& owner : plan.classes) {
    for (Task& task : owner.tasks) {
      if (!task.cost.empty()) continue;
      if (task.kind == TaskKind::collective && task.as_flows) {
        const Group& group = plan.groups[owner.groups[task.group_slot].front()];
        const CollectiveChoice choice(task.algorithm, task.protocol);
        const double latency_s = collective_flows(task.collective, choice, group.members,
                                                  task.bytes, cluster, calibration)
                                     .latency_s;
        task.cost = {{task.category, Origin::assumed, latency_s}};
      } else if (task.kind == TaskKind::send) {
        const RankId from = owner.members.front();
        const RankId to = owner.peers[task.peer_slot].front();
        const bool in_node = cluster.node_of(from) == cluster.node_of(to);
        const Parameter& latency =
            in_node ? calibration.nvlink_latency_s : calibration.nic_latency_s;
        const Parameter& efficiency =
            in_node ? inner_efficiency(calibration, cluster.node) : calibration.nic_efficiency;
        task.bytes /= efficiency.value;
        const int hops = in_node ? 0 : links.switch_hops(from, to);
        task.cost = {
            {task.category, calibration.p2p_launch_s.origin, calibration.p2p_launch_s.value},
            {task.category, latency.origin, latency.value},
            {task.category, cluster.fabric.hop_latency_s.origin,
             cluster.fabric.hop_latency_s.value * hops}};
        const double cable_s = links.extra_latency_s(from, to);
        if (cable_s > 0) {
          task.cost.push_back({task.category, cluster.fabric.wan_latency_s.origin, cable_s});
        }
      }
    }
  }
}

CommunicationError communication_error(const Cluster& cluster, const Calibration& calibration) {
  const InterconnectLaw& law = interconnect_law(calibration, cluster.nodes);
  if (!law.stated) return {};
  return {error_factor(law.noise_log, kReportedShare),
          error_factor(law.small_noise_log, kReportedShare)};
}

void scale_communication(Plan& plan, double large, double small) {
  for (RankClass& owner : plan.classes) {
    for (Task& task : owner.tasks) {
      const bool communicates = task.kind == TaskKind::collective || task.kind == TaskKind::send ||
                                task.kind == TaskKind::recv;
      if (!communicates) continue;
      const double factor = task.bytes < kLargeCollective_bytes ? small : large;
      task.bytes *= factor;
      for (CostPart& part : task.cost) part.seconds *= factor;
    }
  }
}

}  // namespace windtunnel
