// The weight tensors of a stage in the order of the backward pass, which of their gradients are
// reduced together, and when the backward pass has them ready.
#pragma once

#include <vector>

#include "models/chunk_cost.hpp"
#include "models/job.hpp"

namespace windtunnel {

// Weights on one GPU (after tp and ep). Norms and biases ride with the matrices.
struct StageTensor {
  double parameters = 0;
  double work = 0;  // share of the stage's backward
  int layer = -1;   // of the model; -1: embedding or loss head
  bool expert = false;
};

// In the order in which the backward pass completes them; the work adds up to 1, the parameters to
// those of the chunk. Weight matrices only carry backward time, spread in proportion to the
// parameters that a token meets, because forward and backward of a GEMM cost 6 FLOPs per weight
// and token. `first_layer`: of the stage, `layers` of them. `embedding_here`: the first stage lies
// on the same rank as this one.
std::vector<StageTensor> stage_tensors(const Job& job, int stage, int first_layer, int layers,
                                       const ChunkCost& chunk, bool embedding_here = false);

// One reduction of a stage: `parameters` whose gradients are complete when `ready_share` of the
// backward has run.
struct GradientBucket {
  double parameters = 0;
  double ready_share = 1;
  bool expert = false;
};

// PyTorch DDP's rule (Li et al., VLDB 2020), which Megatron-LM follows: tensors in backward order,
// a bucket closes when it holds `bucket_bytes` or more; a tensor is never split. Experts, which
// have replicas of their own, have buckets of their own. Ascending by ready_share; the last is 1.
std::vector<GradientBucket> gradient_buckets(const std::vector<StageTensor>& tensors,
                                             double bytes_per_parameter, double bucket_bytes);

}  // namespace windtunnel
