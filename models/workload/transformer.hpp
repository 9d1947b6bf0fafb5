// A transformer by its dimensions: dense, or with a mixture of experts in the MLP; a decoder alone,
// or an encoder and a decoder that reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/workload/block.hpp"
#include "models/workload/scan_form.hpp"

namespace windtunnel {

enum class Activation { gelu, swiglu };
enum class Normalisation { layer_norm, rms_norm };
// `alibi`: slopes inside the attention kernel, no parameters (Press et al. 2022, arXiv 2108.12409).
// `none`: Mamba layers need none; or fixed ones are added to the input (sines of patches).
enum class PositionEncoding { learned, rotary, alibi, none };

// How the attention is computed. `flash`: one fused kernel that keeps the scores on the chip and
// skips the masked half (Dao 2023, arXiv 2307.08691). `unfused`: batched GEMMs with a softmax
// between them, scores in HBM, the masked half computed too (Megatron-LM before 2022). `linear`: no
// softmax, so that a state of key width x value width a head stands for all earlier tokens
// (Katharopoulos et al. 2020, arXiv 2006.16236), in blocks of kLinearBlock tokens (Lightning
// Attention, arXiv 2401.04658).
enum class AttentionKernel { flash, unfused, linear };
inline constexpr double kLinearBlock = 256;

// In which order the experts of a layer are popular (expert_routing.hpp).
enum class PopularityOrder {
  one,       // in all layers the same, the usual one of many that are drawn
  by_layer,  // each layer draws its own
};

// The MLP of a layer replaced by a router and experts (Lepikhin et al. 2020, arXiv 2006.16668).
struct MixtureOfExperts {
  int experts = 0;    // of one layer; 0: a dense model
  int per_token = 0;  // experts that each token is sent to (top-k)
  // The router takes a token's experts from `groups_per_token` of this many equal groups of experts
  // (node-limited routing: DeepSeek-V3, arXiv 2412.19437, section 2.1.2). 1: from all.
  int groups = 1;
  int groups_per_token = 1;
  int ffn_hidden = 0;    // of one expert
  int shared_ffn = 0;    // width of the experts that see every token, in all; 0: none
  int dense_layers = 0;  // leading layers with a dense MLP of TransformerSpec::ffn_hidden
  // Width of what experts read and write, with a matrix before and one after them; 0: that of the
  // model (LatentMoE: Nemotron 3, arXiv 2512.20856).
  int latent_width = 0;
  // Tokens of the busiest expert-parallel rank over the mean. 1: perfectly balanced, or dropped to
  // that capacity.
  double imbalance = 1;
  // In place of imbalance: exponent of the experts' popularity (expert_routing.hpp); 0: even.
  double zipf = 0;
  PopularityOrder orders = PopularityOrder::one;
  int layer = 0;  // the layer with experts that is meant, where each layer has an order of its own
  int hot_experts = 0;  // the most visited ones, on every rank, gathered and reduced in each pass
  // Share of a token's copies that stay in its node where experts lie on several (LocMoE: Li et al.
  // 2024, arXiv 2401.13920); none: as many as chance leaves there.
  std::optional<double> locality = {};
  // Experts work on the input of their layer and not on its attention's output, beside which they
  // run (ScMoE: Cai et al. 2024, arXiv 2404.05019).
  bool shortcut = false;
};

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): queries, keys and
// values come out of low-rank projections.
struct LatentAttention {
  int query_rank = 0;    // 0: queries are projected directly
  int kv_rank = 0;       // 0: no latent attention
  int rotary_width = 0;  // of a head, beside head_width, which carries no position
  int value_width = 0;   // of a head
};

// Attention to the keys that an indexer chooses (DeepSeek-V3.2: arXiv 2512.02556, section 2.1). The
// indexer scores every earlier token by `heads` queries of `width` against one key, and attention
// reads the best `top_k` as latent vectors that all heads share.
struct SparseAttention {
  int heads = 0;  // of the indexer; 0: attention reads all keys
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
  MixtureOfExperts moe;
  LatentAttention latent;
  SparseAttention sparse;
  // Attention's output is multiplied by a gate that a further matrix makes of the layer's input
  // (Qiu et al. 2025, arXiv 2505.06708).
  bool attention_gate = false;
  // What a gated activation reads is held within bounds first (GPT-OSS: arXiv 2508.10925, section
  // 2.2).
  bool clamped_activation = false;
  // Queries and keys are multiplied by a number as they are turned (YaRN's temperature: Peng et al.
  // 2023, arXiv 2309.00071, section 3.4), which Transformer Engine's kernel does not do.
  bool scaled_rotary = false;
  // Modules behind the last layer, each a norm of either input, a matrix of twice `hidden` rows, a
  // layer as the last one, and a loss of its own through the model's embedding and head
  // (DeepSeek-V3: arXiv 2412.19437, section 2.2). They count as layers behind `layers`.
  int mtp_layers = 0;
  std::string source;
  std::vector<std::string> left_out;  // what a configuration has and this model leaves out
  // Queries, keys and values (and SwiGLU's gate) are matrices of their own, as Hugging Face has
  // them: more gradients, the same products.
  bool separate_projections = false;
  // BERT's: two segment embeddings, and beside the loss head a dense layer, its norm, a bias for
  // the vocabulary, the pooler and the classifier of sentence pairs. What they compute is not
  // counted.
  bool encoder = false;
  // Frames of a video sequence. Layers attend in turn to the tokens of one frame and to those at
  // one place of all frames, without a mask (Open-Sora, Latte: arXiv 2401.03048). 0: every layer
  // attends to the whole sequence, causally.
  int frames = 0;
  // With flash attention: the number of latest keys, its own among them, that a query sees
  // (Mistral, arXiv 2310.06825; Gemma 2, arXiv 2408.00118). 0: all before it.
  int window = 0;
  int global_every = 0;        // one layer in this many has no window; 0: all have it
  bool bidirectional = false;  // no causal mask: every query sees the whole sequence
  // Vectors of width `hidden` that a layer makes of its sequence's condition by a matrix each
  // (adaLN: Peebles and Xie 2023, arXiv 2212.09748). Their products, of one row a sequence, are not
  // counted.
  int modulation = 0;
  // A letter for each layer (kBlockLetters); empty: all are attention and an MLP or experts.
  std::string pattern;
  MambaMixer mamba;
  // Of a sequence, the tokens that an encoder reads; the others are the decoder's (Block). Only
  // these have a loss. 0: there is no encoder.
  int source_tokens = 0;
  // Keys and values of a sequence are multiplied, along it, into this many (Linformer: Wang et al.
  // 2020, arXiv 2006.04768, equation 7); each layer has a matrix for either. 0: into none.
  int projected_keys = 0;
  // Tokens of the text in a sequence, where layers have two streams: its weights work on these.
  int text_tokens = 0;
  // Rows of the further matrices of `hidden` columns that embed a condition (time, class, text) and
  // modulate the head. Their products are not counted.
  int conditioning = 0;

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
  // The share of the layers that have no window.
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
  int query_dim() const { return head_dim() + latent.rotary_width; }  // of one head, and of a key
  int value_dim() const { return latent.kv_rank > 0 ? latent.value_width : head_dim(); }
  int context_width() const { return heads * value_dim(); }  // input of the output projection
  // Columns of the first MLP matrix: SwiGLU's gate and up projection are one GEMM.
  // Every layer with experts has loads of its own.
  bool draws_by_layer() const {
    return moe.orders == PopularityOrder::by_layer && moe_layers() > 0;
  }
  int up_width() const { return activation == Activation::swiglu ? 2 * ffn_hidden : ffn_hidden; }
  // A pattern begins anew behind its end, so that a model with other layers has its proportions.
  Block block_of(int layer) const;
  int layers_of(Block block) const;  // how many are such
  int layers_with(bool (*part)(Block)) const;
  double modulation_of(Block block) const;  // vectors; `modulation` of a stream with both halves
  bool is_moe(int layer) const { return has_experts(block_of(layer)); }
  int moe_layers() const { return moe.experts > 0 ? layers_with(has_experts) : 0; }
  int moe_layers_before(int layer) const;
  int expert_width() const { return moe.latent_width > 0 ? moe.latent_width : hidden; }
  // The share of a sequence's tokens that belong to the text's stream.
  double text_share(int length) const { return static_cast<double>(text_tokens) / length; }

  double attention_parameters() const;       // matrices of one layer's attention
  double mlp_parameters() const;             // matrices of a dense layer's MLP
  double expert_parameters() const;          // matrices of one expert
  double indexer_parameters() const;         // of one layer
  double key_projection_parameters() const;  // of one layer, of projected_keys
  double final_norm_parameters() const;      // behind the last layer of each stack
  double mamba_parameters() const;           // of one Mamba layer, but for the norm before it
  double layer_parameters(Block block = Block::layer) const;  // all experts and the router too
  double embedding_parameters() const;  // token (and learned position) embedding
  double head_parameters() const;       // final norm and, where not tied, the output matrix
  double segment_parameters() const;    // an encoder's, of the embedding
  double encoder_parameters() const;    // an encoder's, of the head
  double joining_parameters() const;    // of a module of mtp_layers, beside its layer
  double unread_parameters()
      const;                  // matrices that the text's stream of a last_double_stream lacks
  double parameters() const;  // the whole model
  double active_parameters() const;  // parameters that a token meets: not those of all experts
};

// Keys that a query sees, the half that a causal mask hides counted too: the sequence, the mean of
// a frame and of the frames, or the mean over layers with and without a window.
double attended_keys(const TransformerSpec& model, int sequence);

// Mean over queries from `begin` to `end` of a sequence (in tokens) of the keys that they see of at
// most `most`: the latest ones in a window, or those that an indexer chooses.
double limited_keys(const TransformerSpec& model, double most, double begin, double end);
// As limited_keys(), with at most the keys of the model's window.
double windowed_keys(const TransformerSpec& model, double begin, double end);

double norm_parameters(const TransformerSpec& model);  // of one norm: scale and, in LayerNorm, bias

// Floating-point operations per iteration by the convention of Megatron-LM (Narayanan et al.,
// SC'21, eq. 3 and appendix, generalised to GQA, SwiGLU, latent attention and the experts that a
// token visits): matrix multiplications of forward and backward (three times the forward), full
// (not causal) attention, no recomputation. AttentionCount::causal counts half of the attention
// that has a causal mask, as fused kernels compute it.
enum class AttentionCount { full, causal };
double model_flops(const TransformerSpec& model, double sequences, int sequence,
                   AttentionCount count = AttentionCount::full);
// FLOPs of a token in a layer, forward, by the same convention: products with weights, whose
// backward pass costs twice as much, and attention's own, or a scan's (ScanForm::counted).
struct LayerFlops {
  double products = 0;
  double attention = 0;
  double sum() const { return products + attention; }
};
LayerFlops layer_flops(const TransformerSpec& model, int sequence, Block block,
                       AttentionCount count = AttentionCount::full);

}  // namespace windtunnel
