// The cost of a job whose model is a table of layers (layer_table.hpp), on one GPU per micro-batch,
// in the terms of chunk_cost.hpp: only data parallelism, one stage, every sample a sequence of one.
// Convolutions are costed as implicit GEMMs (Chetlur et al. 2014, arXiv 1410.0759) by op_cost.hpp,
// all other layers by the bytes that they move.
#pragma once

#include <memory>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// The value of Job::model for a Job::network: its name, the number of layers, and otherwise sizes
// of one, so that a sample counts as a token. A job's number of layers is thus valid for both kinds
// of model, and tensors are numbered by it (StageTensor::layer).
TransformerSpec network_model(const LayerTable& network);

// The largest number of stages; a table of layers is always one stage.
inline int most_stages(const Job& job) {
  return job.network ? 1 : job.model.layers;
}

// Throws Error that names the key if the layout has more than data parallelism, or there is a
// sequence or recomputation.
void check_network(const Job& job);

// A layer's costs per micro-batch; 0 s if it has no work in a pass.
struct LayerCost {
  OpCost forward;
  OpCost backward_input;
  OpCost backward_weight;

  double backward_s() const { return backward_input.seconds + backward_weight.seconds; }
};
// Result: [layer of the network]. `fused`: ChunkUnit::fused.
std::vector<LayerCost> network_layer_costs(const Job& job, int fused = 1);

// Returns one chunk. Throws Error as check_network() and peak_flops() do. A unit must be a whole
// micro-batch.
std::vector<ChunkCost> network_chunk_costs(const Job& job, const ChunkUnit& unit);

// Parameters that ZeRO-3 holds gathered at a time: the largest sum of two consecutive layers.
double network_gathered_parameters(const LayerTable& network);

// Counts two operations per multiply-add in the forward pass, and twice that in the backward pass.
double model_flops(const LayerTable& network, double samples);
// Counts what the job trains: the forward products once, again for layers that gradients pass
// through, and again for trained weights.
double step_flops(const Job& job, double samples);
double trained_parameters(const Job& job);  // of the job's table of layers

}  // namespace windtunnel
