#include "validate/harness/execute/collective_work.hpp"

#include <algorithm>
#include <set>

#include "models/base/error.hpp"
#include "models/network/groups/collective_steps.hpp"

namespace windtunnel {
namespace {

// Shorter steps, in real seconds, are joined: a thread takes a tenth of this time to wake.
constexpr double kShortestRoundS = 0.5e-3;

// Returns the seconds for bytes between two GPUs on idle links; 0 to itself.
double idle_seconds(const LinkTable& links, RankId source, RankId destination, double bytes) {
  std::vector<LinkId> route;
  links.append_route(source, destination, route);
  double seconds = 0;
  for (const LinkId link : route) seconds = std::max(seconds, bytes / links.capacity(link));
  return seconds;
}

int index_in(std::span<const RankId> members, RankId rank) {
  const auto found = std::ranges::find(members, rank);
  CHECK(found != members.end(), "rank {} is no member", rank);
  return static_cast<int>(found - members.begin());
}

// Whether one algorithm joins all members, because all have equal links. Otherwise there are
// several algorithms, within nodes and across.
bool is_flat(const GroupShape& shape) {
  return shape.nodes == 1 || shape.members_per_node == 1;
}

CollectiveForm form_of(CollectiveKind kind, CollectiveAlgorithm algorithm) {
  const bool ring = algorithm == CollectiveAlgorithm::ring;
  const bool pairs =
      algorithm == CollectiveAlgorithm::pairwise || algorithm == CollectiveAlgorithm::direct;
  if (kind == CollectiveKind::all_reduce && ring) return CollectiveForm::all_reduce;
  if (kind == CollectiveKind::reduce_scatter && ring) return CollectiveForm::reduce_scatter;
  if (kind == CollectiveKind::all_gather && ring) return CollectiveForm::all_gather;
  if (kind == CollectiveKind::all_to_all && pairs) return CollectiveForm::all_to_all;
  return CollectiveForm::rounds;
}

// Returns the share of the buffer that a member sends to one other member.
double payload_share(CollectiveForm form, int members) {
  const double part = 1.0 / members;
  switch (form) {
    case CollectiveForm::all_reduce:
      return 2 * (members - 1) * part;
    case CollectiveForm::reduce_scatter:
    case CollectiveForm::all_gather:
      return (members - 1) * part;
    default:
      return part;
  }
}

// Returns the seconds of a step on idle links, in the scenario. In an exchange by turns each step
// sends a whole edge.
double step_seconds(const CollectiveWork& work) {
  return work.by_turns ? work.edge_s : work.edge_s / work.rounds;
}

// Sets form and `occupied` if the edges are those of the algorithm on real numbers.
void take_form(CollectiveForm form, CollectiveWork& work) {
  const auto members = static_cast<int>(work.members.size());
  const double payload = payload_share(form, members) * work.bytes;
  if (form == CollectiveForm::rounds || payload <= 0) return;
  const int next = (work.rank + 1) % members;
  const bool pairs = form == CollectiveForm::all_to_all;
  if (static_cast<int>(work.out.size()) != (pairs ? members - 1 : 1)) return;
  if (!work.out.contains(next)) return;
  for (const auto& [to, bytes] : work.out) work.occupied[to] = bytes / payload;
  work.form = form;
}

}  // namespace

bool runs_on_numbers(const CollectiveWork& work, double times) {
  return work.form != CollectiveForm::rounds && step_seconds(work) / times >= kShortestRoundS;
}

int executed_rounds(const CollectiveWork& work, double times) {
  if (work.members.size() <= 1) return 0;
  if (work.edge_s <= 0) return 2;  // to one member and back
  if (runs_on_numbers(work, times)) return work.rounds;
  const double all_s = step_seconds(work) * work.rounds / times;
  return std::clamp(static_cast<int>(all_s / kShortestRoundS), 1, work.rounds);
}

CollectiveFlows CollectiveWorks::flows_of(const Task& task, const GroupShape& shape,
                                          std::span<const RankId> members) const {
  const Calibration& calibration =
      shape.pool < 0 ? calibration_ : pool_calibrations_.at(static_cast<std::size_t>(shape.pool));
  const CollectiveChoice choice(task.algorithm, task.protocol);
  if (task.exchange < 0) {
    return collective_flows(task.collective, choice, shape, members, task.bytes, cluster_,
                            calibration);
  }
  const std::vector<double> bytes =
      exchange_bytes(plan_.exchanges[task.exchange], task.returns, task.bytes, members, cluster_);
  CollectiveFlows flows = all_to_all_v_flows(bytes, members, cluster_, calibration);
  flows.edges = all_to_all_v_edges(bytes, choice, shape, members, cluster_, calibration);
  flows.independent = true;
  return flows;
}

CollectiveWork CollectiveWorks::of(const Task& task, std::int32_t group, RankId rank) const {
  CollectiveWork work;
  work.members = plan_.groups[group].members;
  work.rank = index_in(work.members, rank);
  work.bytes = task.bytes;
  const auto members = static_cast<int>(work.members.size());
  if (members == 1 || task.bytes <= 0) {
    work.latency_s = total_seconds(task.cost);
    return work;
  }
  const GroupShape shape = group_shape(work.members, cluster_);
  const CollectiveFlows flows = flows_of(task, shape, work.members);
  work.algorithm = flows.algorithm;
  work.latency_s = task.as_flows ? total_seconds(task.cost) : flows.latency_s;
  std::set<int> in;
  for (const CollectiveEdge& edge : flows.edges) {
    work.edge_s = std::max(work.edge_s, idle_seconds(links_, work.members[edge.source],
                                                     work.members[edge.destination], edge.bytes));
    if (edge.source == work.rank) work.out[edge.destination] += edge.bytes;
    if (edge.destination == work.rank) in.insert(edge.source);
  }
  work.in.assign(in.begin(), in.end());
  work.by_turns = flows.independent;
  if (work.by_turns) {
    work.rounds = members - 1;
  } else {
    const CollectiveSteps steps = steps_of(task.collective, flows.algorithm, shape, task.bytes);
    work.rounds = std::max(1, steps.node_steps + steps.across_steps);
  }
  if (is_flat(shape) && task.exchange < 0)
    take_form(form_of(task.collective, flows.algorithm), work);
  return work;
}

CarriedBytes carried_bytes(const Plan& plan, const CollectiveWorks& works, const LinkTable& links) {
  CarriedBytes carried;
  for (const RankClass& rank_class : plan.classes) {
    const auto members = static_cast<double>(rank_class.members.size());
    const RankId first = rank_class.members[0];
    double fastest_Bps = 0;
    for (const Task& task : rank_class.tasks) {
      if (task.kind == TaskKind::send) {
        carried.total += task.bytes * members;
        if (task.bytes <= 0) continue;
        const RankId peer = rank_class.peers[task.peer_slot][0];
        const double seconds = idle_seconds(links, first, peer, task.bytes);
        if (seconds > 0) fastest_Bps = std::max(fastest_Bps, task.bytes / seconds);
      }
      if (task.kind != TaskKind::compute) {
        for (const Flow& flow : task.flows) carried.total += flow.amount * members;
      }
      if (task.kind != TaskKind::collective) continue;
      const CollectiveWork work = works.of(task, rank_class.groups[task.group_slot][0], first);
      for (const auto& [to, sent] : work.out) {
        carried.total += sent * members;
        const double seconds = idle_seconds(links, first, work.members[to], sent);
        if (seconds > 0) fastest_Bps = std::max(fastest_Bps, sent / seconds);
      }
    }
    carried.peak_Bps += fastest_Bps * members;
  }
  return carried;
}

}  // namespace windtunnel
