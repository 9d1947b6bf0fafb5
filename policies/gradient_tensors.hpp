// The weight tensors of a stage in the order of the backward pass: their shapes, which compressors
// need, and when the backward pass completes their gradients.
#pragma once

#include <vector>

#include "models/chunk_cost.hpp"
#include "models/compression/recipe.hpp"
#include "models/job.hpp"

namespace windtunnel {

// Weights on one GPU (after tp and ep).
struct StageTensor {
  double parameters = 0;
  double work = 0;  // share of the stage's backward
  int layer = -1;   // of the model; -1: embedding or loss head
  bool expert = false;
  TensorShape shape = {};   // of `parameters` elements
  double forward_work = 0;  // share of the stage's forward
};

// In the order in which the backward pass completes them; the work adds up to 1, the parameters to
// those of the chunk. Weight matrices only carry backward time, spread in proportion to the
// parameters that a token meets, because forward and backward of a GEMM cost 6 FLOPs per weight
// and token. `first_layer`: of the stage, `layers` of them. `embedding_here`: the first stage lies
// on the same rank as this one.
std::vector<StageTensor> stage_tensors(const Job& job, int stage, int first_layer, int layers,
                                       const ChunkCost& chunk, bool embedding_here = false);

}  // namespace windtunnel
