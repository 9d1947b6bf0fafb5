#include "validate/harness/execute/collective_work.hpp"

#include <algorithm>
#include <set>

#include "models/base/error.hpp"
#include "models/network/groups/collective_steps.hpp"

namespace windtunnel {
namespace {

int index_in(std::span<const RankId> members, RankId rank) {
  const auto found = std::ranges::find(members, rank);
  CHECK(found != members.end(), "rank {} is no member", rank);
  return static_cast<int>(found - members.begin());
}

// Where all members are behind equal links one algorithm joins them all; elsewhere it is several,
// inside nodes and across.
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

// Of the buffer: what a member sends to one other.
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

// Sets form and `occupied` where the edges are those of the algorithm on real numbers.
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

double CollectiveWorks::seconds_of(const CollectiveEdge& edge,
                                   std::span<const RankId> members) const {
  std::vector<LinkId> route;
  links_.append_route(members[edge.source], members[edge.destination], route);
  double seconds = 0;
  for (const LinkId link : route) seconds = std::max(seconds, edge.bytes / links_.capacity(link));
  return seconds;
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
    work.edge_s = std::max(work.edge_s, seconds_of(edge, work.members));
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

double carried_bytes(const Plan& plan, const CollectiveWorks& works) {
  double bytes = 0;
  for (const RankClass& rank_class : plan.classes) {
    const auto members = static_cast<double>(rank_class.members.size());
    for (const Task& task : rank_class.tasks) {
      if (task.kind == TaskKind::send) bytes += task.bytes * members;
      for (const Flow& flow : task.flows) {
        const bool of_bytes = !flow.demands.empty() &&
                              flow.demands.front().resource != Resource::sm &&
                              flow.demands.front().resource != Resource::cpu;
        if (task.kind != TaskKind::compute && of_bytes) bytes += flow.amount * members;
      }
      if (task.kind != TaskKind::collective) continue;
      const std::vector<std::int32_t>& groups = rank_class.groups[task.group_slot];
      for (const auto& [to, sent] : works.of(task, groups[0], rank_class.members[0]).out) {
        bytes += sent * members;
      }
    }
  }
  return bytes;
}

}  // namespace windtunnel
