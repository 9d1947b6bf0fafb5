// A dense decoder-only transformer by its dimensions.
#pragma once

#include <string>

namespace windtunnel {

enum class Activation { gelu, swiglu };
enum class Normalisation { layer_norm, rms_norm };
enum class PositionEncoding { learned, rotary };

struct TransformerSpec {
  std::string name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;            // = heads for multi-head attention, fewer for grouped-query
  int ffn_hidden = 0;          // width of one MLP matrix (SwiGLU has three of them)
  int vocabulary = 0;
  int sequence = 0;            // length it was trained with: the default of batch.sequence
  Activation activation = Activation::gelu;
  Normalisation normalisation = Normalisation::layer_norm;
  PositionEncoding position = PositionEncoding::learned;
  bool biases = true;
  bool tied_embeddings = true; // the loss head shares the embedding's weights
  std::string source;

  int head_dim() const { return hidden / heads; }
  double layer_parameters() const;      // one transformer layer
  double embedding_parameters() const;  // token (and learned position) embedding
  double head_parameters() const;       // final norm and, where not tied, the output matrix
  double parameters() const;            // the whole model
};

// Floating-point operations per iteration by the convention of Megatron-LM (Narayanan et al.,
// SC'21, eq. 3 and appendix, generalised to GQA and SwiGLU): matrix multiplications of forward and
// backward (three times the forward), full (not causal) attention, no recomputation.
double model_flops(const TransformerSpec& model, double sequences, int sequence);

}  // namespace windtunnel
