// A dense decoder-only transformer by its dimensions.
#pragma once

#include <string>

namespace windtunnel {

enum class Activation { gelu, swiglu };
enum class Normalisation { layer_norm, rms_norm };
enum class PositionEncoding { learned, rotary };

// How the attention is computed. `flash`: one fused kernel that keeps the scores on the chip and
// skips the masked half (Dao 2023, arXiv 2307.08691). `unfused`: batched GEMMs with a softmax
// between them, scores in HBM, the masked half computed too (Megatron-LM before 2022).
enum class AttentionKernel { flash, unfused };

struct TransformerSpec {
  std::string name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;    // = heads for multi-head attention, fewer for grouped-query
  int ffn_hidden = 0;  // width of one MLP matrix (SwiGLU has three of them)
  int vocabulary = 0;
  int sequence = 0;  // length it was trained with: the default of batch.sequence
  Activation activation = Activation::gelu;
  Normalisation normalisation = Normalisation::layer_norm;
  PositionEncoding position = PositionEncoding::learned;
  bool biases = true;
  bool tied_embeddings = true;  // the loss head shares the embedding's weights
  bool dropout = false;         // after both halves of a layer and on the attention scores
  AttentionKernel attention = AttentionKernel::flash;
  std::string source;

  int head_dim() const { return hidden / heads; }
  int kv_width() const { return kv_heads * head_dim(); }  // of K, and of V
  // Columns of the first MLP matrix: SwiGLU's gate and up projection are one GEMM.
  int up_width() const { return activation == Activation::swiglu ? 2 * ffn_hidden : ffn_hidden; }
  double layer_parameters() const;      // one transformer layer
  double embedding_parameters() const;  // token (and learned position) embedding
  double head_parameters() const;       // final norm and, where not tied, the output matrix
  double parameters() const;            // the whole model
};

double norm_parameters(const TransformerSpec& model);  // of one norm: scale and, in LayerNorm, bias

// Floating-point operations per iteration by the convention of Megatron-LM (Narayanan et al.,
// SC'21, eq. 3 and appendix, generalised to GQA and SwiGLU): matrix multiplications of forward and
// backward (three times the forward), full (not causal) attention, no recomputation.
double model_flops(const TransformerSpec& model, double sequences, int sequence);

}  // namespace windtunnel
