// The weight tensors of a stage in the order of the backward pass: their shapes, for compressors,
// and when the backward pass completes their gradients.
#pragma once

#include <vector>

#include "models/compression/recipe.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// A tensor of weights as it is on one GPU (after tp and ep).
struct StageTensor {
  double parameters = 0;
  double work = 0;  // share of the stage's backward
  int layer = -1;   // of the model; its tower's follow; -1: embedding, loss head, ends of the tower
  bool expert = false;
  TensorShape shape = {};   // for `parameters` elements
  double forward_work = 0;  // share of the stage's forward
  // Bytes of a frozen tensor under ZeRO-3, which gathers it but has no gradient of it. The unit is
  // that of ChunkCost::frozen_parameters.
  double frozen = 0;
};

// Returns tensors in the order in which the backward pass completes them. Biases and norms are
// separate vectors. `work` and `forward_work` each add up to 1, and parameters to those of the
// chunk.
// In a transformer only weight matrices take time, in proportion to the parameters used per token,
// because forward and backward of a GEMM take 6 FLOPs per weight and token. In a table of layers
// each layer takes the time of its kernels. Its first tensor here has the layer's whole time: the
// backward completes the others together with it, and the forward needs all of them. The next
// trained tensor has the time of a frozen part, half as much because it has only input gradients;
// below the first trained part there is no backward.
// `first_layer`: the first of the stage's `layers` layers. `embedding_here`: the first stage is on
// the same rank.
std::vector<StageTensor> stage_tensors(const Job& job, int stage, int first_layer, int layers,
                                       const ChunkCost& chunk, bool embedding_here = false);

}  // namespace windtunnel
