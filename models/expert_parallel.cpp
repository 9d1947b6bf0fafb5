#include "models/expert_parallel.hpp"

#include <cmath>

namespace windtunnel {
namespace {

// Copies of a token that leave its rank or stay there as if sent. Merged: as many as different
// nodes (in one node: ranks) are met in per_token draws, all equally likely.
double copies(const Job& job, const GroupShape& shape) {
  const double experts = job.model.moe.per_token;
  if (!job.software.ep_merged) return experts;
  const double places = shape.nodes > 1 ? shape.nodes : shape.members;
  return places * (1 - std::pow(1 - 1 / places, experts));
}

double shared_s(const BlockSetting& setting, const std::vector<Op>& pass) {
  double seconds = 0;
  for (const Op& op : pass) {
    seconds += op.name.starts_with("shared") ? setting.cost(op).seconds : 0;
  }
  return seconds;
}

}  // namespace

// Every token to its experts and back, by the busiest rank's count.
void add_expert_parallel(const BlockSetting& setting, const GroupShape& shape, const PassOps& ops,
                         BlockCost& cost) {
  const Job& job = setting.job;
  if (job.layout.ep == 1) return;
  const double width =
      copies(job, shape) * job.model.moe.imbalance * job.model.hidden / job.layout.tp;
  const CollectiveCost once =
      setting.collective(CollectiveKind::all_to_all, shape, setting.activation_bytes(width));
  double forward_s = 0;
  double backward_s = 0;
  if (job.software.ep_overlap) {  // crosswise: forward of one beside backward of the other
    forward_s = total_seconds(cost.backward_input) + total_seconds(cost.backward_weight);
    backward_s = total_seconds(cost.forward);
  } else if (job.software.tp_overlap) {
    forward_s = shared_s(setting, ops.forward);
    backward_s = shared_s(setting, ops.backward_input);
  }
  const double twice_s = 2 * once.seconds;
  add_cost(cost.forward, Category::ep, once.origin, setting.beside_s(twice_s, forward_s));
  add_cost(cost.backward_input, Category::ep, once.origin, setting.beside_s(twice_s, backward_s));
}

}  // namespace windtunnel
