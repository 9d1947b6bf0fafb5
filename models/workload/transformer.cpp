#include "models/workload/transformer.hpp"

#include <algorithm>

namespace windtunnel {
namespace {

// Matrices of an MLP of this width between vectors of `hidden`.
double mlp_matrices(const TransformerSpec& model, double width) {
  const double matrices = model.activation == Activation::swiglu ? 3 : 2;
  return matrices * model.hidden * width;
}

double shared_parameters(const TransformerSpec& model) {
  return mlp_matrices(model, model.moe.shared_ffn);
}

double modulation_parameters(const TransformerSpec& model) {
  const double h = model.hidden;
  return model.modulation * (h * h + (model.biases ? h : 0));
}

double router_parameters(const TransformerSpec& model) {
  return static_cast<double>(model.hidden) * model.moe.experts;
}

double attention_biases(const TransformerSpec& model) {
  return model.biases ? model.q_width() + 2.0 * model.kv_width() + model.hidden : 0;
}

}  // namespace

double attended_keys(const TransformerSpec& model, int sequence) {
  if (model.frames > 0) return (static_cast<double>(sequence) / model.frames + model.frames) / 2;
  if (!model.windowed(sequence)) return sequence;
  const double global = model.global_share();
  const double seen = windowed_keys(model, 0, sequence);
  return global * sequence + (1 - global) * (model.masked() ? 2 * seen : seen);
}

double windowed_keys(const TransformerSpec& model, double begin, double end) {
  const double window = model.window;
  if (!model.masked() || begin >= window) return window;
  if (end <= window) return (begin + end) / 2;
  return ((window * window - begin * begin) / 2 + window * (end - window)) / (end - begin);
}

double norm_parameters(const TransformerSpec& model) {
  const double vectors = model.normalisation == Normalisation::layer_norm ? 2 : 1;
  return vectors * model.hidden;
}

double TransformerSpec::attention_parameters() const {
  const double h = hidden;
  const double out = h * context_width();
  if (latent.kv_rank == 0) return h * (q_width() + 2.0 * kv_width()) + out;
  const double queries =
      latent.query_rank > 0 ? latent.query_rank * (h + q_width()) : h * q_width();
  const double down = h * (latent.kv_rank + latent.rotary_width);
  const double up = static_cast<double>(latent.kv_rank) * heads * (head_dim() + latent.value_width);
  return queries + down + up + out;
}

double TransformerSpec::mlp_parameters() const {
  return mlp_matrices(*this, ffn_hidden);
}

double TransformerSpec::expert_parameters() const {
  return mlp_matrices(*this, moe.ffn_hidden);
}

double TransformerSpec::layer_parameters() const {
  const double bias = biases ? attention_biases(*this) + up_width() + hidden : 0.0;
  return attention_parameters() + mlp_parameters() + bias + 2 * norm_parameters(*this) +
         modulation_parameters(*this);
}

double TransformerSpec::moe_layer_parameters() const {
  return attention_parameters() + attention_biases(*this) + moe.experts * expert_parameters() +
         shared_parameters(*this) + router_parameters(*this) + 2 * norm_parameters(*this) +
         modulation_parameters(*this);
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
  return norm_parameters(*this) + matrix + encoder_parameters();
}

double TransformerSpec::parameters() const {
  return embedding_parameters() + (layers - moe_layers()) * layer_parameters() +
         moe_layers() * moe_layer_parameters() + head_parameters();
}

double TransformerSpec::active_parameters() const {
  const double idle = std::max(0, moe.experts - moe.per_token);
  return parameters() - moe_layers() * idle * expert_parameters();
}

LayerFlops layer_flops(const TransformerSpec& model, int sequence, bool moe) {
  // Two operations per weight and token; QK^T and PV over the whole square, linear attention's of a
  // block, and a state that is written and read.
  const bool linear = model.attention == AttentionKernel::linear;
  const double seen =
      linear ? std::min<double>(kLinearBlock, sequence) : attended_keys(model, sequence);
  const double state = linear ? 4.0 * model.q_width() * model.value_dim() : 0;
  const double mlp = moe ? model.moe.per_token * model.expert_parameters() +
                               shared_parameters(model) + router_parameters(model)
                         : model.mlp_parameters();
  return {2 * model.attention_parameters() + 2 * mlp,
          2.0 * seen * (model.q_width() + model.context_width()) + state};
}

double model_flops(const TransformerSpec& model, double sequences, int sequence) {
  const double dense = layer_flops(model, sequence, false).sum();
  const double sparse = model.moe_layers() > 0 ? layer_flops(model, sequence, true).sum() : 0;
  const double head = 2.0 * model.hidden * model.vocabulary;
  return 3 * sequences * sequence *
         ((model.layers - model.moe_layers()) * dense + model.moe_layers() * sparse + head);
}

}  // namespace windtunnel
