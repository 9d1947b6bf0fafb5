// Families of Hugging Face's configurations with layers of several kinds or with sparse attention,
// and the list of what the readers leave out of a file.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/units.hpp"
#include "scenarios/language/configs/hugging_face_config.hpp"
#include "scenarios/language/configs/hugging_face_towers.hpp"

namespace windtunnel {
namespace {

using MixedConfig = HuggingFaceConfig;

// [layer] Whether it has full attention: as layer_types says, or else every n-th layer.
std::vector<bool> attention_layers(const MixedConfig& config, int layers, int usual_every) {
  std::vector<bool> attention(static_cast<std::size_t>(std::clamp(layers, 0, 10'000)));
  if (config.find("layer_types") == nullptr) {
    const int every = std::max(1, config.whole_or("full_attention_interval", usual_every));
    for (std::size_t i = 0; i < attention.size(); ++i) attention[i] = (i + 1) % every == 0;
    return attention;
  }
  const std::vector<DocumentNode>& types = config.list("layer_types");
  if (types.size() != attention.size()) {
    throw Error(config.where("layer_types"),
                fmt::format("layer_types: lists {} of {} layers", types.size(), layers));
  }
  for (std::size_t i = 0; i < attention.size(); ++i) {
    attention[i] = types[i].text == "full_attention";
    if (attention[i] || types[i].text == "linear_attention") continue;
    throw Error(types[i].where,
                fmt::format("layer_types: '{}' is not modelled here; known: full_attention, "
                            "linear_attention",
                            types[i].text));
  }
  return attention;
}

void set_mixed_layers(const std::vector<bool>& attention, const std::vector<bool>& experts,
                      TransformerSpec& model) {
  std::string letters;
  for (std::size_t i = 0; i < attention.size(); ++i) {
    letters += attention[i] ? (experts[i] ? 'X' : 'T') : (experts[i] ? 'R' : 'L');
  }
  set_layers(letters, model);
  if (model.layers_with(has_mamba) == 0) model.mamba = {};
}

// Reads the gate of attention and the gated DeltaNet, which Qwen3-Next and Qwen3.5 state alike.
void read_gated_delta(const MixedConfig& config, TransformerSpec& model) {
  model.head_width = config.whole_or("head_dim", 256);
  model.attention_gate = config.flag_or("attn_output_gate", true);
  model.mamba = {.kind = ScanKind::gated_delta,
                 .state = config.whole_or("linear_key_head_dim", 128),
                 .head_width = config.whole_or("linear_value_head_dim", 128),
                 .groups = config.whole_or("linear_num_key_heads", 16),
                 .heads = config.whole_or("linear_num_value_heads", 32)};
}

}  // namespace

void read_qwen3_next(const MixedConfig& config, TransformerSpec& model) {
  read_dimensions(config, model);
  read_gated_delta(config, model);
  read_qwen_expert_sizes(config, model);
  set_mixed_layers(attention_layers(config, model.layers, 4),
                   qwen_expert_layers(config, model.layers), model);
}

// The model is dense, or has experts in every layer.
void read_qwen3_5(const MixedConfig& config, TransformerSpec& model) {
  const DocumentNode* type = config.find("model_type");
  const bool moe = config.find("num_experts") != nullptr ||
                   (type != nullptr && type->text.find("moe") != std::string::npos);
  model.layers = config.whole("num_hidden_layers");
  model.hidden = config.whole("hidden_size");
  model.heads = config.whole("num_attention_heads");
  model.kv_heads = config.whole_or("num_key_value_heads", model.heads);
  model.ffn_hidden = config.whole(moe ? "moe_intermediate_size" : "intermediate_size");
  model.vocabulary = config.whole("vocab_size");
  model.activation = Activation::swiglu;
  model.normalisation = Normalisation::rms_norm;
  model.position = PositionEncoding::rotary;
  model.biases = config.flag_or("attention_bias", false);
  model.tied_embeddings = config.flag_or("tie_word_embeddings", false);
  read_gated_delta(config, model);
  if (moe) read_qwen_expert_sizes(config, model);
  const std::vector<bool> attention = attention_layers(config, model.layers, 4);
  set_mixed_layers(attention, std::vector<bool>(attention.size(), moe), model);
}

// Kimi Delta Attention alternates with latent attention without positions. The file counts layers
// from 1.
void read_kimi_linear(const MixedConfig& config, TransformerSpec& model) {
  read_dimensions(config, model);
  const HuggingFaceConfig linear = config.part("linear_attn_config");
  model.kv_heads = model.heads;
  model.head_width = config.whole("qk_nope_head_dim");
  model.latent.query_rank = config.whole_or("q_lora_rank", 0);
  model.latent.kv_rank = config.whole("kv_lora_rank");
  model.latent.rotary_width = config.whole("qk_rope_head_dim");
  model.latent.value_width = config.whole("v_head_dim");
  if (config.flag_or("mla_use_nope", false)) model.position = PositionEncoding::none;
  model.attention_gate = config.flag_or("mla_use_output_gate", false);
  model.moe.experts = config.whole("num_experts", "num_local_experts");
  model.moe.per_token = config.whole("num_experts_per_token", "num_experts_per_tok");
  model.moe.ffn_hidden = config.whole("moe_intermediate_size");
  model.moe.shared_ffn = std::min(MixedConfig::kMostOfAll / 2,
                                  std::min(1000, config.whole_or("num_shared_experts", 0)) *
                                      std::min(100'000, model.moe.ffn_hidden));
  model.moe.latent_width = config.whole_or("routed_expert_hidden_size", 0);
  const int width = linear.whole("head_dim");
  const int heads = linear.whole("num_heads");
  model.mamba = {.kind = ScanKind::kimi_delta,
                 .state = width,
                 .head_width = width,
                 .groups = heads,
                 .heads = heads};
  const std::size_t layers = static_cast<std::size_t>(std::clamp(model.layers, 0, 10'000));
  std::vector<bool> attention(layers);
  for (const DocumentNode& node : linear.list("full_attn_layers")) {
    const int layer = windtunnel::whole(node, "full_attn_layers");
    if (layer < 1 || layer > std::ssize(attention)) {
      throw Error(node.where, fmt::format("full_attn_layers: {} is not from 1 to the {} layers",
                                          layer, layers));
    }
    attention[layer - 1] = true;
  }
  linear.find("kda_layers");  // marks the key as read: it lists the remaining layers
  linear.find("short_conv_kernel_size");
  std::vector<bool> experts(layers, true);
  const int dense = config.whole_or("first_k_dense_replace", 0);
  std::fill_n(experts.begin(), std::min<std::size_t>(std::max(0, dense), layers), false);
  config.find("moe_layer_freq");
  set_mixed_layers(attention, experts, model);
  for (const std::string& key : linear.unread()) {
    if (key != "gate_lower_bound") model.left_out.push_back("linear_attn_config." + key);
  }
}

// Lightning Attention alternates with softmax attention, as attn_type_list or layer_types says.
void read_minimax(const MixedConfig& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.moe.experts = config.whole("num_local_experts");
  model.moe.per_token = config.whole_or("num_experts_per_tok", 2);
  model.moe.ffn_hidden = model.ffn_hidden;
  model.moe.shared_ffn = config.whole_or("shared_intermediate_size", 0);
  const int width = model.head_dim();
  model.mamba = {.kind = ScanKind::lightning,
                 .state = width,
                 .head_width = width,
                 .groups = model.heads,
                 .heads = model.heads};
  std::vector<bool> attention;
  if (config.find("attn_type_list") != nullptr) {
    for (const DocumentNode& type : config.list("attn_type_list")) {
      attention.push_back(windtunnel::whole(type, "attn_type_list") == 1);
    }
    if (std::ssize(attention) != model.layers) {
      throw Error(
          config.where("attn_type_list"),
          fmt::format("attn_type_list: lists {} of {} layers", attention.size(), model.layers));
    }
  } else {
    attention = attention_layers(config, model.layers, 2);
  }
  set_mixed_layers(attention, std::vector<bool>(attention.size(), true), model);
}

void read_minimax_m2(const MixedConfig& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.moe.experts = config.whole("num_local_experts");
  model.moe.per_token = config.whole("num_experts_per_tok");
  model.moe.ffn_hidden = model.ffn_hidden;
  config.find("attn_type_list");  // marks the key as read: all layers have softmax attention
}

namespace {

void read_indexer(const MixedConfig& config, int usual_heads, TransformerSpec& model) {
  read_deepseek(config, model);
  model.sparse = {.heads = config.whole_or("index_n_heads", usual_heads),
                  .width = config.whole_or("index_head_dim", 128),
                  .top_k = config.whole_or("index_topk", 2048)};
  if (config.whole_or("index_topk_freq", 1) > 1 || config.find("index_topk_pattern") != nullptr ||
      config.find("indexer_types") != nullptr) {
    model.left_out.emplace_back(
        "layers that reuse the choice of keys of an earlier layer (index_topk_freq): each is "
        "counted with its own indexer");
  }
}

}  // namespace

void read_deepseek_v32(const MixedConfig& config, TransformerSpec& model) {
  read_indexer(config, 64, model);
}

void read_glm_dsa(const MixedConfig& config, TransformerSpec& model) {
  read_indexer(config, 32, model);
  for (const char* of_no_effect : {"head_dim", "mlp_layer_types"}) config.find(of_no_effect);
}

void read_glm4_moe(const MixedConfig& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.biases = false;  // TransformerSpec cannot express biases of queries, keys and values alone
  model.head_width = config.whole_or("head_dim", 128);
  model.moe.experts = config.whole("n_routed_experts");
  model.moe.per_token = config.whole("num_experts_per_tok");
  model.moe.ffn_hidden = config.whole("moe_intermediate_size");
  model.moe.shared_ffn = std::min(1000, config.whole_or("n_shared_experts", 0)) *
                         std::min(100'000, model.moe.ffn_hidden);
  model.moe.dense_layers = std::min(config.whole_or("first_k_dense_replace", 0), model.layers);
}

namespace {

// No reader asks for these keys. They change time and memory by at most a vector per layer: tokens,
// tokenizers, generation, initialisation, scales of positions and of the router, norms of queries
// and keys, formats of weights. A leading `*` matches anything; `_*` matches private keys of the
// library that wrote the file.
constexpr std::array<std::string_view, 98> kOfNoEffect = {
    "*_eps",
    "*_epsilon",
    "*_token_id",
    "*_token_index",
    "_*",
    "activation_function",
    "add_bias_logits",
    "add_final_layer_norm",
    "architectures",
    "attn_implementation",
    "attn_logit_softcapping",
    "auto_map",
    "aux_loss_alpha",
    "cache_implementation",
    "chunk_size_feed_forward",
    "dense_act_fn",
    "do_sample",
    "dtype",
    "early_stopping",
    "ep_size",
    "experts_implementation",
    "final_logit_softcapping",
    "finetuning_task",
    "for_llm_compressor",
    "hidden_act",
    "hidden_activation",
    "id2label",
    "init_std",
    "initializer_factor",
    "initializer_range",
    "is_encoder_decoder",
    "is_gated_act",
    "label2id",
    "linear_conv_kernel_dim",
    "mamba_ssm_dtype",
    "max_position_embeddings",
    "mlp_bias",
    "mm_tokens_per_image",
    "model_max_length",
    "model_type",
    "moe_aux_loss_coeff",
    "moe_renormalize",
    "moe_router_activation_func",
    "moe_router_enable_expert_bias",
    "n_group",
    "no_repeat_ngram_size",
    "norm_topk_prob",
    "normalize_before",
    "normalize_embedding",
    "num_beams",
    "num_expert_group",
    "original_max_position_embeddings",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_router_logits",
    "partial_rotary_factor",
    "pretraining_tp",
    "qk_head_dim",
    "qk_layernorm",
    "qk_norm",
    "query_pre_attn_scalar",
    "relative_attention_max_distance",
    "rope_interleave",
    "rope_local_base_freq",
    "rope_parameters",
    "rope_scaling",
    "rope_theta",
    "rope_type",
    "rotary_base",
    "rotary_dim",
    "rotary_emb_base",
    "rotary_pct",
    "routed_scaling_factor",
    "router_aux_loss_coef",
    "router_bias",
    "router_dtype",
    "router_jitter_noise",
    "router_z_loss_coef",
    "scale_embedding",
    "scoring_func",
    "seq_aux",
    "swiglu_limit",
    "task_specific_params",
    "topk_group",
    "topk_method",
    "torch_dtype",
    "transformers_version",
    "use_bias",
    "use_cache",
    "use_conv_bias",
    "use_grouped_topk",
    "use_mamba_kernels",
    "use_qk_norm",
    "use_qkv_bias",
    "use_rmsnorm",
    "use_routing_bias",
    "use_sliding_window",
};

// Keys about how the model was trained, which a scenario states itself.
constexpr std::array<std::string_view, 6> kOfTraining = {
    "*_pdrop",      "*dropout",
    "*layerdrop",   "gradient_checkpointing",
    "quantization", "quantization_config",
};

bool matches_key(std::string_view key, std::string_view pattern) {
  const bool any_before = pattern.starts_with('*');
  const bool any_behind = pattern.size() > 1 && pattern.ends_with('*');
  if (any_before) pattern.remove_prefix(1);
  if (any_behind) pattern.remove_suffix(1);
  if (any_before && any_behind) return key.find(pattern) != std::string_view::npos;
  if (any_before) return key.ends_with(pattern);
  return any_behind ? key.starts_with(pattern) : key == pattern;
}

bool is_off(const DocumentNode& node) {
  return node.kind == DocumentNode::Kind::scalar &&
         (node.text == "false" || node.text.find_first_not_of("0.") == std::string::npos);
}

// Whether the total widths of all heads stay within a model's limits.
bool is_countable(const TransformerSpec& model) {
  constexpr double kMostWide = 1e8;
  const double head =
      double(model.head_width) + model.latent.rotary_width + model.latent.value_width;
  const double mixer = double(model.mamba.heads) + model.mamba.groups;
  return (double(model.heads) + model.kv_heads) * head < kMostWide &&
         mixer * (double(model.mamba.head_width) + model.mamba.state + model.mamba.chunk) <
             kMostWide;
}

void name_predictors(const MixedConfig& config, TransformerSpec& model) {
  constexpr int kLength = 4096;
  int modules = 0;
  std::string key;
  for (const char* name :
       {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}) {
    if (config.find(name) == nullptr || config.whole(name) == 0) continue;
    modules = std::min(config.whole(name), 16);
    key = name;
  }
  config.find("mtp_transformer_layers");
  config.find("mtp_use_dedicated_embeddings");
  if (modules == 0) return;
  TransformerSpec with = model;
  with.mtp_layers = modules;
  const double all = model_flops(with, 1, kLength);
  model.left_out.push_back(
      fmt::format("{}: {} {} for multi-token prediction, with {} parameters and {:.2g} % of the "
                  "operations; if it is trained, state mtp_layers: {}",
                  key, modules, modules == 1 ? "module" : "modules",
                  format_count(with.parameters() - model.parameters()),
                  100 * (1 - model_flops(model, 1, kLength) / all), modules));
}

}  // namespace

void name_left_out(const DocumentNode& document, const MixedConfig& config,
                   TransformerSpec& model) {
  if (is_countable(model)) {
    name_predictors(config, model);
    read_towers(document, model);
  }
  std::vector<std::string> unknown, training;
  for (const std::string& key : config.unread()) {
    const auto is_like = [&](std::string_view pattern) { return matches_key(key, pattern); };
    const bool part = key == "text_config" || key == "vision_config" || key == "audio_config";
    const DocumentNode* node = config.find(key);
    if (part || node == nullptr || std::ranges::any_of(kOfNoEffect, is_like)) continue;
    if (std::ranges::none_of(kOfTraining, is_like)) {
      unknown.push_back(key);
    } else if (!is_off(*node) && !(model.dropout && key.find("drop") != std::string::npos)) {
      training.push_back(key);
    }
  }
  if (!training.empty()) {
    model.left_out.push_back(fmt::format(
        "{}, which describe how it was trained: state recompute, precision and model.dropout",
        fmt::join(training, ", ")));
  }
  if (unknown.empty()) return;
  model.left_out.push_back(
      fmt::format("{}, unknown for this model_type; what share of the operations {} is not known",
                  fmt::join(unknown, ", "), unknown.size() == 1 ? "it takes" : "they take"));
}

}  // namespace windtunnel
