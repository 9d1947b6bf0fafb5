// The weight tensors of a stage in the order of the backward pass: their shapes, which compressors
// need, and when the backward pass completes their gradients.
#pragma once

#include <vector>

#include "models/compression/recipe.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Weights on one GPU (after tp and ep).
struct StageTensor {
  double parameters = 0;
  double work = 0;  // share of the stage's backward
  int layer = -1;   // of the model; -1: embedding or loss head
  bool expert = false;
  TensorShape shape = {};   // of `parameters` elements
  double forward_work = 0;  // share of the stage's forward
  // Under ZeRO-3 of a tensor that is not trained, which has no gradient: by its bytes
  // (ChunkCost::frozen_parameters).
  double frozen = 0;
};

// In the order in which the backward pass completes them, biases and norms as vectors of their own;
// work and forward work add up to 1 each, the parameters to those of the chunk. Of a transformer
// the weight matrices only carry time, spread in proportion to the parameters that a token meets,
// because forward and backward of a GEMM cost 6 FLOPs per weight and token; of a table of layers
// each layer carries its kernels'. The time of a layer stands at its tensor that comes first here:
// the backward completes all of them with it, and the forward needs them all before it. Of a part
// that is not trained it stands at what is trained next, half of it, as inputs alone have
// gradients; below the first trained part there is none.
// `first_layer`: of the stage, `layers` of them. `embedding_here`: the first stage lies on the same
// rank as this.
std::vector<StageTensor> stage_tensors(const Job& job, int stage, int first_layer, int layers,
                                       const ChunkCost& chunk, bool embedding_here = false);

}  // namespace windtunnel
