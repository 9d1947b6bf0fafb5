// What a job whose model is a table of layers (layer_table.hpp) costs one GPU per micro-batch, in
// the terms of chunk_cost.hpp: data parallelism alone, one stage, every sample a sequence of one.
// Convolutions are costed as implicit GEMMs (Chetlur et al. 2014, arXiv 1410.0759) by op_cost.hpp,
// everything else by the bytes that it moves.
#pragma once

#include <memory>
#include <vector>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/plan/job.hpp"

namespace windtunnel {

// What Job::model is beside Job::network: its name, the table's number of layers, and sizes of one,
// so that a sample counts as a token. Whoever asks a job for its layers therefore gets those that
// its tensors are numbered by (StageTensor::layer), whichever kind the model is.
TransformerSpec network_model(const LayerTable& network);

// Stages that the model can be cut into: those of a table of layers run as one.
inline int most_stages(const Job& job) {
  return job.network ? 1 : job.model.layers;
}

// Throws Error that names the key: a layout that is not data parallelism alone, a sequence, a
// recomputation.
void check_network(const Job& job);

// Of a micro-batch; 0 s where a layer has nothing to do in a pass.
struct LayerCost {
  OpCost forward;
  OpCost backward_input;
  OpCost backward_weight;

  double backward_s() const { return backward_input.seconds + backward_weight.seconds; }
};
// [layer of the network] `fused`: ChunkUnit::fused.
std::vector<LayerCost> network_layer_costs(const Job& job, int fused = 1);

// One chunk. Throws Error as check_network() and peak_flops() do. A unit of it is the whole.
std::vector<ChunkCost> network_chunk_costs(const Job& job, const ChunkUnit& unit);

// The most that ZeRO-3 holds whole at a time: the largest two layers that follow each other.
double network_gathered_parameters(const LayerTable& network);

// Two operations per multiplication and addition, forward and twice backward.
double model_flops(const LayerTable& network, double samples);
// The same of what the job trains: one of forward products, of those that gradients pass through
// another, and a third of weights that are trained.
double step_flops(const Job& job, double samples);
double trained_parameters(const Job& job);  // of its table

}  // namespace windtunnel
