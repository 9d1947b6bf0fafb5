#include "policies/exchange/gradient_tensors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "models/base/error.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "models/cost/op/op_tower.hpp"
#include "models/workload/adapter.hpp"
#include "models/workload/layer_table.hpp"
#include "models/workload/tower.hpp"

namespace windtunnel {
namespace {

// How tp divides a matrix. A bias is divided like the matrix's rows.
enum class Split { none, rows, columns };

// Appends the tensors of a stage in the order of the backward pass. `work` is counted in parameters
// of the whole model used per token. It is equal forward and backward. The first tensor of a linear
// layer has the work of the whole layer: the layer's backward completes the gradients of all its
// tensors together, and its forward needs all of them.
class StageWeights {
 public:
  // `work_share`: rows that the model processes per token of a sequence. `pending_work`: work of
  // parts that are earlier in the backward pass and have no trained tensor.
  StageWeights(const Job& job, std::vector<StageTensor>& tensors, double work_share = 1,
               double pending_work = 0)
      : model_(job.model),
        layout_(job.layout),
        training_(job.training.get()),
        tensors_(tensors),
        work_share_(work_share),
        pending_work_(pending_work) {}

  // Returns the work of frozen parts that no trained tensor has taken yet.
  double take_pending() { return std::exchange(pending_work_, 0); }

  // Adds the final norm and the layers that follow it.
  void head(bool shared) {
    part_ = part_training(training_, head_part(model_.layers), model_.layers);
    const double h = model_.hidden;
    const double vocabulary = padded_vocabulary(model_.vocabulary, layout_.tp);
    const double work = double(model_.vocabulary) * h * (1 + model_.mtp_layers);
    if (model_.encoder) linear(2, h, Split::none, true, 2 * h);
    if (is_contrastive(training_)) {
      const double width = training_->loss.width > 0 ? training_->loss.width : h;
      linear(width, h, Split::none, false, width * h);
    } else if (shared) {
      pending_work_ = work;
    } else {
      linear(vocabulary, h, Split::rows, false, work);
    }
    for (int module = 0; module < model_.mtp_layers; ++module) {
      norm();
      linear(h, 2 * h, Split::rows, false, 2 * h * h);
      for (int input = 0; input < 2; ++input) norm();
    }
    if (model_.mtp_layers > 0 && !model_.tied_embeddings && layout_.pp > 1) {
      linear(vocabulary, h, Split::rows, false, 0);
    }
    if (model_.encoder) {
      // The bias of the tied matrix is not padded.
      vector(model_.vocabulary);
      norm();
      for (int i = 0; i < 2; ++i) linear(h, h, Split::none, true, h * h);  // dense, pooler
    }
    norm();
    if (model_.source_tokens > 0) norm();
  }

  // `number`: the layer's number in StageTensor::layer, if it differs from `layer`.
  void layer(int layer, int number = -1) {
    layer_ = number < 0 ? layer : number;
    part_ = part_training(training_, layer, model_.layers);
    const Block block = model_.block_of(layer);
    const int streams = has_two_streams(block) ? 2 : 1;
    for (int stream = 0; stream < streams; ++stream) layer_stream(block, stream == 1);
    if (const double modulation = model_.modulation_of(block); modulation > 0) {
      const double h = model_.hidden;
      linear(modulation * h, h, Split::rows, model_.biases, 0);
    }
    if (part_.adapter) adapters();
    layer_ = -1;
  }

  // Adds a matrix that is in no layer and whole on each rank. Its work counts tp times, because
  // ranks do not divide it as they divide that of other tensors.
  void matrix(double rows, double columns, const PartTraining& part) {
    part_ = part;
    linear(rows, columns, Split::none, false, layout_.tp * rows * columns);
  }

  void embedding(double filled) {
    part_ = part_training(training_, kEmbeddingPart, model_.layers);
    const double h = model_.hidden;
    if (model_.encoder) linear(2, h, Split::none, false, 0);
    if (model_.conditioning > 0) linear(model_.conditioning, h, Split::none, false, 0);
    if (model_.position == PositionEncoding::learned) {
      linear(model_.sequence, h, Split::none, false, 0);
    }
    linear(padded_vocabulary(model_.vocabulary, layout_.tp), h, Split::rows, false, 0);
    if (part_.weights) tensors_.back().shape.filled = filled;
  }

 private:
  void append(const TensorShape& shape, double work, bool expert = false) {
    if (!part_.weights) return leave_out(shape, work, expert);
    work = work * work_share_ + take_pending();
    tensors_.push_back({shape.elements(), work, layer_, expert, shape, work});
  }

  void leave_out(const TensorShape& shape, double work, bool expert) {
    work = part_.backward ? work * work_share_ : 0;
    if (layout_.sharding != Sharding::zero3) {
      pending_work_ += work / 2;
      return;
    }
    tensors_.push_back({.work = work / 2,
                        .layer = layer_,
                        .expert = expert,
                        .forward_work = work / 2,
                        .frozen = shape.elements()});
  }

  // In the last layer only the keys and values of the second stream, the text, are used.
  void layer_stream(Block block, bool text) {
    const bool read = !text || block != Block::last_double_stream;
    if (has_experts(block)) experts();
    if (has_mlp(block) && read) mlp(model_.ffn_hidden, model_.biases);
    if (has_feed_forward(block) && halves(block) >= 2 && read) norm();
    if (reads_source(block)) {
      attention(true, model_.biases);
      norm();
    }
    if (has_attention(block)) attention(read, model_.biases && !shares_norm(block));
    if (has_mamba(block)) mamba();
    norm();
  }

  // In the order of the backward pass adapters come after the layer's own tensors.
  void adapters() {
    const Adapter& adapter = training_->adapter;
    const std::vector<AdaptedMatrix> matrices =
        adapted_matrices(model_, layout_, adapter, model_.block_of(layer_));
    part_.weights = true;
    for (auto matrix = matrices.rbegin(); matrix != matrices.rend(); ++matrix) {
      const double rank = adapter.rank;
      if (adapter.kind == AdapterKind::dora)
        append({0, matrix->count * matrix->out}, 0, matrix->expert);
      append({matrix->out, rank, matrix->count}, 0, matrix->expert);
      part_.weights = adapter.trains_first();
      append({rank, matrix->in, matrix->count}, 0, matrix->expert);
      part_.weights = true;
    }
  }
  void vector(double elements, double work = 0) { append({0, elements}, work); }

  void norm() {
    if (model_.normalisation == Normalisation::layer_norm) vector(model_.hidden);
    vector(model_.hidden);
  }

  void linear(double rows, double columns, Split split, bool bias, double work) {
    const double here = split == Split::rows ? rows / layout_.tp : rows;
    if (bias) vector(here, work);
    append({here, split == Split::columns ? columns / layout_.tp : columns}, bias ? 0 : work);
  }

  void mlp(double width, bool biases) {
    const double h = model_.hidden;
    const int inputs = model_.activation == Activation::swiglu ? 2 : 1;
    linear(h, width, Split::columns, biases, h * width);
    if (model_.separate_projections) {
      for (int i = 0; i < inputs; ++i) linear(width, h, Split::rows, biases, h * width);
    } else {
      linear(inputs * width, h, Split::rows, biases, inputs * h * width);
    }
  }

  void experts() {
    const double h = model_.hidden;
    const double width = model_.moe.ffn_hidden;
    const double here = double(model_.moe.experts) / layout_.ep;
    const double inputs = model_.activation == Activation::swiglu ? 2 : 1;
    const double outer = model_.expert_width();
    const double work = model_.moe.per_token * outer * width;
    const double latent = model_.moe.latent_width;
    if (latent > 0) linear(h, latent, Split::none, false, h * latent);
    append({outer, width, here}, work, true);
    append({inputs * width, outer, here}, inputs * work, true);
    if (latent > 0) linear(latent, h, Split::none, false, h * latent);
    if (model_.moe.shared_ffn > 0) mlp(model_.moe.shared_ffn, false);
    linear(model_.moe.experts, h, Split::none, false, h * model_.moe.experts);
  }

  void mamba() {
    const MambaMixer& of = model_.mamba;
    const double h = model_.hidden;
    const ScanForm& form = of.form();
    const double tp = layout_.tp;
    const double inner = of.inner();
    linear(h, inner, Split::columns, false, h * inner);
    vector(form.norm_by_head ? of.head_width : inner / tp);
    for (int i = 0; i < form.head_vectors; ++i) vector(of.heads / tp);
    if (form.row_vector) vector(inner / tp);
    if (form.convolution) {
      linear(of.convolved(), kMambaConvolution, Split::rows, form.convolution_bias, 0);
    }
    for (int i = 0; i < form.low_rank; ++i) {
      linear(inner, of.head_width, Split::rows, false, inner * of.head_width);
      linear(of.head_width, h, Split::none, false, h * of.head_width);
    }
    const double divided = of.projected() - of.rank();
    linear(divided, h, Split::rows, false, h * divided);
  }

  void attention(bool projected, bool output_bias) {
    const double h = model_.hidden;
    const double q = model_.q_width();
    const double kv = model_.kv_width();
    const double context = model_.context_width();
    if (projected) linear(h, context, Split::columns, output_bias, h * context);
    if (model_.attention_gate) linear(context, h, Split::rows, false, h * context);
    if (model_.sparse.heads > 0) indexer();
    for (int i = 0; model_.projected_keys > 0 && i < 2; ++i) {
      linear(model_.projected_keys, double(model_.sequence) / layout_.cp, Split::none, false, 0);
    }
    if (model_.latent.kv_rank > 0) return latent_attention();
    if (model_.separate_projections) {
      for (const double width : {kv, kv, q}) {
        linear(width, h, Split::rows, model_.biases, h * width);
      }
    } else {
      linear(q + 2 * kv, h, Split::rows, model_.biases, h * (q + 2 * kv));
    }
  }

  void indexer() {
    const SparseAttention& sparse = model_.sparse;
    const double h = model_.hidden;
    const double from = model_.latent.query_rank > 0 ? model_.latent.query_rank : h;
    const double queries = double(sparse.heads) * sparse.width;
    linear(sparse.heads, h, Split::none, false, h * sparse.heads);
    for (int i = 0; i < 2; ++i) vector(sparse.width);  // the key's norm
    linear(sparse.width, h, Split::none, false, h * sparse.width);
    linear(queries, from, Split::none, false, from * queries);
  }

  void latent_attention() {
    const LatentAttention& latent = model_.latent;
    const auto matrix = [&](double rows, double columns) {
      linear(rows, columns, Split::rows, false, rows * columns);
    };
    const double h = model_.hidden;
    const double q = model_.q_width();
    if (model_.biases) vector((q + 2.0 * model_.kv_width()) / layout_.tp);
    matrix(double(model_.heads) * (model_.head_dim() + latent.value_width), latent.kv_rank);
    matrix(latent.kv_rank + latent.rotary_width, h);
    if (latent.query_rank == 0) return matrix(q, h);
    matrix(q, latent.query_rank);
    matrix(latent.query_rank, h);
  }

  const TransformerSpec& model_;
  const Layout& layout_;
  const Training* training_;
  std::vector<StageTensor>& tensors_;
  PartTraining part_;
  int layer_ = -1;
  double work_share_;
  double pending_work_;  // work of frozen parts, and of a head that is tied to the embedding
};

// Returns the share of the embedding's rows that a rank's tokens can touch in an iteration. A tied
// embedding also gets the head's gradient, which has no empty rows.
double filled_rows(const Job& job) {
  if (job.model.tied_embeddings) return 1;
  const double tokens = tokens_per_step(job) / job.layout.dp / job.layout.cp;
  return std::min(1.0, tokens / job.model.vocabulary);
}

// A layer with weights, and the layers without weights that follow it.
struct WeightGroup {
  double forward_s = 0;
  double backward_s = 0;
};

void append_weights(const NetworkLayer& layer, int index, const WeightGroup& group,
                    std::vector<StageTensor>& tensors) {
  const std::size_t first = tensors.size();
  const double weights = layer.weights();
  const double vectors = layer.parameters - weights;
  const int count = layer.kind == LayerKind::norm ? 2 : 1;  // scale and bias
  if (vectors > 0) {
    for (int i = 0; i < count; ++i) {
      tensors.push_back({vectors / count, 0, index, false, {0, vectors / count}});
    }
  }
  if (weights > 0) tensors.push_back({weights, 0, index, false, {layer.n, layer.k}});
  tensors[first].work = group.backward_s;
  tensors[first].forward_work = group.forward_s;
}

std::vector<StageTensor> network_tensors(const Job& job) {
  const std::vector<NetworkLayer>& layers = job.network->layers;
  const std::vector<LayerCost> costs = network_layer_costs(job);
  std::vector<StageTensor> tensors;
  WeightGroup group;
  for (std::size_t i = layers.size(); i-- > 0;) {
    group.forward_s += costs[i].forward.seconds;
    group.backward_s += costs[i].backward_s();
    if (layers[i].parameters <= 0) continue;
    const int part = static_cast<int>(i);
    if (!part_training(job.training.get(), part, job.model.layers).weights) {
      if (job.layout.sharding != Sharding::zero3) continue;
      tensors.push_back({.work = group.backward_s,
                         .layer = part,
                         .forward_work = group.forward_s,
                         .frozen = layers[i].parameters});
      group = {};
      continue;
    }
    append_weights(layers[i], static_cast<int>(i), group, tensors);
    group = {};
  }
  if (tensors.empty()) return tensors;
  tensors.back().work += group.backward_s;
  tensors.back().forward_work += group.forward_s;
  return tensors;
}

// Appends the tensors of the tower, whose layers are numbered after those of the decoder.
// `pending_work`: work of the decoder that no tensor has yet.
void append_tower(const Job& job, double pending_work, std::vector<StageTensor>& tensors) {
  const Tower& tower = *job.model.tower;
  const auto part_of = [&](int part) {
    return part_training(job.training.get(), part, job.model.layers);
  };
  const double sources = double(tower.sources) / job.batch.sequence;
  StageWeights projector(job, tensors, sources * tower.tokens, pending_work);
  for (int copy = 0; copy < tower.projectors; ++copy) {
    for (std::size_t i = tower.projector.size(); i-- > 1;) {
      projector.matrix(tower.projector[i], tower.projector[i - 1], part_of(kProjectorPart));
    }
  }
  const Job own = tower_job(job, kTowerPart);
  const double whole = double(job.layout.tp) / own.layout.tp;  // tp if tp does not divide them
  StageWeights stack(own, tensors, whole * sources * tower.patches(), projector.take_pending());
  const int layers = tower.layers.layers;
  for (int layer = layers; layer-- > 0;) stack.layer(layer, job.model.all_layers() + layer);
  stack.matrix(tower.layers.hidden, tower.patch_values + tower.positions, part_of(kTowerPart));
}

std::vector<StageTensor> transformer_tensors(const Job& job, int stage, int first_layer, int layers,
                                             bool embedding_here) {
  std::vector<StageTensor> tensors;
  tensors.reserve(16 * layers + 16);
  StageWeights weights(job, tensors);
  if (stage == job.layout.stages() - 1) {
    // A tied head is a separate copy. If the stage also holds the embedding, the head has no
    // tensor: the backward of the embedding completes the gradient.
    weights.head(job.model.tied_embeddings && (stage == 0 || embedding_here));
  }
  for (int layer = first_layer + layers; layer-- > first_layer;) weights.layer(layer);
  if (stage == 0) weights.embedding(filled_rows(job));
  if (stage == 0 && job.model.tower) append_tower(job, weights.take_pending(), tensors);
  return tensors;
}

// Scales the tensors so that they add up to the parameters of the chunk, whose count may be more
// exact.
void scale_parameters(const ChunkCost& chunk, std::vector<StageTensor>& tensors) {
  std::array<double, 2> parameters{};  // dense, experts
  for (const StageTensor& tensor : tensors) parameters[tensor.expert] += tensor.parameters;
  const std::array<double, 2> held = {chunk.parameters - chunk.expert_parameters,
                                      chunk.expert_parameters};
  std::array<double, 2> scale{};
  for (const bool expert : {false, true}) {
    CHECK(parameters[expert] > 0 || held[expert] < 1, "a stage has parameters but no tensors");
    if (parameters[expert] > 0) scale[expert] = held[expert] / parameters[expert];
  }
  for (StageTensor& tensor : tensors) {
    const double times = scale[tensor.expert];
    if (tensor.parameters == 0 || std::abs(times - 1) < 1e-9) continue;
    tensor.parameters *= times;
    tensor.shape.columns *= times;
  }
}

// Scales the tensors to the bytes of a stage's frozen weights, some of which are in 4 bits.
void scale_frozen(const ChunkCost& chunk, std::vector<StageTensor>& tensors) {
  std::array<double, 2> frozen{};
  for (const StageTensor& tensor : tensors) frozen[tensor.expert] += tensor.frozen;
  const std::array<double, 2> held = {chunk.frozen_parameters - chunk.frozen_experts,
                                      chunk.frozen_experts};
  for (StageTensor& tensor : tensors) {
    if (tensor.frozen > 0) tensor.frozen *= held[tensor.expert] / frozen[tensor.expert];
  }
}

void share_work(std::vector<StageTensor>& tensors) {
  double work = 0;
  double forward_work = 0;
  for (const StageTensor& tensor : tensors) {
    work += tensor.work;
    forward_work += tensor.forward_work;
  }
  for (StageTensor& tensor : tensors) {
    tensor.work = work > 0 ? tensor.work / work : 0;
    tensor.forward_work = forward_work > 0 ? tensor.forward_work / forward_work : 0;
  }
}

}  // namespace

std::vector<StageTensor> stage_tensors(const Job& job, int stage, int first_layer, int layers,
                                       const ChunkCost& chunk, bool embedding_here) {
  if (chunk.parameters + chunk.frozen_parameters <= 0) return {};
  std::vector<StageTensor> tensors =
      job.network ? network_tensors(job)
                  : transformer_tensors(job, stage, first_layer, layers, embedding_here);
  scale_parameters(chunk, tensors);
  scale_frozen(chunk, tensors);
  share_work(tensors);
  return tensors;
}

}  // namespace windtunnel
