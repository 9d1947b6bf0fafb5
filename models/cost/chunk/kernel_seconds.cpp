#include "models/cost/chunk/kernel_seconds.hpp"

#include "models/cost/op/op_cost.hpp"
#include "models/cost/op/op_tower.hpp"
#include "models/cost/parallel/tensor_ops.hpp"
#include "models/workload/stage_parameters.hpp"
#include "models/workload/tower.hpp"
#include "models/workload/training.hpp"

namespace windtunnel {
namespace {

void add_kernels(const Job& job, const std::vector<Op>& ops, KernelSeconds& sum) {
  for (const Op& op : ops) {
    const double seconds = op_cost(op, job).seconds;
    switch (op.kind) {
      case OpKind::gemm:
      case OpKind::attention_gemm:
        sum.products_s += seconds;
        break;
      case OpKind::attention_forward:
        sum.attention_forward_s += seconds;
        break;
      case OpKind::attention_backward:
        sum.attention_backward_s += seconds;
        break;
      case OpKind::memory:
        sum.memory_s += seconds;
        break;
    }
  }
}

KernelSeconds kernels_of_block(const Job& job, Block block) {
  KernelSeconds sum;
  const PassOps ops = tensor_parallel_ops(job, block, {});
  add_kernels(job, ops.forward, sum);
  if (!part_training(job.training.get()).backward) return sum;
  add_kernels(job, ops.backward_input, sum);
  add_kernels(job, ops.backward_weight, sum);
  const bool layer = block != Block::embedding && block != Block::head;
  if (layer) add_kernels(job, tensor_parallel_recomputed(job, block, {}), sum);
  return sum;
}

KernelSeconds kernels_of_tower(const Job& job) {
  const Tower* tower = job.model.tower.get();
  if (tower == nullptr || tower->sources == 0) return {};
  KernelSeconds sum = kernels_of_block(tower_job(job, kTowerPart), Block::layer);
  sum = sum * tower->layers.layers;
  for (const int part : {kTowerPart, kProjectorPart}) {
    for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
      add_kernels(job, tower_end_ops(job, part, pass), sum);
    }
  }
  return sum;
}

}  // namespace

KernelSeconds operator*(const KernelSeconds& kernels, double times) {
  return {kernels.products_s * times, kernels.attention_forward_s * times,
          kernels.attention_backward_s * times, kernels.memory_s * times};
}

KernelSeconds operator+(const KernelSeconds& a, const KernelSeconds& b) {
  return {a.products_s + b.products_s, a.attention_forward_s + b.attention_forward_s,
          a.attention_backward_s + b.attention_backward_s, a.memory_s + b.memory_s};
}

std::vector<KernelSeconds> kernel_seconds(const Job& job) {
  if (job.network != nullptr) return {};
  const std::vector<int> layers = layers_per_stage(job.model, job.layout);
  std::vector<KernelSeconds> stages;
  int next = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    KernelSeconds sum;
    for (const int end = next + layers[stage]; next < end; ++next) {
      sum = sum + kernels_of_block(job, job.model.block_of(next));
    }
    if (stage == 0) sum = sum + kernels_of_block(job, Block::embedding) + kernels_of_tower(job);
    if (stage + 1 == layers.size()) sum = sum + kernels_of_block(job, Block::head);
    stages.push_back(sum);
  }
  return stages;
}

}  // namespace windtunnel
