// How many parameters of a transformer a GPU holds under a layout.
#pragma once

#include <vector>

#include "models/workload/layout.hpp"
#include "models/workload/training.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// Parameters that one GPU of each stage holds, size layout.stages(). tp divides matrices but not
// norms and biases of row-parallel layers; the vocabulary is padded. Tied embeddings count twice if
// first and last stage are on different ranks. Only ep divides experts, and each one stays whole.
std::vector<double> stage_parameters(const TransformerSpec& model, const Layout& layout);

// Parameters of one layer on one GPU, with experts counted separately.
struct LayerParameters {
  double dense = 0;
  double experts = 0;
};
LayerParameters layer_parameters_per_gpu(const TransformerSpec& model, const Layout& layout,
                                         Block block);
// Number of ranks that share an expert's part of the state, if `dense` ranks share that part of
// other parameters. `from`: the lowest sharding that divides this part; below it each rank holds
// its experts whole, even if several tp ranks have the same ones (expert tensor parallelism 1).
double expert_shards(const Layout& layout, int dense, Sharding from);
// Parameters of the embedding, and of the head if it is not tied; the vocabulary is padded.
double vocabulary_parameters(const TransformerSpec& model, int tp);

// A tower's parameters without its projector, on each GPU of the first stage. tp divides its layers
// as a decoder's; the embedding of patches and the projector are whole on each rank.
double tower_parameters_per_gpu(const Tower& tower, const Layout& layout);

// The same, divided into trained and frozen ones, including adapters. `weight_bytes`: bytes of a
// parameter in the job's precision.
struct TrainedParameters {
  double trained = 0;
  double trained_experts = 0;  // the part of `trained` that is in experts
  // Frozen parameters in units of `weight_bytes`: a 4-bit parameter counts as a fraction.
  double frozen = 0;
  double frozen_experts = 0;
};
std::vector<TrainedParameters> trained_parameters(const TransformerSpec& model,
                                                  const Layout& layout, const Training& training,
                                                  double weight_bytes);

// Parameters of the whole model including adapters, each counted once.
struct ParameterCounts {
  double all = 0;
  double trained = 0;
};
ParameterCounts parameter_counts(const TransformerSpec& model, const Training* training);

// Parameters that ZeRO-3 holds gathered at a time on one GPU: the running layer, the next one
// (`layers`), and FSDP's root unit, which stays gathered: the vocabulary and the ends of a tower.
double gathered_parameters(const TransformerSpec& model, const Layout& layout, double layers = 2);

}  // namespace windtunnel
