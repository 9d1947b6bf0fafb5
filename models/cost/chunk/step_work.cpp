#include "models/cost/chunk/step_work.hpp"

#include <numeric>

#include "models/base/error.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"

namespace windtunnel {

std::vector<int> step_lengths(const Job& job) {
  CHECK(job.lengths.has_value(), "a job without lengths of sequences");
  return draw_lengths(job.lengths->distribution, job.batch.global, job.lengths->seed);
}

double tokens_per_step(const Job& job) {
  if (!job.lengths) return double(job.batch.global) * job.batch.sequence;
  const std::vector<int> lengths = step_lengths(job);
  return std::accumulate(lengths.begin(), lengths.end(), 0.0);
}

double flops_per_step(const Job& job) {
  if (job.network) return model_flops(*job.network, job.batch.global);
  if (!job.lengths) return model_flops(job.model, job.batch.global, job.batch.sequence);
  double flops = 0;
  for (const int length : step_lengths(job)) flops += model_flops(job.model, 1, length);
  return flops;
}

}  // namespace windtunnel
