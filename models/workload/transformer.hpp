// Describes a transformer by its dimensions. Its MLP is dense or has a mixture of experts; it is a
// decoder alone, or an encoder and a decoder that attends to the encoder's output.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/block.hpp"
#include "models/workload/scan_form.hpp"

namespace windtunnel {

struct Tower;

enum class Activation { gelu, swiglu };
enum class Normalisation { layer_norm, rms_norm };
// `alibi`: slopes inside the attention kernel, no parameters (Press et al. 2022, arXiv 2108.12409).
// `none`: not needed (Mamba), or constants added to the input (sines of patches).
enum class PositionEncoding { learned, rotary, alibi, none };

// How attention is computed. `flash`: one fused kernel that keeps scores on chip and skips the
// masked half (Dao 2023, arXiv 2307.08691). `unfused`: batched GEMMs with a softmax between them;
// scores are in HBM, and the masked half is computed too (Megatron-LM before 2022). `linear`: no
// softmax; a state of key width x value width per head summarises all earlier tokens (Katharopoulos
// et al. 2020, arXiv 2006.16236), in blocks of kLinearBlock tokens (Lightning Attention, arXiv
// 2401.04658).
enum class AttentionKernel { flash, unfused, linear };
inline constexpr double kLinearBlock = 256;

// The order of the experts' popularity in each layer (expert_routing.hpp).
enum class PopularityOrder {
  one,       // the same in all layers: a typical one among many random orders
  by_layer,  // each layer draws its own
};

// A router and experts replace a layer's MLP (Lepikhin et al. 2020, arXiv 2006.16668).
struct MixtureOfExperts {
  int experts = 0;    // of one layer; 0: a dense model
  int per_token = 0;  // experts that each token is sent to (top-k)
  // The router chooses a token's experts from `groups_per_token` of this many equal groups of
  // experts (node-limited routing: DeepSeek-V3, arXiv 2412.19437, section 2.1.2). 1: from all.
  int groups = 1;
  int groups_per_token = 1;
  int ffn_hidden = 0;    // per expert
  int shared_ffn = 0;    // total width of the experts that see every token; 0: none
  int dense_layers = 0;  // leading layers with a dense MLP of TransformerSpec::ffn_hidden
  // Input and output width of experts, with a matrix before and one after them; 0: the model's
  // width (LatentMoE: Nemotron 3, arXiv 2512.20856).
  int latent_width = 0;
  // Tokens of the busiest expert-parallel rank over the mean. 1: perfectly balanced, or excess
  // tokens are dropped.
  double imbalance = 1;
  // This exponent of the experts' popularity replaces imbalance (expert_routing.hpp); 0: even.
  double zipf = 0;
  PopularityOrder orders = PopularityOrder::one;
  int layer = 0;  // the layer in question, if layers have different orders
  // Number of the most popular experts; every rank has copies of them, which it gathers and reduces
  // in each pass.
  int hot_experts = 0;
  // Share of a token's copies that stay in its node if experts are on several nodes (LocMoE: Li et
  // al. 2024, arXiv 2401.13920); unset: as by chance.
  std::optional<double> locality = {};
  // Experts read their layer's input instead of the attention's output, so they run in parallel
  // with attention (ScMoE: Cai et al. 2024, arXiv 2404.05019).
  bool shortcut = false;
};

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): queries, keys and
// values are computed from low-rank projections.
struct LatentAttention {
  int query_rank = 0;    // 0: queries are projected directly
  int kv_rank = 0;       // 0: no latent attention
  int rotary_width = 0;  // per head, in addition to head_width, which carries no position
  int value_width = 0;   // per head
};

// Attention to keys chosen by an indexer (DeepSeek-V3.2: arXiv 2512.02556, section 2.1). The
// indexer scores every earlier token with `heads` queries of `width` against one key. Attention
// then reads the best `top_k` as latent vectors that all heads share.
struct SparseAttention {
  int heads = 0;  // heads of the indexer; 0: attention reads all keys
  int width = 0;
  int top_k = 0;
};

struct TransformerSpec {
  std::string name;
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;    // = heads for multi-head attention, fewer for grouped-query
  int head_width = 0;  // of queries and keys; 0: hidden / heads
  int ffn_hidden = 0;  // width of an MLP matrix (SwiGLU has three matrices)
  int vocabulary = 0;
  int sequence = 0;  // training length: the default of batch.sequence
  Activation activation = Activation::gelu;
  Normalisation normalisation = Normalisation::layer_norm;
  PositionEncoding position = PositionEncoding::learned;
  bool biases = true;
  bool tied_embeddings = true;  // the loss head shares the embedding's weights
  bool dropout = false;         // after attention and MLP, and on the attention scores
  AttentionKernel attention = AttentionKernel::flash;
  MixtureOfExperts moe;
  LatentAttention latent;
  SparseAttention sparse;
  // Attention's output is multiplied by a gate that another matrix computes from the layer's input
  // (Qiu et al. 2025, arXiv 2505.06708).
  bool attention_gate = false;
  // The input of a gated activation is clamped first (GPT-OSS: arXiv 2508.10925, section 2.2).
  bool clamped_activation = false;
  // Queries and keys are scaled when rotated (YaRN's temperature: Peng et al. 2023, arXiv
  // 2309.00071, section 3.4), which Transformer Engine's kernel does not support.
  bool scaled_rotary = false;
  // Multi-token prediction modules after the last layer: each has a norm for either input, a matrix
  // with 2 x `hidden` rows, a layer like the last one, and a loss through the model's embedding and
  // head (DeepSeek-V3: arXiv 2412.19437, section 2.2). They count as layers after `layers`.
  int mtp_layers = 0;
  std::string source;
  std::vector<std::string> left_out;  // features of a configuration that this model ignores
  // Queries, keys and values (and SwiGLU's gate) are separate matrices, as in Hugging Face: more
  // gradient tensors, the same products.
  bool separate_projections = false;
  // BERT's additional parameters: two segment embeddings, and at the head a dense layer, its norm,
  // a bias for the vocabulary, the pooler and the classifier of sentence pairs. Their computation
  // is not counted.
  bool encoder = false;
  // Frames of a video sequence. Layers alternate between attention within a frame and attention
  // along one position of all frames, without a mask (Open-Sora, Latte: arXiv 2401.03048). 0: every
  // layer attends causally to the whole sequence.
  int frames = 0;
  // With flash attention: number of most recent keys that a query sees, including its own (Mistral,
  // arXiv 2310.06825; Gemma 2, arXiv 2408.00118). 0: all earlier keys.
  int window = 0;
  int global_every = 0;        // one layer in this many has no window; 0: all have a window
  bool bidirectional = false;  // no causal mask: every query sees the whole sequence
  // Number of vectors of width `hidden` that a layer computes from its sequence's condition by a
  // matrix each (adaLN: Peebles and Xie 2023, arXiv 2212.09748). These products, with one row per
  // sequence, are not counted.
  int modulation = 0;
  // One letter per layer (kBlockLetters); empty: all layers are attention and an MLP or experts.
  std::string pattern;
  MambaMixer mamba;
  // Tokens of a sequence that an encoder reads; the others belong to the decoder (Block), and only
  // these have a loss. 0: there is no encoder.
  int source_tokens = 0;
  // Number of keys and values to which those of a sequence are projected, along the sequence
  // (Linformer: Wang et al. 2020, arXiv 2006.04768, equation 7); each layer has a matrix for keys
  // and one for values. 0: no projection.
  int projected_keys = 0;
  // Text tokens per sequence in models whose layers have two streams: the text's weights process
  // these.
  int text_tokens = 0;
  // Rows of the additional matrices with `hidden` columns that embed a condition (time, class,
  // text) and modulate the head. Their products are not counted.
  int conditioning = 0;
  // A stack of layers before this decoder that turns images or sounds into places of its sequence.
  // Null: there is none.
  std::shared_ptr<const Tower> tower;

  bool masked() const { return frames == 0 && !bidirectional; }
  bool windowed(int length) const {
    return attention == AttentionKernel::flash && window > 0 && window < length;
  }
  bool chooses_keys(int length) const { return sparse.heads > 0 && sparse.top_k < length; }
  int keys_of(int length) const {
    return projected_keys > 0 && projected_keys < length ? projected_keys : length;
  }
  // The share of a sequence's tokens that a block works on.
  double rows_share(Block block, int length) const {
    if (source_tokens == 0 || block == Block::embedding) return 1;
    const double source = static_cast<double>(source_tokens) / length;
    return block == Block::encoder_layer ? source : 1 - source;
  }
  int all_layers() const { return layers + mtp_layers; }
  // Share of the layers without a window.
  double global_share() const {
    if (global_every == 0) return 0;
    const int without_window = layers / global_every;
    return static_cast<double>(without_window) / layers;
  }
  int head_dim() const { return head_width > 0 ? head_width : hidden / heads; }
  int q_width() const { return heads * query_dim(); }
  int kv_width() const {
    return kv_heads * head_dim();
  }  // of K, and of V, without latent attention
  int query_dim() const { return head_dim() + latent.rotary_width; }  // per head, and per key
  int value_dim() const { return latent.kv_rank > 0 ? latent.value_width : head_dim(); }
  int context_width() const { return heads * value_dim(); }  // input of the output projection
  // Whether layers with experts differ in their loads.
  bool draws_by_layer() const {
    return moe.orders == PopularityOrder::by_layer && moe_layers() > 0;
  }
  // Columns of the first MLP matrix: SwiGLU's gate and up projections are one GEMM.
  int up_width() const { return activation == Activation::swiglu ? 2 * ffn_hidden : ffn_hidden; }
  // A pattern repeats after its end, so that a model with more layers has the same proportions.
  Block block_of(int layer) const;
  int layers_of(Block block) const;  // number of layers of this kind
  int layers_with(bool (*part)(Block)) const;
  // number of modulation vectors; a stream with both attention and MLP has `modulation` of them
  double modulation_of(Block block) const;
  bool is_moe(int layer) const { return has_experts(block_of(layer)); }
  int moe_layers() const { return moe.experts > 0 ? layers_with(has_experts) : 0; }
  int moe_layers_before(int layer) const;
  int expert_width() const { return moe.latent_width > 0 ? moe.latent_width : hidden; }
  // Share of a sequence's tokens that belong to the text stream.
  double text_share(int length) const { return static_cast<double>(text_tokens) / length; }

  double attention_parameters() const;       // matrices of one layer's attention
  double mlp_parameters() const;             // matrices of a dense layer's MLP
  double expert_parameters() const;          // matrices of one expert
  double indexer_parameters() const;         // per layer
  double key_projection_parameters() const;  // per layer, of projected_keys
  double final_norm_parameters() const;      // after the last layer of each stack
  double mamba_parameters() const;           // of one Mamba layer, without the norm before it
  // parameters of a layer, including all experts and the router
  double layer_parameters(Block block = Block::layer) const;
  double embedding_parameters() const;  // token (and learned position) embedding
  double head_parameters() const;       // final norm and, if not tied, the output matrix
  double segment_parameters() const;    // of an encoder's embedding
  double encoder_parameters() const;    // of an encoder's head
  double joining_parameters() const;    // of a multi-token prediction module, apart from its layer
  double unread_parameters() const;  // matrices that the text stream of a last_double_stream lacks
  double parameters() const;         // the whole model
  double active_parameters() const;  // parameters used for a token: only the chosen experts
};

// Number of keys that a query sees, including the half hidden by a causal mask: the sequence; for
// video the mean of a frame's tokens and of the frames; with windows the mean over all layers.
double attended_keys(const TransformerSpec& model, int sequence);

// Number of keys that a query sees if at most `most` are visible, averaged over queries from
// `begin` to `end` of a sequence (in tokens): the latest ones in a window, or those chosen by an
// indexer.
double limited_keys(const TransformerSpec& model, double most, double begin, double end);
// As limited_keys(), with the model's window as the limit.
double windowed_keys(const TransformerSpec& model, double begin, double end);

double norm_parameters(const TransformerSpec& model);  // of one norm: scale and, in LayerNorm, bias

// Floating-point operations per iteration by Megatron-LM's convention (Narayanan et al., SC'21, eq.
// 3 and appendix, generalised to GQA, SwiGLU, latent attention and each token's experts): matrix
// multiplications of forward and backward (three times the forward), full (not causal) attention,
// no recomputation. AttentionCount::causal halves attention that has a causal mask, as fused
// kernels compute it.
enum class AttentionCount { full, causal };
double model_flops(const TransformerSpec& model, double sequences, int sequence,
                   AttentionCount count = AttentionCount::full);
// Forward FLOPs of a token in a layer, by the same convention: products with weights, whose
// backward pass costs twice as much, and attention itself, or a scan (ScanForm::counted).
struct LayerFlops {
  double products = 0;
  double attention = 0;
  double sum() const { return products + attention; }
};
LayerFlops layer_flops(const TransformerSpec& model, int sequence, Block block,
                       AttentionCount count = AttentionCount::full);

}  // namespace windtunnel
