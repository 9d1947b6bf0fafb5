#include "models/workload/stage_parameters.hpp"

#include <algorithm>

#include "models/workload/adapter.hpp"

namespace windtunnel {
namespace {

// Matrices are divided by tp; norms and the biases of row-parallel layers are repeated.
double dense_layer_parameters_per_gpu(const TransformerSpec& model, int tp) {
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

}  // namespace

double vocabulary_parameters(const TransformerSpec& model, int tp) {
  return padded_vocabulary(model.vocabulary, tp) * static_cast<double>(model.hidden) / tp;
}

LayerParameters layer_parameters_per_gpu(const TransformerSpec& model, const Layout& layout,
                                         bool moe) {
  if (!moe) return {dense_layer_parameters_per_gpu(model, layout.tp), 0};
  return {moe_layer_parameters_per_gpu(model, layout.tp),
          expert_parameters_per_gpu(model, layout.ep)};
}

double expert_shards(const Layout& layout, int dense) {
  return std::max(1.0, static_cast<double>(dense) * layout.tp / layout.ep);
}

std::vector<double> stage_parameters(const TransformerSpec& model, const Layout& layout) {
  const std::vector<int> layers = layers_per_stage(model, layout);
  const std::vector<int> sparse = moe_layers_per_stage(model, layout);
  std::vector<double> parameters(layers.size());
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    const LayerParameters dense = layer_parameters_per_gpu(model, layout, false);
    parameters[stage] += (layers[stage] - sparse[stage]) * dense.dense;
    if (sparse[stage] > 0) {
      const LayerParameters moe = layer_parameters_per_gpu(model, layout, true);
      parameters[stage] += sparse[stage] * (moe.dense + moe.experts);
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

namespace {

// Those that a quantised base has in 4 bits: not norms, biases and a router.
double layer_matrices_per_gpu(const TransformerSpec& model, const Layout& layout, bool moe) {
  const double mlp = moe ? model.expert_parameters() / model.moe.ffn_hidden * model.moe.shared_ffn
                         : model.mlp_parameters();
  return (model.attention_parameters() + mlp) / layout.tp;
}

// The parts of a stage, one by one.
class StageParts {
 public:
  StageParts(const TransformerSpec& model, const Layout& layout, const Training& training,
             double weight_bytes)
      : model_(model), layout_(layout), training_(training), weight_bytes_(weight_bytes) {
    for (const bool moe : {false, true}) {
      if (moe && model.moe.experts == 0) continue;
      const LayerParameters layer = layer_parameters_per_gpu(model, layout, moe);
      dense_[moe] = layer.dense;
      if (moe) experts_ = layer.experts;
      quantised_[moe] = layer_matrices_per_gpu(model, layout, moe);
      adapters_[moe] = adapter_parameters(model, layout, training.adapter, moe);
    }
  }

  void add_layer(int layer, TrainedParameters& to) const {
    const bool moe = model_.is_moe(layer);
    const double experts = moe ? experts_ : 0;
    const PartTraining part = part_training(&training_, layer, model_.layers);
    if (part.weights) {
      to.trained += dense_[moe] + experts;
      to.trained_experts += experts;
      return;
    }
    const bool in_4_bits = training_.adapter.kind == AdapterKind::qlora;
    const double smaller = in_4_bits ? 1 - kNf4Bytes / weight_bytes_ : 0;
    to.frozen += dense_[moe] + experts - smaller * (quantised_[moe] + experts);
    to.frozen_experts += (1 - smaller) * experts;
    if (!part.adapter) return;
    const AdapterParameters& adapter = adapters_[moe];
    to.trained += adapter.trained;
    to.trained_experts += adapter.trained_experts;
    to.frozen += adapter.frozen;
    to.frozen_experts += adapter.frozen_experts;
  }

  void add_end(int part, double parameters, TrainedParameters& to) const {
    const bool trained = part_training(&training_, part, model_.layers).weights;
    (trained ? to.trained : to.frozen) += parameters;
  }

 private:
  const TransformerSpec& model_;
  const Layout& layout_;
  const Training& training_;
  const double weight_bytes_;
  double dense_[2] = {};  // [has experts] of a layer, but for its experts
  double quantised_[2] = {};
  AdapterParameters adapters_[2];
  double experts_ = 0;
};

// What maps a sequence to its embedding in place of the matrix of a vocabulary.
double embedder_parameters(const TransformerSpec& model, const Training& training) {
  if (!is_contrastive(&training)) return 0;
  const double width = training.loss.width > 0 ? training.loss.width : model.hidden;
  return width * model.hidden;
}

}  // namespace

std::vector<TrainedParameters> trained_parameters(const TransformerSpec& model,
                                                  const Layout& layout, const Training& training,
                                                  double weight_bytes) {
  const std::vector<int> layers = layers_per_stage(model, layout);
  const StageParts parts(model, layout, training, weight_bytes);
  std::vector<TrainedParameters> stages(layers.size());
  int layer = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    for (int i = 0; i < layers[stage]; ++i) parts.add_layer(layer++, stages[stage]);
  }
  const double matrix = vocabulary_parameters(model, layout.tp);
  const double positions = model.position == PositionEncoding::learned
                               ? static_cast<double>(model.sequence) * model.hidden
                               : 0;
  parts.add_end(kEmbeddingPart, matrix + positions + model.segment_parameters(), stages.front());
  const bool own_matrix = !model.tied_embeddings || layout.pp > 1;
  parts.add_end(head_part(model.layers),
                norm_parameters(model) + model.encoder_parameters() + (own_matrix ? matrix : 0) +
                    embedder_parameters(model, training),
                stages.back());
  return stages;
}

ParameterCounts parameter_counts(const TransformerSpec& model, const Training* training) {
  ParameterCounts counts{model.parameters(), model.parameters()};
  if (training == nullptr) return counts;
  counts = {model.parameters() + embedder_parameters(model, *training), 0};
  const Layout one;
  for (int layer = 0; layer < model.layers; ++layer) {
    const bool moe = model.is_moe(layer);
    const PartTraining part = part_training(training, layer, model.layers);
    if (part.weights) {
      counts.trained += moe ? model.moe_layer_parameters() : model.layer_parameters();
    }
    if (!part.adapter) continue;
    const AdapterParameters adapter = adapter_parameters(model, one, training->adapter, moe);
    counts.all += adapter.trained + adapter.frozen;
    counts.trained += adapter.trained;
  }
  if (part_training(training, kEmbeddingPart, model.layers).weights) {
    counts.trained += model.embedding_parameters();
  }
  if (part_training(training, head_part(model.layers), model.layers).weights) {
    counts.trained += model.head_parameters() + embedder_parameters(model, *training);
  }
  return counts;
}

double gathered_parameters(const TransformerSpec& model, const Layout& layout, double layers) {
  double layer = layer_parameters_per_gpu(model, layout, false).dense;
  if (model.moe.experts > 0) {
    const LayerParameters moe = layer_parameters_per_gpu(model, layout, true);
    layer = std::max(layer, moe.dense + moe.experts);
  }
  return layers * layer + vocabulary_parameters(model, layout.tp);
}

}  // namespace windtunnel
