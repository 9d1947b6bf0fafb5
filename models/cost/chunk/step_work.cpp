#include "models/cost/chunk/step_work.hpp"

#include <numeric>

#include "models/base/error.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/workload/layer_table.hpp"
#include "models/workload/tower.hpp"
#include "models/workload/training.hpp"

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

namespace {

int products_of(const PartTraining& part) {
  return 1 + (part.backward ? 1 : 0) + (part.backward && part.weights ? 1 : 0);
}

// Forward products, plus input gradients where gradients pass, plus weight gradients of trained
// weights; adapters are not counted.
double trained_flops(const Job& job, AttentionCount count) {
  const TransformerSpec& model = job.model;
  const Training* training = job.training.get();
  const double tokens = double(job.batch.global) * job.batch.sequence;
  double flops = 0;
  for (int layer = 0; layer < model.layers; ++layer) {
    const LayerFlops forward = layer_flops(model, job.batch.sequence, model.block_of(layer), count);
    const PartTraining part = part_training(training, layer, model.layers);
    flops += tokens *
             (products_of(part) * forward.products + (part.backward ? 3 : 1) * forward.attention);
  }
  const int head = products_of(part_training(training, head_part(model.layers), model.layers));
  if (!is_contrastive(training)) {
    const double rows = tokens * model.rows_share(Block::head, job.batch.sequence);
    return flops + head * rows * 2.0 * model.hidden * model.vocabulary;
  }
  const double width = training->loss.width > 0 ? training->loss.width : model.hidden;
  const double sequences = job.batch.global;
  return flops + head * sequences * 2 * model.hidden * width +
         3 * 2 * sequences * 2 * sequences * width;
}

}  // namespace

double tower_step_flops(const Job& job) {
  if (job.network || job.model.tower == nullptr) return 0;
  const Tower& tower = *job.model.tower;
  const auto part_of = [&](int part) {
    return part_training(job.training.get(), part, job.model.layers);
  };
  const TowerFlops forward = tower_flops(tower);
  const PartTraining stack = part_of(kTowerPart);
  const double flops = products_of(stack) * (forward.stack - forward.attention) +
                       (stack.backward ? 3 : 1) * forward.attention +
                       products_of(part_of(kProjectorPart)) * forward.projector;
  const int passes = is_zeroth_order(job.training.get()) ? 2 : 1;
  return passes * flops * tower.sources * job.batch.global;
}

double flops_per_step(const Job& job, AttentionCount count) {
  const int passes = is_zeroth_order(job.training.get()) ? 2 : 1;
  if (job.network) return passes * step_flops(job, job.batch.global);
  const double tower = tower_step_flops(job);
  if (job.training) return tower + passes * trained_flops(job, count);
  if (!job.lengths) {
    return tower + model_flops(job.model, job.batch.global, job.batch.sequence, count);
  }
  double flops = 0;
  for (const int length : step_lengths(job)) flops += model_flops(job.model, 1, length, count);
  return flops;
}

double mean_peak_flops(const Job& job) {
  const Cluster& cluster = job.cluster;
  if (cluster.pools.empty()) return peak_flops(cluster.node.gpu, job.precision);
  double sum = 0;
  for (int node = 0; node < cluster.nodes; ++node) {
    sum += peak_flops(cluster.spec_of(node).gpu, job.precision);
  }
  return sum / cluster.nodes;
}

ParameterCounts parameter_counts(const Job& job) {
  if (job.network) return {job.network->parameters(), trained_parameters(job)};
  return parameter_counts(job.model, job.training.get());
}

}  // namespace windtunnel
