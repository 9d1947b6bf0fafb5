#include "validate/harness/step/mlp_plan.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/workload/layer_table.hpp"
#include "policies/conflicts/conflict.hpp"
#include "policies/exchange/compressed_reductions.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "validate/harness/exchange/exchange.hpp"

namespace windtunnel {
namespace {

[[noreturn]] void refuse(const Job& job, const std::string& what) {
  throw Error(fmt::format("model '{}' cannot run here: {}", job.model.name, what));
}

std::vector<MlpLayer> layers_of(const Job& job) {
  if (!job.network) refuse(job, "it is a transformer; take a table of linear layers");
  std::vector<MlpLayer> layers;
  bool open = false;  // the last one may still get its ReLU
  for (const NetworkLayer& layer : job.network->layers) {
    if (layer.kind == LayerKind::linear) {
      layers.push_back({static_cast<int>(layer.k), static_cast<int>(layer.n),
                        layer.parameters > layer.weights(), false});
      open = true;
    } else if (layer.kind == LayerKind::relu && open) {
      layers.back().relu = true;
      open = false;
    } else {
      refuse(job, fmt::format("layer '{}' is no linear layer, nor a ReLU behind one", layer.name));
    }
  }
  return layers;
}

void check_runs(const Job& job) {
  check_conflicts(layout_conflicts(), job);
  check_network(job);
  if (job.layout.sharding != Sharding::none) refuse(job, "set layout.sharding: none");
  if (job.precision != Precision::fp32) refuse(job, "set precision: fp32");
  const Communication& communication = job.communication;
  if (communication.overlap != GradientOverlap::none &&
      communication.overlap != GradientOverlap::blocking) {
    refuse(job,
           "set communication.overlap: blocking (or none), because nothing is computed while "
           "gradients are exchanged");
  }
  if (communication.aggregation != Aggregation::all_reduce) {
    refuse(job, "set communication.aggregation: all-reduce");
  }
  if (job.software.optimizer == Optimizer::momentum) {
    refuse(job, "set software.optimizer: sgd or adam");
  }
  if (job.software.bucket_copies) refuse(job, "set software.bucket_copies: false");
  if (job.batch.micro * job.layout.dp != job.batch.global) {
    refuse(job, fmt::format("a rank runs one micro-batch a step: set batch.global to {} or "
                            "batch.micro to {}",
                            job.batch.micro * job.layout.dp, job.batch.global / job.layout.dp));
  }
  const std::string reason = why_no_exchange(communication.compressors.dp);
  if (!reason.empty()) {
    throw Error(
        communication.compressors.dp.where,
        fmt::format("communication.compressor: {} {}", communication.compressors.dp.name, reason));
  }
}

}  // namespace

MlpPlan mlp_plan(std::vector<MlpLayer> layers, int ranks, int rank_batch) {
  MlpPlan plan;
  plan.layers = std::move(layers);
  plan.ranks = ranks;
  plan.rank_batch = rank_batch;
  for (int i = static_cast<int>(plan.layers.size()); i-- > 0;) {
    const MlpLayer& layer = plan.layers[static_cast<std::size_t>(i)];
    const double outputs = layer.outputs;
    if (layer.bias) plan.tensors.push_back({i, true, {0, outputs}});
    plan.tensors.push_back({i, false, {outputs, static_cast<double>(layer.inputs)}});
  }
  for (int i = 0; i < static_cast<int>(plan.tensors.size()); ++i) plan.buckets.push_back({i});
  return plan;
}

MlpPlan mlp_plan(const Job& job) {
  std::vector<MlpLayer> layers = layers_of(job);
  check_runs(job);
  MlpPlan plan = mlp_plan(std::move(layers), job.layout.dp, job.batch.micro);
  plan.compressor = job.communication.compressors.dp;
  plan.optimizer = job.software.optimizer;
  const std::vector<StageTensor> tensors =
      stage_tensors(job, 0, 0, job.model.layers, chunk_costs(job).front());
  CHECK(tensors.size() == plan.tensors.size(), "{} tensors of a network of {}", plan.tensors.size(),
        tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    CHECK(tensors[i].shape.rows == plan.tensors[i].shape.rows &&
              tensors[i].shape.columns == plan.tensors[i].shape.columns,
          "tensor {} has another shape", i);
  }
  plan.buckets.assign(1, std::vector<int>(tensors.size()));
  std::iota(plan.buckets.front().begin(), plan.buckets.front().end(), 0);
  if (job.communication.overlap == GradientOverlap::none) return plan;
  plan.buckets.clear();
  const ReplicaNetwork network(job);
  for (const GradientBucket& bucket : GradientExchange(job, network).buckets(tensors, 0)) {
    plan.buckets.push_back(bucket.tensors);
  }
  return plan;
}

}  // namespace windtunnel
