#include "models/plan/job_collective.hpp"

#include "models/network/groups/collective_steps.hpp"

namespace windtunnel {

CollectiveChoice collective_choice(const Job& job, CollectiveKind kind, const GroupShape& shape) {
  for (const CollectiveRule& rule : job.communication.collectives) {
    if (rule.kind != kind || shape.members <= 1) continue;
    if (rule.algorithm != CollectiveAlgorithm::automatic) {
      try {
        require_algorithm(kind, rule.algorithm, shape, job.cluster);
      } catch (const Error& error) {
        throw Error(rule.where, fmt::format("communication.collectives: {}", error.what()));
      }
    }
    return {rule.algorithm, rule.protocol};
  }
  return {};
}

CollectiveCost collective_cost(const Job& job, CollectiveKind kind, const GroupShape& shape,
                               double bytes) {
  return collective_cost(kind, collective_choice(job, kind, shape), shape, bytes, job.cluster,
                         job.calibration);
}

}  // namespace windtunnel
