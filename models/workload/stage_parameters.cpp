#include "models/workload/stage_parameters.hpp"

#include <algorithm>

#include "models/workload/adapter.hpp"
#include "models/workload/tower.hpp"

namespace windtunnel {
namespace {

// Parameters of a layer on one GPU without its experts. tp divides matrices; norms, the biases of
// row-parallel layers, a router and the matrices before and after narrower experts are on every
// rank. cp divides projections of keys, which have a part for each part of a sequence.
double dense_parameters_per_gpu(const TransformerSpec& model, const Layout& layout, Block block) {
  const double h = model.hidden;
  const double streams = has_two_streams(block) ? 2 : 1;
  const double projections = has_attention(block) ? model.key_projection_parameters() : 0;
  double whole = model.layer_parameters(block) - projections;
  double repeated = streams * halves(block) * norm_parameters(model);
  const bool two_outputs = has_attention(block) && !shares_norm(block);
  if (model.biases && two_outputs) repeated += attentions(block) * h;
  if (model.biases && has_mlp(block)) repeated += streams * h;
  if (block == Block::last_double_stream) {  // its text has no output matrix and no MLP norm
    repeated -= norm_parameters(model) + (model.biases ? 2 * h : 0);
  }
  if (has_attention(block)) repeated += streams * model.indexer_parameters();
  if (has_mamba(block)) {
    const MambaMixer& mamba = model.mamba;
    repeated += h * mamba.rank() + (mamba.form().norm_by_head ? mamba.head_width : 0);
  }
  if (has_experts(block)) {
    whole -= model.moe.experts * model.expert_parameters();
    repeated += h * (model.moe.experts + 2.0 * model.moe.latent_width);
  }
  return (whole - repeated) / layout.tp + repeated + projections / layout.cp;
}

// Parameters that embed conditions; they are with the embedding and whole on every rank.
double conditioning(const TransformerSpec& model) {
  return static_cast<double>(model.conditioning) * model.hidden;
}

double expert_parameters_per_gpu(const TransformerSpec& model, int ep) {
  return model.expert_parameters() * model.moe.experts / ep;
}

}  // namespace

double vocabulary_parameters(const TransformerSpec& model, int tp) {
  return padded_vocabulary(model.vocabulary, tp) * static_cast<double>(model.hidden) / tp;
}

LayerParameters layer_parameters_per_gpu(const TransformerSpec& model, const Layout& layout,
                                         Block block) {
  return {dense_parameters_per_gpu(model, layout, block),
          has_experts(block) ? expert_parameters_per_gpu(model, layout.ep) : 0};
}

double expert_shards(const Layout& layout, int dense, Sharding from) {
  if (layout.sharding < from) return 1;
  if (layout.expert_shard_ranks > 0) return layout.expert_shard_ranks;
  return std::max(1.0, static_cast<double>(dense) * layout.tp / layout.ep);
}

double tower_parameters_per_gpu(const Tower& tower, const Layout& layout) {
  const Layout own = tower_layout(tower, layout);
  return tower.embedding_parameters() +
         tower.layers.layers * layer_parameters_per_gpu(tower.layers, own, Block::layer).dense;
}

std::vector<double> stage_parameters(const TransformerSpec& model, const Layout& layout) {
  const std::vector<int> layers = layers_per_stage(model, layout);
  std::vector<double> parameters(layers.size());
  int layer = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    for (int i = 0; i < layers[stage]; ++i) {
      const LayerParameters of = layer_parameters_per_gpu(model, layout, model.block_of(layer++));
      parameters[stage] += of.dense + of.experts;
    }
  }
  const double matrix = vocabulary_parameters(model, layout.tp);
  const double positions = model.position == PositionEncoding::learned
                               ? static_cast<double>(model.sequence) * model.hidden
                               : 0;
  parameters.front() += matrix + positions + model.segment_parameters() + conditioning(model);
  if (model.tower) {
    parameters.front() +=
        tower_parameters_per_gpu(*model.tower, layout) + model.tower->projector_parameters();
  }
  parameters.back() += model.final_norm_parameters() + model.encoder_parameters();
  parameters.back() += model.mtp_layers *
                       (2.0 * model.hidden * model.hidden / layout.tp + 3 * norm_parameters(model));
  // The stage of these modules embeds tokens with a copy of the matrix.
  if (model.mtp_layers > 0 && !model.tied_embeddings && layout.pp > 1) parameters.back() += matrix;
  if (!model.tied_embeddings || layout.pp > 1) parameters.back() += matrix;
  return parameters;
}

namespace {

// Parameters that a quantised base keeps in 4 bits: all except norms, biases and a router.
double layer_matrices_per_gpu(const TransformerSpec& model, const Layout& layout, Block block) {
  const double streams = has_two_streams(block) ? 2 : 1;
  double sum = 0;
  sum += attentions(block) * model.attention_parameters();
  if (has_mamba(block)) sum += model.mamba.matrices(model.hidden);
  if (has_mlp(block)) sum += streams * model.mlp_parameters();
  if (block == Block::last_double_stream) sum -= model.unread_parameters();
  if (has_experts(block)) {
    sum += model.mlp_parameters() / model.ffn_hidden * model.moe.shared_ffn;
  }
  return sum / layout.tp;
}

// A layer on one GPU.
struct LayerPart {
  Block block = Block::layer;
  LayerParameters parameters;
  double quantised = 0;
  AdapterParameters adapter;
};

// Adds up the parameters of a stage part by part.
class StageParts {
 public:
  StageParts(const TransformerSpec& model, const Layout& layout, const Training& training,
             double weight_bytes)
      : model_(model), training_(training), weight_bytes_(weight_bytes) {
    for (const Block block : kLayerBlocks) {
      if (model.layers_of(block) == 0) continue;
      parts_.push_back({block, layer_parameters_per_gpu(model, layout, block),
                        layer_matrices_per_gpu(model, layout, block),
                        adapter_parameters(model, layout, training.adapter, block)});
    }
  }

  void add_layer(int layer, TrainedParameters& to) const {
    const LayerPart& of = *std::ranges::find(parts_, model_.block_of(layer), &LayerPart::block);
    const double dense = of.parameters.dense;
    const double experts = of.parameters.experts;
    const PartTraining part = part_training(&training_, layer, model_.layers);
    if (part.weights) {
      to.trained += dense + experts;
      to.trained_experts += experts;
      return;
    }
    const bool in_4_bits = training_.adapter.kind == AdapterKind::qlora;
    const double smaller = in_4_bits ? 1 - kNf4Bytes / weight_bytes_ : 0;
    to.frozen += dense + experts - smaller * (of.quantised + experts);
    to.frozen_experts += (1 - smaller) * experts;
    if (!part.adapter) return;
    to.trained += of.adapter.trained;
    to.trained_experts += of.adapter.trained_experts;
    to.frozen += of.adapter.frozen;
    to.frozen_experts += of.adapter.frozen_experts;
  }

  void add_end(int part, double parameters, TrainedParameters& to) const {
    const bool trained = part_training(&training_, part, model_.layers).weights;
    (trained ? to.trained : to.frozen) += parameters;
  }

 private:
  const TransformerSpec& model_;
  const Training& training_;
  const double weight_bytes_;
  std::vector<LayerPart> parts_;
};

// Parameters of the matrix that maps a sequence to its embedding; it replaces a vocabulary matrix.
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
  parts.add_end(kEmbeddingPart,
                matrix + positions + model.segment_parameters() + conditioning(model),
                stages.front());
  if (model.tower) {
    parts.add_end(kTowerPart, tower_parameters_per_gpu(*model.tower, layout), stages.front());
    parts.add_end(kProjectorPart, model.tower->projector_parameters(), stages.front());
  }
  const bool own_matrix = !model.tied_embeddings || layout.pp > 1;
  parts.add_end(head_part(model.layers),
                model.final_norm_parameters() + model.encoder_parameters() +
                    (own_matrix ? matrix : 0) + embedder_parameters(model, training),
                stages.back());
  return stages;
}

ParameterCounts parameter_counts(const TransformerSpec& model, const Training* training) {
  ParameterCounts counts{model.parameters(), model.parameters()};
  if (training == nullptr) return counts;
  counts = {model.parameters() + embedder_parameters(model, *training), 0};
  const Layout one;
  for (int layer = 0; layer < model.layers; ++layer) {
    const Block block = model.block_of(layer);
    const PartTraining part = part_training(training, layer, model.layers);
    if (part.weights) counts.trained += model.layer_parameters(block);
    if (!part.adapter) continue;
    const AdapterParameters adapter = adapter_parameters(model, one, training->adapter, block);
    counts.all += adapter.trained + adapter.frozen;
    counts.trained += adapter.trained;
  }
  const auto trains = [&](int part) { return part_training(training, part, model.layers).weights; };
  if (model.tower && trains(kTowerPart)) counts.trained += model.tower->stack_parameters();
  if (model.tower && trains(kProjectorPart)) counts.trained += model.tower->projector_parameters();
  if (trains(kEmbeddingPart)) {
    counts.trained += model.embedding_parameters() + conditioning(model);
  }
  if (trains(head_part(model.layers))) {
    counts.trained += model.head_parameters() + embedder_parameters(model, *training);
  }
  return counts;
}

double gathered_parameters(const TransformerSpec& model, const Layout& layout, double layers) {
  double layer = 0;
  for (const Block block : kLayerBlocks) {
    if (model.layers_of(block) == 0) continue;
    const LayerParameters of = layer_parameters_per_gpu(model, layout, block);
    layer = std::max(layer, of.dense + of.experts);
  }
  const double root = vocabulary_parameters(model, layout.tp);
  if (!model.tower) return layers * layer + root;
  return layers * layer + root + model.tower->embedding_parameters() +
         model.tower->projector_parameters();
}

}  // namespace windtunnel
