#include "models/transformer.hpp"

namespace windtunnel {
namespace {

// Weights of the four (SwiGLU: five) matrices of a layer.
double matrix_parameters(const TransformerSpec& model) {
  const double h = model.hidden;
  const double attention = h * (h + 2.0 * model.kv_width()) + h * h;
  return attention + h * model.up_width() + h * model.ffn_hidden;
}

}  // namespace

double norm_parameters(const TransformerSpec& model) {
  const double vectors = model.normalisation == Normalisation::layer_norm ? 2 : 1;
  return vectors * model.hidden;
}

double TransformerSpec::layer_parameters() const {
  const double bias = biases ? hidden + 2.0 * kv_width() + hidden + up_width() + hidden : 0.0;
  return matrix_parameters(*this) + bias + 2 * norm_parameters(*this);
}

double TransformerSpec::embedding_parameters() const {
  const double positions = position == PositionEncoding::learned ? sequence : 0;
  return (vocabulary + positions) * hidden;
}

double TransformerSpec::head_parameters() const {
  const double matrix = tied_embeddings ? 0.0 : static_cast<double>(vocabulary) * hidden;
  return norm_parameters(*this) + matrix;
}

double TransformerSpec::parameters() const {
  return embedding_parameters() + layers * layer_parameters() + head_parameters();
}

double model_flops(const TransformerSpec& model, double sequences, int sequence) {
  const double tokens = sequences * sequence;
  // Two operations per weight and token; QK^T and PV each 2 s h per token.
  const double layer = 2 * matrix_parameters(model) + 4.0 * sequence * model.hidden;
  const double head = 2.0 * model.hidden * model.vocabulary;
  return 3 * tokens * (model.layers * layer + head);
}

}  // namespace windtunnel
