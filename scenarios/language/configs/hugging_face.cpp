#include "scenarios/language/configs/hugging_face.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "scenarios/language/configs/hugging_face_config.hpp"
#include "scenarios/language/configs/model_limits.hpp"

namespace windtunnel {

void read_dimensions(const HuggingFaceConfig& config, TransformerSpec& model) {
  model.layers = config.whole("num_hidden_layers");
  model.hidden = config.whole("hidden_size");
  model.heads = config.whole("num_attention_heads");
  model.kv_heads = config.whole_or("num_key_value_heads", model.heads);
  model.head_width = config.whole_or("head_dim", 0);
  model.ffn_hidden = config.whole("intermediate_size");
  model.vocabulary = config.whole("vocab_size");
  model.activation = Activation::swiglu;
  model.normalisation = Normalisation::rms_norm;
  model.position = PositionEncoding::rotary;
  model.biases = config.flag_or("attention_bias", false);
  model.tied_embeddings = config.flag_or("tie_word_embeddings", false);
  model.dropout = config.number_or("attention_dropout", 0) > 0;
}

// Every decoder_sparse_step-th layer has experts, except those in mlp_only_layers.
std::vector<bool> qwen_expert_layers(const HuggingFaceConfig& config, int layers) {
  const int step = std::max(1, config.whole_or("decoder_sparse_step", 1));
  std::vector<bool> experts(static_cast<std::size_t>(std::clamp(layers, 0, 10'000)));
  for (std::size_t layer = 0; layer < experts.size(); ++layer) {
    experts[layer] = (layer + 1) % step == 0;
  }
  if (config.find("mlp_only_layers") == nullptr) return experts;
  for (const DocumentNode& layer : config.list("mlp_only_layers")) {
    const int dense = windtunnel::whole(layer, "mlp_only_layers");
    if (dense >= 0 && dense < std::ssize(experts)) experts[dense] = false;
  }
  return experts;
}

void read_qwen_expert_sizes(const HuggingFaceConfig& config, TransformerSpec& model) {
  model.moe.experts = config.whole("num_experts", "num_local_experts");
  model.moe.per_token = config.whole("num_experts_per_tok");
  model.moe.ffn_hidden = config.whole("moe_intermediate_size");
  model.moe.shared_ffn = config.whole_or("shared_expert_intermediate_size", 0);
}

void set_layers(const std::string& letters, TransformerSpec& model) {
  const std::size_t dense = std::min(letters.find_first_not_of('T'), letters.size());
  if (letters.find_first_not_of('X', dense) != std::string::npos) {
    model.pattern = letters;
    return;
  }
  model.moe.dense_layers = model.moe.experts > 0 ? static_cast<int>(dense) : 0;
}

void read_deepseek(const HuggingFaceConfig& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.kv_heads = model.heads;  // each head expands its own keys and values from the latent
  model.head_width = config.whole("qk_nope_head_dim");
  model.latent.query_rank = config.whole_or("q_lora_rank", 0);
  model.latent.kv_rank = config.whole("kv_lora_rank");
  model.latent.rotary_width = config.whole("qk_rope_head_dim");
  model.latent.value_width = config.whole("v_head_dim");
  model.moe.experts = config.whole("n_routed_experts");
  model.moe.per_token = config.whole("num_experts_per_tok");
  model.moe.groups = std::max(1, config.whole_or("n_group", 1));
  if (model.moe.groups > 1) model.moe.groups_per_token = config.whole("topk_group");
  model.moe.ffn_hidden = config.whole("moe_intermediate_size");
  model.moe.shared_ffn = static_cast<int>(
      std::min<double>(HuggingFaceConfig::kMostOfAll,
                       double(config.whole_or("n_shared_experts", 0)) * model.moe.ffn_hidden));
  const int dense = std::min(config.whole_or("first_k_dense_replace", 0), model.layers);
  const int step = std::max(1, config.whole_or("moe_layer_freq", 1));
  const auto multiples_below = [step](int end) { return (end + step - 1) / step; };
  const int sparse = multiples_below(model.layers) - multiples_below(dense);
  model.moe.dense_layers = model.layers - sparse;
}

namespace {

using Config = HuggingFaceConfig;

// If `global` of the layers have no window, returns n so that every n-th layer has none; 0 if all
// layers have one. Throws Error if layers without a window cannot be evenly spaced.
int global_every(int global, int layers, const Location& where) {
  if (global == 0) return 0;
  const int every = layers / global;
  if (layers / every == global) return every;
  throw Error(where, fmt::format("{} of {} layers attend to the whole sequence; only one such "
                                 "layer at equal distances, or none, is modelled",
                                 global, layers));
}

// Sets the layers with a window: those of layer_types, or without that key all but every
// `usual_every`-th (0: all).
void read_window(const Config& config, const std::string& key, int usual_every,
                 TransformerSpec& model) {
  model.window = config.whole_or(key, 0);
  model.global_every = model.window > 0 ? usual_every : 0;
  if (config.find("layer_types") == nullptr) return;
  int global = 0;
  for (const DocumentNode& type : config.list("layer_types")) {
    const bool local = type.text == "sliding_attention" || type.text == "chunked_attention";
    if (!local && type.text != "full_attention") {
      throw Error(type.where, fmt::format("layer_types: '{}' is not modelled; known: "
                                          "full_attention, sliding_attention, chunked_attention",
                                          type.text));
    }
    global += local ? 0 : 1;
  }
  const Location where = config.where("layer_types");
  if (std::ssize(config.list("layer_types")) != model.layers) {
    throw Error(where, fmt::format("layer_types: lists {} of {} layers",
                                   config.list("layer_types").size(), model.layers));
  }
  if (global == model.layers) {
    model.window = 0;
    model.global_every = 0;
    return;
  }
  if (model.window == 0) config.at(key);
  model.global_every = global_every(global, model.layers, where);
}

void read_llama(const Config& config, TransformerSpec& model) {
  read_dimensions(config, model);
}

// Layers of cross_attention_layers attend to image patches instead of the sequence. They are
// counted as attention to the sequence, which has the same weight matrices.
void read_mllama(const Config& config, TransformerSpec& model) {
  read_dimensions(config, model);
  if (config.find("cross_attention_layers") == nullptr) return;
  const std::size_t layers = config.list("cross_attention_layers").size();
  model.left_out.push_back(
      fmt::format("cross_attention_layers: {} of {} layers attend to patches of images; they are "
                  "counted as attention to the sequence",
                  layers, model.layers));
}

void read_mistral(const Config& config, TransformerSpec& model) {
  read_dimensions(config, model);
  read_window(config, "sliding_window", 0, model);
}

void read_mixtral(const Config& config, TransformerSpec& model) {
  read_mistral(config, model);
  model.moe.experts = config.whole("num_local_experts");
  model.moe.per_token = config.whole("num_experts_per_tok");
  model.moe.ffn_hidden = model.ffn_hidden;
}

// Layers after max_window_layers have the window, if the model uses one.
void read_qwen2(const Config& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.biases = false;
  if (!config.flag_or("use_sliding_window", false)) return;
  const int global = std::min(config.whole_or("max_window_layers", model.layers), model.layers);
  if (global == model.layers) return;
  read_window(config, "sliding_window",
              global_every(global, model.layers, config.where("max_window_layers")), model);
}

// Layers are dense or have experts, in any order.
void set_expert_layers(const std::vector<bool>& experts, TransformerSpec& model) {
  std::string letters;
  for (const bool has : experts) letters += has ? 'X' : 'T';
  set_layers(letters, model);
}

void read_qwen_experts(const Config& config, TransformerSpec& model) {
  read_qwen_expert_sizes(config, model);
  set_expert_layers(qwen_expert_layers(config, model.layers), model);
}

void read_qwen2_moe(const Config& config, TransformerSpec& model) {
  read_qwen2(config, model);
  read_qwen_experts(config, model);
}

void read_qwen3(const Config& config, TransformerSpec& model) {
  read_qwen2(config, model);
  model.head_width = config.whole_or("head_dim", 128);
}

void read_qwen3_moe(const Config& config, TransformerSpec& model) {
  read_qwen2(config, model);
  read_qwen_experts(config, model);
}

void read_gemma(const Config& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.head_width = config.whole_or("head_dim", 256);
  model.tied_embeddings = config.flag_or("tie_word_embeddings", true);
}

void read_gemma2(const Config& config, TransformerSpec& model) {
  read_gemma(config, model);
  read_window(config, "sliding_window", 2, model);
}

// Files of multimodal models omit values that equal the defaults of the class.
void read_gemma3(const Config& config, TransformerSpec& model) {
  model.layers = config.whole("num_hidden_layers");
  model.hidden = config.whole("hidden_size");
  model.ffn_hidden = config.whole("intermediate_size");
  model.heads = config.whole_or("num_attention_heads", 8);
  model.kv_heads = config.whole_or("num_key_value_heads", 4);
  model.head_width = config.whole_or("head_dim", 256);
  model.vocabulary = config.whole_or("vocab_size", 262208);
  model.activation = Activation::swiglu;
  model.normalisation = Normalisation::rms_norm;
  model.position = PositionEncoding::rotary;
  model.biases = config.flag_or("attention_bias", false);
  model.tied_embeddings = config.flag_or("tie_word_embeddings", true);
  read_window(config, "sliding_window", config.whole_or("sliding_window_pattern", 6), model);
}

void read_phi3(const Config& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.dropout = model.dropout || config.number_or("resid_pdrop", 0) > 0;
  read_window(config, "sliding_window", 0, model);
}

void read_gpt_oss(const Config& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.biases = config.flag_or("attention_bias", true);
  model.moe.experts = config.whole("num_local_experts", "num_experts");
  model.moe.per_token = config.whole("num_experts_per_tok", "experts_per_token");
  model.moe.ffn_hidden = model.ffn_hidden;
  read_window(config, "sliding_window", 2, model);
}

// Every interleave_moe_layer_step-th layer has experts. Three layers in four attend within chunks,
// which are modelled as windows.
void read_llama4(const Config& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.moe.ffn_hidden = model.ffn_hidden;
  model.moe.shared_ffn = model.ffn_hidden;
  model.ffn_hidden = config.whole("intermediate_size_mlp");
  model.moe.experts = config.whole("num_local_experts");
  model.moe.per_token = config.whole_or("num_experts_per_tok", 1);
  const int step = std::max(1, config.whole_or("interleave_moe_layer_step", 1));
  std::vector<bool> experts(static_cast<std::size_t>(std::clamp(model.layers, 0, 10'000)));
  for (std::size_t layer = 0; layer < experts.size(); ++layer) {
    experts[layer] = (layer + 1) % step == 0;
  }
  set_expert_layers(experts, model);
  read_window(config, "attention_chunk_size", 4, model);
}

void read_nemotron(const Config& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.activation = Activation::gelu;  // stands for squared ReLU: neither is gated
  model.normalisation = Normalisation::layer_norm;
}

// Converts a word of layers_block_type, the newer form of the pattern, to the pattern's letter.
char letter_of(const DocumentNode& type) {
  for (const auto& [name, letter] : {std::pair{"mamba", 'M'},
                                     {"linear_attention", 'M'},
                                     {"attention", '*'},
                                     {"full_attention", '*'},
                                     {"mlp", '-'},
                                     {"moe", 'E'}}) {
    if (type.text == name) return letter;
  }
  throw Error(type.where, fmt::format("layers_block_type: '{}' is not modelled; known: mamba, "
                                      "attention, mlp, moe",
                                      type.text));
}

void read_pattern(const Config& config, TransformerSpec& model) {
  if (config.find("layers_block_type") != nullptr) {
    for (const DocumentNode& type : config.list("layers_block_type")) {
      model.pattern += letter_of(type);
    }
  } else {
    model.pattern = config.at("hybrid_override_pattern").text;
  }
  model.layers = static_cast<int>(model.pattern.size());
  if (config.find("num_hidden_layers") == nullptr) return;
  const int layers = config.whole("num_hidden_layers");
  if (layers == model.layers) return;
  throw Error(
      config.where("num_hidden_layers"),
      fmt::format("num_hidden_layers is {}, but the pattern lists {}", layers, model.layers));
}

void read_nemotron_h(const Config& config, TransformerSpec& model) {
  read_pattern(config, model);
  model.hidden = config.whole("hidden_size");
  model.heads = config.whole("num_attention_heads");
  model.kv_heads = config.whole_or("num_key_value_heads", 8);
  model.head_width = config.whole("head_dim", "attention_head_dim");
  model.ffn_hidden = config.whole_or("intermediate_size", 21504);
  model.vocabulary = config.whole("vocab_size");
  model.activation = Activation::gelu;  // stands for squared ReLU: neither is gated
  model.normalisation = Normalisation::rms_norm;
  model.position = PositionEncoding::none;
  model.biases = config.flag_or("use_bias", false);
  model.tied_embeddings = config.flag_or("tie_word_embeddings", false);
  model.mamba = {.state = config.whole_or("ssm_state_size", 128),
                 .head_width = config.whole_or("mamba_head_dim", 64),
                 .groups = config.whole_or("n_groups", 8),
                 .heads = config.whole_or("mamba_num_heads", 128),
                 .chunk = config.whole_or("chunk_size", 128)};
  if (model.layers_with(has_mamba) == 0) model.mamba = {};
  if (model.layers_with(has_experts) == 0) return;
  model.moe.experts = config.whole("n_routed_experts");
  model.moe.per_token = config.whole("num_experts_per_tok");
  model.moe.ffn_hidden = config.whole("moe_intermediate_size");
  model.moe.shared_ffn = config.whole_or("moe_shared_expert_intermediate_size", 0);
  model.moe.latent_width = config.whole_or("moe_latent_size", 0);
}

// The model has neither attention nor MLP. A transformer needs sizes of both; these follow from the
// scan's sizes and are not used.
void read_mamba2(const Config& config, TransformerSpec& model) {
  model.layers = config.whole_or("num_hidden_layers", 64);
  model.pattern.assign(static_cast<std::size_t>(std::min(model.layers, 10'000)), 'M');
  model.hidden = config.whole("hidden_size");
  model.mamba = {.state = config.whole_or("state_size", 128),
                 .head_width = config.whole_or("head_dim", 64),
                 .groups = config.whole_or("n_groups", 8),
                 .heads = config.whole_or("num_heads", 128),
                 .chunk = config.whole_or("chunk_size", 256)};
  model.heads = model.kv_heads = model.mamba.heads;
  model.head_width = model.mamba.head_width;
  model.ffn_hidden = model.hidden;
  model.vocabulary = config.whole_or("vocab_size", 32768);
  model.activation = Activation::gelu;
  model.normalisation = Normalisation::rms_norm;
  model.position = PositionEncoding::none;
  model.biases = config.flag_or("use_bias", false);
  model.tied_embeddings = config.flag_or("tie_word_embeddings", false);
}

void read_gpt2(const Config& config, TransformerSpec& model) {
  model.layers = config.whole("n_layer");
  model.hidden = config.whole("n_embd");
  model.heads = model.kv_heads = config.whole("n_head");
  model.ffn_hidden = config.whole_or("n_inner", 4 * model.hidden);
  model.vocabulary = config.whole("vocab_size");
  model.sequence = config.whole("n_positions", "n_ctx");
  model.tied_embeddings = config.flag_or("tie_word_embeddings", true);
  model.dropout = config.number_or("resid_pdrop", 0.1) > 0;
}

void read_gpt_neox(const Config& config, TransformerSpec& model) {
  read_dimensions(config, model);
  model.kv_heads = model.heads;
  model.activation = Activation::gelu;
  model.normalisation = Normalisation::layer_norm;
  model.biases = config.flag_or("attention_bias", true);
  model.dropout = config.number_or("hidden_dropout", 0) > 0;
}

void read_gptj(const Config& config, TransformerSpec& model) {
  read_gpt2(config, model);
  model.tied_embeddings = config.flag_or("tie_word_embeddings", false);
  model.position = PositionEncoding::rotary;
  model.dropout = config.number_or("resid_pdrop", 0) > 0;
}

void read_opt(const Config& config, TransformerSpec& model) {
  model.layers = config.whole("num_hidden_layers");
  model.hidden = config.whole("hidden_size");
  model.heads = model.kv_heads = config.whole("num_attention_heads");
  model.ffn_hidden = config.whole("ffn_dim");
  model.vocabulary = config.whole("vocab_size");
  model.sequence = config.whole("max_position_embeddings");
  model.tied_embeddings = config.flag_or("tie_word_embeddings", true);
  model.dropout = config.number_or("dropout", 0.1) > 0;
  if (const int width = config.whole_or("word_embed_proj_dim", model.hidden);
      width != model.hidden) {
    throw Error(config.where("word_embed_proj_dim"),
                fmt::format("word_embed_proj_dim: embeddings of width {} before layers of {} are "
                            "not modelled",
                            width, model.hidden));
  }
}

// True if positions are YaRN's and its temperature scales queries and keys. In DeepSeek's files
// mscale equals mscale_all_dim, and the temperature scales scores instead (transformers,
// modeling_rope_utils.py, _compute_yarn_parameters). Older files call the type `type`; from version
// 5 of transformers on, rope_parameters replaces rope_scaling.
bool scales_rotary(const Config& config) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const DocumentNode* node = config.find(key);
    if (node == nullptr || node->kind != DocumentNode::Kind::map) continue;
    const Config rotary(*node);
    const DocumentNode* type = rotary.find("rope_type");
    if (type == nullptr) type = rotary.find("type");
    if (type == nullptr || type->text != "yarn") continue;
    const double mscale = rotary.number_or("mscale", 0);
    const bool of_scores = mscale != 0 && mscale == rotary.number_or("mscale_all_dim", 0);
    return rotary.number_or("attention_factor", of_scores ? 1 : 0) != 1;
  }
  return false;
}

// Reads settings that any family's file may have.
void read_kernels_of_their_own(const Config& config, TransformerSpec& model) {
  model.scaled_rotary = model.position == PositionEncoding::rotary && scales_rotary(config);
  model.clamped_activation =
      model.activation == Activation::swiglu && config.number_or("swiglu_limit", 0) > 0;
}

struct HuggingFaceType {
  std::string_view name;
  void (*read)(const Config&, TransformerSpec&);
  // Class defaults for a text_config that omits fields, as those of LLaVA and Qwen2-Audio do.
  std::string_view defaults_of_part = "{}";
};
constexpr std::array kTypes = std::to_array<HuggingFaceType>({
    {"bart", read_bart},
    {"deepseek_v2", read_deepseek},
    {"deepseek_v3", read_deepseek},
    {"deepseek_v32", read_deepseek_v32},
    {"deepseek_v4", read_deepseek_v4},
    {"gemma", read_gemma},
    {"gemma2", read_gemma2},
    {"gemma3", read_gemma3},
    {"gemma3_text", read_gemma3},
    {"glm4_moe", read_glm4_moe},
    {"glm_moe_dsa", read_glm_dsa},
    {"gpt2", read_gpt2},
    {"gpt_neox", read_gpt_neox},
    {"gpt_oss", read_gpt_oss},
    {"gptj", read_gptj},
    {"kimi_k2", read_deepseek},
    {"kimi_linear", read_kimi_linear},
    {"llama", read_llama,
     "{hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 32000}"},
    {"llama4", read_llama4},
    {"llama4_text", read_llama4},
    {"mamba2", read_mamba2},
    {"mbart", read_bart},
    {"minimax", read_minimax},
    {"minimax_m1", read_minimax},
    {"minimax_m2", read_minimax_m2},
    {"minimax_text_01", read_minimax},
    {"mistral", read_mistral},
    {"mixtral", read_mixtral},
    {"mllama_text_model", read_mllama},
    {"mt5", read_t5},
    {"nemotron", read_nemotron},
    {"nemotron_h", read_nemotron_h},
    {"opt", read_opt},
    {"pegasus", read_pegasus},
    {"phi3", read_phi3},
    {"qwen2", read_qwen2,
     "{hidden_size: 4096, intermediate_size: 22016, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 151936}"},
    {"qwen2_5_vl", read_qwen2},
    {"qwen2_5_vl_text", read_qwen2},
    {"qwen2_moe", read_qwen2_moe},
    {"qwen2_vl", read_qwen2},
    {"qwen2_vl_text", read_qwen2},
    {"qwen3", read_qwen3},
    {"qwen3_5", read_qwen3_5},
    {"qwen3_5_moe", read_qwen3_5},
    {"qwen3_5_moe_text", read_qwen3_5},
    {"qwen3_5_text", read_qwen3_5},
    {"qwen3_moe", read_qwen3_moe},
    {"qwen3_next", read_qwen3_next},
    {"qwen3_vl_moe_text", read_qwen3_moe},
    {"qwen3_vl_text", read_qwen3},
    {"t5", read_t5},
});

// These types are known but cannot be modelled. `has` names what the simulator lacks.
struct UnmodelledType {
  std::string_view name;
  std::string_view has;
};
constexpr std::array kUnmodelledTypes = std::to_array<UnmodelledType>({
    {"rwkv", "layers with another kind of state"},
    {"whisper", "a sound encoder that begins with convolutions"},
    {"zamba", "layers that share weights"},
    {"zamba2", "layers that share weights"},
});

const HuggingFaceType& type_of(const DocumentNode& map, const DocumentNode& whole) {
  const DocumentNode* node = map.value_of("model_type");
  if (node == nullptr) node = whole.value_of("model_type");
  if (node == nullptr) {
    throw Error(whole.where, "'model_type' is missing, so this is no config.json of Hugging Face");
  }
  const auto* found = std::ranges::find(kTypes, node->text, &HuggingFaceType::name);
  if (found != kTypes.end()) return *found;
  const auto* unmodelled = std::ranges::find(kUnmodelledTypes, node->text, &UnmodelledType::name);
  if (unmodelled != kUnmodelledTypes.end()) {
    throw Error(node->where,
                fmt::format("model_type '{}' is not modelled: it has {}. Start from the most "
                            "similar model of the library (base) and state the values that differ",
                            unmodelled->name, unmodelled->has));
  }
  throw Error(node->where,
              fmt::format("unknown model_type '{}'; known: {}. State its dimensions instead "
                          "(model: {{layers: ..., hidden: ..., heads: ...}}), or start from a "
                          "similar model of the library (base) and state the values that differ",
                          node->text, fmt::join(hugging_face_types(), ", ")));
}

}  // namespace

std::vector<std::string> hugging_face_types() {
  std::vector<std::string> names;
  for (const HuggingFaceType& type : kTypes) names.emplace_back(type.name);
  return names;
}

TransformerSpec model_of_hugging_face(const std::string& text, const std::string& path) {
  const DocumentNode document = parse_document(text, path);  // JSON is YAML in flow style
  require_map(document, path);
  const DocumentNode* language = document.value_of("text_config");
  const DocumentNode& map =
      language != nullptr && language->kind == DocumentNode::Kind::map ? *language : document;
  const HuggingFaceType& type = type_of(map, document);
  TransformerSpec model;
  model.name = path;
  model.source = fmt::format("{}, model_type {}", path, type.name);
  const DocumentNode defaults = parse_document(std::string(type.defaults_of_part), path);
  const Config config(map, &map == &document ? nullptr : &defaults);
  type.read(config, model);
  read_kernels_of_their_own(config, model);
  check_limits(model, map.where);
  name_left_out(document, config, model);
  return model;
}

}  // namespace windtunnel
