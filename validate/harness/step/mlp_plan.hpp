// What one rank runs in a data-parallel step of a multi-layer perceptron: its layers, its part of
// the batch, and which gradients are exchanged together, as the simulator has them of the same Job.
#pragma once

#include <vector>

#include "models/compression/recipe.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

struct MlpLayer {
  int inputs = 1;
  int outputs = 1;
  bool bias = true;
  bool relu = true;
};

// A gradient: of the weights of a layer, outputs x inputs, or of its bias.
struct MlpTensor {
  int layer = 0;
  bool bias = false;
  TensorShape shape = {};
};

struct MlpPlan {
  std::vector<MlpLayer> layers;
  int ranks = 1;
  int rank_batch = 1;                     // samples of a rank
  std::vector<MlpTensor> tensors;         // in the order in which the backward pass completes them
  std::vector<std::vector<int>> buckets;  // of tensors; each goes as soon as it is full
  CompressorChoice compressor;
  Optimizer optimizer = Optimizer::sgd;
  double learning_rate = 0.01;
};

// Tensors of the layers in the order of the backward pass, each in a bucket of its own.
MlpPlan mlp_plan(std::vector<MlpLayer> layers, int ranks, int rank_batch);

// Throws Error that names the key of what does not run here, and what to set.
MlpPlan mlp_plan(const Job& job);

}  // namespace windtunnel
