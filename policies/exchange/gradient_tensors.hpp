// The weight tensors of a stage in the order of the backward pass: their shapes, for compressors,
// and when the backward pass completes their gradients.
#pragma once

#include <vector>

#include "models/compression/recipe.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// Describes a tensor of weights as it is on one GPU (after tp and ep).
struct StageTensor {
  double parameters = 0;
  double work = 0;  // share of the stage's backward
  int layer = -1;   // of the model, then of its tower; -1: embedding, loss head, tower's ends
  bool expert = false;
  TensorShape shape = {};   // for `parameters` elements
  double forward_work = 0;  // share of the stage's forward
  // Bytes of a frozen tensor under ZeRO-3, which has no gradient, in the unit of
  // ChunkCost::frozen_parameters.
  double frozen = 0;
};

// The tensors are in the order in which the backward pass completes them, with biases and norms as
// separate vectors. `work` and `forward_work` each add up to 1, and parameters to those of the
// chunk. For a transformer only weight matrices carry time, in proportion to the parameters used
// per token, because forward and backward of a GEMM take 6 FLOPs per weight and token; for a table
// of layers each layer carries the time of its kernels. A layer's time is assigned to its first
// tensor here: the backward completes the others together with it, and the forward needs all of
// them. A frozen part's time, half as much since it has only input gradients, is assigned to the
// next trained tensor; below the first trained part there is none. `first_layer`: of the stage,
// with `layers` layers. `embedding_here`: the first stage is on the same rank.
std::vector<StageTensor> stage_tensors(const Job& job, int stage, int first_layer, int layers,
                                       const ChunkCost& chunk, bool embedding_here = false);

}  // namespace windtunnel
