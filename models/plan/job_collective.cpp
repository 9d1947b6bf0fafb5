#include "models/plan/job_collective.hpp"

#include <algorithm>

#include "models/network/groups/collective_steps.hpp"
#include "models/plan/state_shares.hpp"

namespace windtunnel {
namespace {

bool is_of(CollectiveKind kind, CollectiveAlgorithm algorithm) {
  return algorithm == CollectiveAlgorithm::automatic ||
         std::ranges::count(algorithms_of(kind), algorithm) > 0;
}

const CollectiveRule* rule_of(const Job& job, Category axis, CollectiveKind kind) {
  const CollectiveRule* of_kind = nullptr;
  for (const CollectiveRule& rule : job.communication.collectives) {
    if (rule.axis == axis && is_of(kind, rule.algorithm)) return &rule;
    if (!rule.axis && rule.kind == kind) of_kind = &rule;
  }
  return of_kind;
}

// Whether the collective moves shards of unequal size, which go round rings
// (models/plan/state_shares.hpp).
bool on_rings(const Job& job, Category axis, CollectiveKind kind) {
  return uneven_state(job) && axis == Category::dp &&
         (kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter);
}

CollectiveChoice ring_of(const CollectiveRule* rule) {
  if (rule == nullptr) return CollectiveAlgorithm::ring;
  if (rule->algorithm == CollectiveAlgorithm::automatic ||
      rule->algorithm == CollectiveAlgorithm::ring) {
    return {CollectiveAlgorithm::ring, rule->protocol};
  }
  throw Error(
      rule->where,
      fmt::format("communication.collectives: {} does not go with uneven layout.shard_shares, "
                  "because unequal parts are sent around rings one by one; take ring",
                  to_string(rule->algorithm)));
}

// The algorithm that the caller names, otherwise the choice of the job's rules.
CollectiveChoice chosen(const Job& job, Category axis, CollectiveKind kind, const GroupShape& shape,
                        CollectiveAlgorithm algorithm) {
  return algorithm == CollectiveAlgorithm::automatic ? collective_choice(job, axis, kind, shape)
                                                     : CollectiveChoice(algorithm);
}

}  // namespace

std::span<const CollectiveKind> kinds_of_axis(Category axis) {
  using K = CollectiveKind;
  static constexpr K kTensor[] = {K::all_reduce, K::reduce_scatter, K::all_gather,
                                  K::broadcast,  K::reduce,         K::all_to_all};
  static constexpr K kContext[] = {K::all_to_all};
  static constexpr K kExperts[] = {K::all_to_all, K::all_gather, K::reduce_scatter};
  static constexpr K kReplicas[] = {K::all_reduce, K::reduce_scatter, K::all_gather, K::all_to_all};
  switch (axis) {
    case Category::tp:
      return kTensor;
    case Category::cp:
      return kContext;
    case Category::ep:
      return kExperts;
    default:
      return kReplicas;
  }
}

CollectiveChoice collective_choice(const Job& job, Category axis, CollectiveKind kind,
                                   const GroupShape& shape) {
  const CollectiveRule* rule = shape.members > 1 ? rule_of(job, axis, kind) : nullptr;
  if (on_rings(job, axis, kind) && shape.members > 1) return ring_of(rule);
  if (rule == nullptr) {
    const bool of_experts = axis == Category::ep && kind == CollectiveKind::all_to_all;
    const bool by_gpus = job.software.ep_one_sided || job.software.ep_merged;
    if (of_experts && by_gpus) return CollectiveAlgorithm::one_sided;
    return {};
  }
  if (rule->algorithm != CollectiveAlgorithm::automatic) {
    try {
      require_algorithm(kind, rule->algorithm, shape, job.cluster);
    } catch (const Error& error) {
      throw Error(rule->where, fmt::format("communication.collectives: {}", error.what()));
    }
  }
  return {rule->algorithm, rule->protocol};
}

CollectiveCost collective_cost(const Job& job, Category axis, CollectiveKind kind,
                               const GroupShape& shape, double bytes,
                               CollectiveAlgorithm algorithm) {
  return collective_cost(kind, chosen(job, axis, kind, shape, algorithm), shape, bytes, job.cluster,
                         calibration_of(job, shape.pool));
}

CollectiveCosts::Known& CollectiveCosts::known(CollectiveKind kind, CollectiveChoice choice,
                                               const GroupShape& shape) const {
  for (Known& each : known_) {
    if (each.law.kind() == kind && each.choice == choice && each.law.shape() == shape) return each;
  }
  const Calibration& calibration = calibration_of(job_, shape.pool);
  return known_.emplace_back(
      Known{.choice = choice, .law = {kind, choice, shape, job_.cluster, calibration}});
}

CollectiveCost CollectiveCosts::cost(CollectiveKind kind, CollectiveChoice choice,
                                     const GroupShape& shape, double bytes) const {
  Known& of_group = known(kind, choice, shape);
  const auto size = static_cast<int>(of_group.bytes.size());
  for (int i = 0; i < std::min(of_group.asked, size); ++i) {
    if (of_group.bytes[i] == bytes) return of_group.costs[i];
  }
  const CollectiveCost cost = collective_cost(of_group.law, bytes);  // may throw
  const int oldest = of_group.asked++ % size;
  of_group.bytes[oldest] = bytes;
  return of_group.costs[oldest] = cost;
}

CollectiveCost CollectiveCosts::cost(Category axis, CollectiveKind kind, const GroupShape& shape,
                                     double bytes, CollectiveAlgorithm algorithm) const {
  return cost(kind, chosen(job_, axis, kind, shape, algorithm), shape, bytes);
}

}  // namespace windtunnel
