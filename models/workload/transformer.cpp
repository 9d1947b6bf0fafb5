#include "models/workload/transformer.hpp"

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/workload/tower.hpp"

namespace windtunnel {
namespace {

// Counts the weights of an MLP with this width between vectors of `hidden`.
double mlp_matrices(const TransformerSpec& model, double width) {
  const double matrices = model.activation == Activation::swiglu ? 3 : 2;
  return matrices * model.hidden * width;
}

double shared_parameters(const TransformerSpec& model) {
  return mlp_matrices(model, model.moe.shared_ffn);
}

double modulation_parameters(const TransformerSpec& model, Block block) {
  const double h = model.hidden;
  return model.modulation_of(block) * (h * h + (model.biases ? h : 0));
}

double router_parameters(const TransformerSpec& model) {
  return static_cast<double>(model.hidden) * model.moe.experts;
}

double attention_biases(const TransformerSpec& model) {
  return model.biases ? model.q_width() + 2.0 * model.kv_width() + model.hidden : 0;
}

double mlp_biases(const TransformerSpec& model) {
  return model.biases ? model.up_width() + model.hidden : 0;
}

// Counts the weights of the matrix before all experts of a layer and of the one after them.
double expert_width_parameters(const TransformerSpec& model) {
  return 2.0 * model.hidden * model.moe.latent_width;
}

}  // namespace

double attended_keys(const TransformerSpec& model, int sequence) {
  if (model.frames > 0) return (static_cast<double>(sequence) / model.frames + model.frames) / 2;
  if (model.projected_keys > 0) return model.keys_of(sequence);
  if (model.chooses_keys(sequence)) return 2 * limited_keys(model, model.sparse.top_k, 0, sequence);
  if (!model.windowed(sequence)) return sequence;
  const double global = model.global_share();
  const double seen = windowed_keys(model, 0, sequence);
  return global * sequence + (1 - global) * (model.masked() ? 2 * seen : seen);
}

double limited_keys(const TransformerSpec& model, double most, double begin, double end) {
  if (!model.masked() || begin >= most) return most;
  if (end <= most) return (begin + end) / 2;
  return ((most * most - begin * begin) / 2 + most * (end - most)) / (end - begin);
}

double windowed_keys(const TransformerSpec& model, double begin, double end) {
  return limited_keys(model, model.window, begin, end);
}

double norm_parameters(const TransformerSpec& model) {
  const double vectors = model.normalisation == Normalisation::layer_norm ? 2 : 1;
  return vectors * model.hidden;
}

double TransformerSpec::attention_parameters() const {
  const double h = hidden;
  const double out = h * context_width() * (attention_gate ? 2 : 1);
  if (latent.kv_rank == 0) return h * (q_width() + 2.0 * kv_width()) + out;
  const double queries =
      latent.query_rank > 0 ? latent.query_rank * (h + q_width()) : h * q_width();
  const double down = h * (latent.kv_rank + latent.rotary_width);
  const double up = static_cast<double>(latent.kv_rank) * heads * (head_dim() + latent.value_width);
  return queries + down + up + out + indexer_parameters();
}

// An indexer computes queries from the compressed ones, a key with its norm (scale and bias), and a
// weight for each of its heads.
double TransformerSpec::indexer_parameters() const {
  if (sparse.heads == 0) return 0;
  const double h = hidden;
  const double from = latent.query_rank > 0 ? latent.query_rank : h;
  return from * sparse.heads * sparse.width + (h + 2) * sparse.width + h * sparse.heads;
}

double TransformerSpec::key_projection_parameters() const {
  return 2.0 * projected_keys * sequence;
}

double TransformerSpec::final_norm_parameters() const {
  return (source_tokens > 0 ? 2 : 1) * norm_parameters(*this);
}

double TransformerSpec::mlp_parameters() const {
  return mlp_matrices(*this, ffn_hidden);
}

double TransformerSpec::expert_parameters() const {
  return mlp_matrices(*this, moe.ffn_hidden) / hidden * expert_width();
}

// Parameters of a stream's output projection and MLP if nothing reads their result.
double TransformerSpec::unread_parameters() const {
  return static_cast<double>(hidden) * context_width() + mlp_parameters();
}

double TransformerSpec::mamba_parameters() const {
  return mamba.matrices(hidden) + mamba.convolution_parameters() + mamba.head_parameters();
}

double TransformerSpec::layer_parameters(Block block) const {
  const double streams = has_two_streams(block) ? 2 : 1;
  double sum =
      modulation_parameters(*this, block) + streams * halves(block) * norm_parameters(*this);
  if (has_attention(block)) {
    sum += attentions(block) * (attention_parameters() + attention_biases(*this)) +
           key_projection_parameters();
  }
  if (has_mamba(block)) sum += mamba_parameters();
  if (has_mlp(block)) sum += streams * (mlp_parameters() + mlp_biases(*this));
  if (has_experts(block)) {
    sum += moe.experts * expert_parameters() + shared_parameters(*this) + router_parameters(*this) +
           expert_width_parameters(*this);
  }
  if (block == Block::last_double_stream) {
    sum -= unread_parameters() + norm_parameters(*this) + (biases ? hidden : 0) + mlp_biases(*this);
  }
  if (shares_norm(block) && biases) sum -= hidden;  // one matrix computes both outputs
  return sum;
}

Block TransformerSpec::block_of(int layer) const {
  if (mtp_layers > 0) layer = std::min(layer, layers - 1);
  if (pattern.empty()) {
    return moe.experts > 0 && layer >= moe.dense_layers ? Block::moe_layer : Block::layer;
  }
  const char letter = pattern[static_cast<std::size_t>(layer) % pattern.size()];
  const auto* found = std::ranges::find(kBlockLetters, letter, &BlockLetter::letter);
  CHECK(found != kBlockLetters.end(), "letter '{}' of a pattern was not checked", letter);
  return found->block;
}

int TransformerSpec::layers_of(Block block) const {
  if (pattern.empty()) {
    const int sparse = moe.experts > 0 ? std::max(0, layers - moe.dense_layers) : 0;
    return block == Block::moe_layer ? sparse : block == Block::layer ? layers - sparse : 0;
  }
  int count = 0;
  for (int layer = 0; layer < layers; ++layer) count += block_of(layer) == block ? 1 : 0;
  return count;
}

int TransformerSpec::layers_with(bool (*part)(Block)) const {
  int count = 0;
  for (const Block block : kLayerBlocks) count += part(block) ? layers_of(block) : 0;
  return count;
}

int TransformerSpec::moe_layers_before(int layer) const {
  int count = 0;
  for (int before = 0; before < layer; ++before) count += is_moe(before) ? 1 : 0;
  return count;
}

double TransformerSpec::modulation_of(Block block) const {
  switch (block) {
    case Block::layer:
    case Block::moe_layer:
      return modulation;
    case Block::double_stream:
      return 2.0 * modulation;
    case Block::last_double_stream:  // text: only attention's shift and scale
      return modulation * (1 + 1.0 / 3);
    case Block::single_stream:
      return modulation / 2.0;
    default:
      return 0;
  }
}

double TransformerSpec::embedding_parameters() const {
  const double positions = position == PositionEncoding::learned ? sequence : 0;
  return (vocabulary + positions) * hidden + segment_parameters();
}

double TransformerSpec::segment_parameters() const {
  return encoder ? 2.0 * hidden : 0;
}

double TransformerSpec::encoder_parameters() const {
  if (!encoder) return 0;
  const double h = hidden;
  return 2 * (h * h + h) + norm_parameters(*this) + vocabulary + 2 * h + 2;
}

double TransformerSpec::head_parameters() const {
  const double matrix = tied_embeddings ? 0.0 : static_cast<double>(vocabulary) * hidden;
  return final_norm_parameters() + matrix + encoder_parameters();
}

double TransformerSpec::joining_parameters() const {
  return 2.0 * hidden * hidden + 3 * norm_parameters(*this);
}

double TransformerSpec::parameters() const {
  double sum =
      embedding_parameters() + head_parameters() + static_cast<double>(conditioning) * hidden;
  if (mtp_layers > 0) {
    sum += mtp_layers * (layer_parameters(block_of(layers)) + joining_parameters());
  }
  for (const Block block : kLayerBlocks) {
    if (const int count = layers_of(block); count > 0) sum += count * layer_parameters(block);
  }
  if (tower) sum += tower->parameters();
  return sum;
}

double TransformerSpec::active_parameters() const {
  const double idle = std::max(0, moe.experts - moe.per_token);
  const int modules = mtp_layers > 0 && is_moe(layers) ? mtp_layers : 0;
  return parameters() - (moe_layers() + modules) * idle * expert_parameters();
}

namespace {

// Two operations per weight and token. Counts QK^T and PV over the whole square. For linear
// attention counts the square of a block, and a state that is written and read; with an indexer its
// scores of all tokens, after which attention reads latent vectors.
void add_attention_flops(const TransformerSpec& model, int sequence, bool masked,
                         AttentionCount count, LayerFlops& flops) {
  const bool linear = model.attention == AttentionKernel::linear;
  const bool half = count == AttentionCount::causal && masked && !linear;
  const double seen = linear ? std::min<double>(kLinearBlock, sequence)
                             : attended_keys(model, sequence) * (half ? 0.5 : 1);
  const double state = linear ? 4.0 * model.q_width() * model.value_dim() : 0;
  flops.products += 2 * model.attention_parameters();
  double widths = model.q_width() + model.context_width();
  if (model.chooses_keys(sequence)) {
    widths = double(model.heads) * (2 * model.latent.kv_rank + model.latent.rotary_width);
    const SparseAttention& sparse = model.sparse;
    // The indexer's attention to all keys runs only in the forward pass. The caller multiplies
    // everything here by three, hence the third.
    flops.attention += 2.0 / 3 * sequence * (half ? 0.5 : 1) * sparse.heads * sparse.width;
  }
  flops.attention += 2.0 * seen * widths + state;
  if (model.projected_keys > 0) {
    flops.attention += 2.0 * model.keys_of(sequence) * 2 * model.kv_width();
  }
}

// Counts, per token of the decoder, its queries and output, keys and values of the encoder's
// tokens, and attention from the token to all of these.
void add_cross_flops(const TransformerSpec& model, double sources_per_token, LayerFlops& flops) {
  const double h = model.hidden;
  flops.products +=
      2 * h *
      (model.q_width() + model.context_width() + sources_per_token * 2.0 * model.kv_width());
  flops.attention += 2.0 * model.source_tokens * (model.q_width() + model.context_width());
}

}  // namespace

LayerFlops layer_flops(const TransformerSpec& model, int sequence, Block block,
                       AttentionCount count) {
  LayerFlops flops;
  const double share = model.rows_share(block, sequence);
  const int length =
      is_of_two_stacks(block) ? static_cast<int>(std::lround(share * sequence)) : sequence;
  const bool masked = model.masked() && block != Block::encoder_layer;
  if (has_attention(block)) add_attention_flops(model, length, masked, count, flops);
  if (reads_source(block)) add_cross_flops(model, double(model.source_tokens) / length, flops);
  if (has_mamba(block)) {
    flops.products += 2 * model.mamba.matrices(model.hidden);
    flops.attention += model.mamba.counted_flops(sequence);
  }
  if (has_mlp(block)) flops.products += 2 * model.mlp_parameters();
  if (has_experts(block)) {
    flops.products +=
        2 * (model.moe.per_token * model.expert_parameters() + shared_parameters(model) +
             router_parameters(model) + expert_width_parameters(model));
  }
  if (block == Block::last_double_stream) {
    flops.products -= 2 * model.text_share(sequence) * model.unread_parameters();
  }
  const double h = model.hidden;
  flops.products += 2 * model.modulation_of(block) * h * h / sequence;
  flops.products *= share;
  flops.attention *= share;
  return flops;
}

double model_flops(const TransformerSpec& model, double sequences, int sequence,
                   AttentionCount attention) {
  double token = 2.0 * model.hidden * model.vocabulary * model.rows_share(Block::head, sequence);
  for (const Block block : kLayerBlocks) {
    if (const int count = model.layers_of(block); count > 0) {
      token += count * layer_flops(model, sequence, block, attention).sum();
    }
  }
  if (model.mtp_layers > 0) {
    const double h = model.hidden;
    token += model.mtp_layers *
             (layer_flops(model, sequence, model.block_of(model.layers), attention).sum() +
              2 * h * (2 * h + model.vocabulary));
  }
  return 3 * sequences * sequence * token;
}

}  // namespace windtunnel
