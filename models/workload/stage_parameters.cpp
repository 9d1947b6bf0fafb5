#include "models/workload/stage_parameters.hpp"

#include <algorithm>

namespace windtunnel {
namespace {

// Matrices are divided by tp; norms and the biases of row-parallel layers are repeated.
double layer_parameters_per_gpu(const TransformerSpec& model, int tp) {
  const double row_parallel_biases = model.biases ? 2.0 * model.hidden : 0;
  const double repeated = 2 * norm_parameters(model) + row_parallel_biases;
  return (model.layer_parameters() - repeated) / tp + repeated;
}

double expert_parameters_per_gpu(const TransformerSpec& model, int ep) {
  return model.expert_parameters() * model.moe.experts / ep;
}

// Without its experts. The router is repeated too.
double moe_layer_parameters_per_gpu(const TransformerSpec& model, int tp) {
  const double experts = model.moe.experts * model.expert_parameters();
  const double repeated = 2 * norm_parameters(model) + (model.biases ? model.hidden : 0.0) +
                          static_cast<double>(model.hidden) * model.moe.experts;
  return (model.moe_layer_parameters() - experts - repeated) / tp + repeated;
}

double vocabulary_parameters(const TransformerSpec& model, int tp) {
  return padded_vocabulary(model.vocabulary, tp) * static_cast<double>(model.hidden) / tp;
}

}  // namespace

std::vector<double> stage_parameters(const TransformerSpec& model, const Layout& layout) {
  const std::vector<int> layers = layers_per_stage(model, layout);
  const std::vector<int> sparse = moe_layers_per_stage(model, layout);
  std::vector<double> parameters(layers.size());
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    parameters[stage] +=
        (layers[stage] - sparse[stage]) * layer_parameters_per_gpu(model, layout.tp);
    if (sparse[stage] > 0) {
      parameters[stage] += sparse[stage] * (moe_layer_parameters_per_gpu(model, layout.tp) +
                                            expert_parameters_per_gpu(model, layout.ep));
    }
  }
  const double matrix = vocabulary_parameters(model, layout.tp);
  const double positions = model.position == PositionEncoding::learned
                               ? static_cast<double>(model.sequence) * model.hidden
                               : 0;
  parameters.front() += matrix + positions + model.segment_parameters();
  parameters.back() += norm_parameters(model) + model.encoder_parameters();
  if (!model.tied_embeddings || layout.pp > 1) parameters.back() += matrix;
  return parameters;
}

double gathered_parameters(const TransformerSpec& model, const Layout& layout) {
  double layer = layer_parameters_per_gpu(model, layout.tp);
  if (model.moe.experts > 0) {
    layer = std::max(layer, moe_layer_parameters_per_gpu(model, layout.tp) +
                                expert_parameters_per_gpu(model, layout.ep));
  }
  return 2 * layer + vocabulary_parameters(model, layout.tp);
}

}  // namespace windtunnel
