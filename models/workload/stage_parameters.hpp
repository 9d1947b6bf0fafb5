// How many parameters of a transformer a GPU holds under a layout.
#pragma once

#include <vector>

#include "models/workload/layout.hpp"
#include "models/workload/training.hpp"
#include "models/workload/transformer.hpp"

namespace windtunnel {

// Parameters that one GPU of each stage holds, size layout.stages(): matrices divided by tp, norms
// and the biases of row-parallel layers repeated, the vocabulary padded. Tied embeddings are there
// twice when the first and last stage are on different ranks. Experts are divided by ep, whole
// ones each, and not by tp.
std::vector<double> stage_parameters(const TransformerSpec& model, const Layout& layout);

// Parameters of one layer on one GPU. Those of experts are counted apart.
struct LayerParameters {
  double dense = 0;
  double experts = 0;
};
LayerParameters layer_parameters_per_gpu(const TransformerSpec& model, const Layout& layout,
                                         Block block);
// Ranks that share a part of an expert's state, where `dense` ranks share that part of the other
// parameters. `from`: the least sharding that divides this part; below it each rank has its experts
// whole, however many ranks of tp have the same ones (expert tensor parallelism 1).
double expert_shards(const Layout& layout, int dense, Sharding from);
// Parameters of the embedding, and of a head that is not tied to it; the vocabulary is padded.
double vocabulary_parameters(const TransformerSpec& model, int tp);

// The same by what is trained of them, adapters included. `weight_bytes`: of a parameter in the
// job's precision.
struct TrainedParameters {
  double trained = 0;
  double trained_experts = 0;  // those of them in experts
  // The others, by their bytes: one in 4 bits counts as what it takes of `weight_bytes`.
  double frozen = 0;
  double frozen_experts = 0;
};
std::vector<TrainedParameters> trained_parameters(const TransformerSpec& model,
                                                  const Layout& layout, const Training& training,
                                                  double weight_bytes);

// Parameters of the whole model, adapters included, each counted once.
struct ParameterCounts {
  double all = 0;
  double trained = 0;
};
ParameterCounts parameter_counts(const TransformerSpec& model, const Training* training);

// Parameters on one GPU that ZeRO-3 holds whole at a time: the layer that runs, the next one
// (`layers`), and the vocabulary (of FSDP's root unit, which stays).
double gathered_parameters(const TransformerSpec& model, const Layout& layout, double layers = 2);

}  // namespace windtunnel
