#include "models/cost/chunk/contrastive_exchange.hpp"

#include <algorithm>
#include <numeric>

#include "models/network/groups/group_shape.hpp"
#include "models/plan/job_collective.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

// In both passes of a ring each rank passes every part on to the next, as in an all-gather.
void add_ring(const CollectiveCost& once, double share, BlockCost& head) {
  const auto exposed = [](double sent_s, const std::vector<CostPart>& beside) {
    return std::max(0.0, sent_s - total_seconds(beside));
  };
  add_cost(head.forward, Category::dp, once.origin, exposed(share * once.seconds, head.forward));
  add_cost(head.backward_input, Category::dp, once.origin,
           exposed(2 * share * once.seconds, head.backward_input));
}

}  // namespace

void add_contrastive_exchange(const BlockSetting& setting, BlockCost& head) {
  const Job& job = setting.job;
  const int replicas = job.layout.dp;
  if (replicas == 1) return;
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(replicas));
  std::iota(ranks.begin(), ranks.end(), 0);
  const GroupShape shape = group_shape(ranks, job.cluster);
  const TrainingLoss& loss = job.training->loss;
  const double width = loss.width > 0 ? loss.width : job.model.hidden;
  const double bytes = 2 * 4 * static_cast<double>(job.batch.global) * width;
  const double share = 1.0 / microbatches(job.layout, job.batch);
  const auto cost = [&](CollectiveKind kind) {
    return collective_cost(job, Category::dp, kind, shape, bytes);
  };
  const CollectiveCost gathered = cost(CollectiveKind::all_gather);
  if (loss.form == ContrastiveForm::ring) return add_ring(gathered, share, head);
  const CollectiveCost scattered = cost(CollectiveKind::reduce_scatter);
  add_cost(head.forward, Category::dp, gathered.origin, share * gathered.seconds);
  add_cost(head.backward_input, Category::dp, scattered.origin, share * scattered.seconds);
}

}  // namespace windtunnel
