#include "scenarios/language/configs/megatron_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/base/units.hpp"
#include "scenarios/language/configs/model_limits.hpp"

namespace windtunnel {
namespace {

// Finds an argument among the settings, however deep it is nested ("model.num_layers").
class MegatronArguments {
 public:
  MegatronArguments(const std::vector<Setting>& settings, const std::string& path)
      : settings_(settings), path_(path) {}

  // The last one wins, as in argparse; null: it is missing, or says "false" or "null".
  const Setting* find(std::string_view name) const {
    const Setting* found = stated(name);
    if (found != nullptr && found->value == "true") {
      throw Error(found->where, fmt::format("{}: expected a value after it", name));
    }
    return found;
  }
  bool flag(std::string_view name) const { return stated(name) != nullptr; }
  int whole(std::string_view name) const {
    const Setting* setting = find(name);
    if (setting == nullptr) throw Error({path_, 1, 1}, fmt::format("{} is missing", name));
    const double value = number(*setting, name);
    if (value == std::floor(value) && value >= 0 && value <= 1e8) return static_cast<int>(value);
    throw Error(setting->where,
                fmt::format("{}: '{}' is not a whole number", name, setting->value));
  }
  int whole_or(std::string_view name, int otherwise) const {
    return find(name) == nullptr ? otherwise : whole(name);
  }
  double number_or(std::string_view name, double otherwise) const {
    const Setting* setting = find(name);
    return setting == nullptr ? otherwise : number(*setting, name);
  }
  Location where(std::string_view name) const {
    const Setting* setting = find(name);
    return setting == nullptr ? Location{path_, 1, 1} : setting->where;
  }

 private:
  const Setting* stated(std::string_view name) const {
    const std::string plain = setting_name(name);
    const Setting* found = nullptr;
    for (const Setting& setting : settings_) {
      const std::string_view last(setting.name);
      if (last.substr(last.rfind('.') + 1) == plain) found = &setting;
    }
    const bool none = found != nullptr && (found->value == "false" || found->value == "null");
    return none ? nullptr : found;
  }
  static double number(const Setting& setting, std::string_view name) {
    if (setting.value.starts_with("$")) {
      throw Error(setting.where, fmt::format("{}: '{}' is a shell variable; write its value", name,
                                             setting.value));
    }
    try {
      return parse_quantity(setting.value, Dimension::number);
    } catch (const Error&) {
      throw Error(setting.where, fmt::format("{}: '{}' is not a number", name, setting.value));
    }
  }

  const std::vector<Setting>& settings_;
  const std::string& path_;
};

using Arguments = MegatronArguments;

// Returns the numbers of zeros and ones in "[0]*3+[1]*58"; nothing if the text is not such a list.
std::optional<std::array<double, 2>> listed(std::string_view text) {
  std::array<double, 2> counts{};
  while (!text.empty()) {
    const std::size_t end = text.find(']');
    if (text.front() != '[' || end == text.npos) return {};
    std::array<double, 2> inside{};
    for (const char c : text.substr(1, end - 1)) {
      if (c == '0' || c == '1') inside[c - '0'] += 1;
      if (c != '0' && c != '1' && c != ',') return {};
    }
    text.remove_prefix(end + 1);
    int times = 1;
    if (text.starts_with('*')) {
      const auto [rest, fault] = std::from_chars(text.data() + 1, text.data() + text.size(), times);
      if (fault != std::errc() || times < 0) return {};
      text.remove_prefix(rest - text.data());
    }
    for (int i : {0, 1}) counts[i] += times * inside[i];
    if (!text.empty() && text.front() != '+') return {};
    if (!text.empty()) text.remove_prefix(1);
  }
  return counts;
}

// Counts layers with a dense MLP. N: every N-th layer has experts; "([0]*3+[1]*58)" lists them.
int dense_layers(const Arguments& arguments, int layers) {
  const Setting* word = arguments.find("--moe-layer-freq");
  if (word == nullptr) return 0;
  if (word->value.find_first_not_of("0123456789") == std::string::npos) {
    const int every = std::max(1, arguments.whole("--moe-layer-freq"));
    return layers - (layers + every - 1) / every;
  }
  std::string list = word->value;
  std::erase_if(list, [](char c) { return c == '(' || c == ')' || c == ' '; });
  const auto counts = listed(list);
  if (!counts || (*counts)[0] + (*counts)[1] != layers) {
    throw Error(word->where, fmt::format("--moe-layer-freq: '{}' is neither a number nor a list of "
                                         "{} zeros and ones such as ([0]*3+[1]*58)",
                                         word->value, layers));
  }
  return static_cast<int>((*counts)[0]);
}

void read_experts(const Arguments& arguments, TransformerSpec& model) {
  model.moe.experts = arguments.whole_or("--num-experts", 0);
  // Megatron-DeepSpeed writes --num-experts 1 for a dense model.
  if (model.moe.experts == 1) model.moe.experts = 0;
  if (model.moe.experts == 0) return;
  model.moe.per_token = arguments.whole_or("--moe-router-topk", 2);
  model.moe.groups = arguments.whole_or("--moe-router-num-groups", 1);
  if (model.moe.groups > 1) {
    model.moe.groups_per_token = arguments.whole_or("--moe-router-group-topk", model.moe.groups);
  }
  model.moe.ffn_hidden = arguments.whole_or("--moe-ffn-hidden-size", model.ffn_hidden);
  model.moe.shared_ffn = arguments.whole_or("--moe-shared-expert-intermediate-size", 0);
  model.moe.latent_width = arguments.whole_or("--moe-latent-size", 0);
  model.moe.dense_layers = dense_layers(arguments, model.layers);
}

void read_attention(const Arguments& arguments, TransformerSpec& model) {
  model.heads = model.kv_heads = arguments.whole("--num-attention-heads");
  if (arguments.flag("--group-query-attention")) {
    model.kv_heads = arguments.whole_or("--num-query-groups", 1);
  }
  model.head_width = arguments.whole_or("--kv-channels", 0);
  if (const Setting* window = arguments.find("--window-size")) {
    const std::size_t first = window->value.find_first_not_of("([ ");  // a list in YAML
    const std::string before = first == std::string::npos
                                   ? ""
                                   : window->value.substr(first, window->value.find(',') - first);
    if (before.empty() || before.find_first_not_of("0123456789") != before.npos ||
        before.size() > 8) {
      throw Error(window->where, fmt::format("--window-size: '{}' is not two numbers such as 128,0",
                                             window->value));
    }
    model.window = std::stoi(before) + 1;  // plus the key of the token itself
  }
  if (!arguments.flag("--multi-latent-attention")) return;
  model.kv_heads = model.heads;
  model.head_width = arguments.whole_or("--qk-head-dim", 128);
  model.latent.query_rank = arguments.whole_or("--q-lora-rank", 0);
  model.latent.kv_rank = arguments.whole_or("--kv-lora-rank", 32);
  model.latent.rotary_width = arguments.whole_or("--qk-pos-emb-head-dim", 64);
  model.latent.value_width = arguments.whole_or("--v-head-dim", 128);
}

// Heads and widths of the gated delta rule, by Megatron-LM's names.
MambaMixer gated_delta(const Arguments& arguments) {
  return {.kind = ScanKind::gated_delta,
          .state = arguments.whole_or("--linear-key-head-dim", 128),
          .head_width = arguments.whole_or("--linear-value-head-dim", 128),
          .groups = arguments.whole_or("--linear-num-key-heads", 16),
          .heads = arguments.whole_or("--linear-num-value-heads", 32)};
}

// Reads the mixer of a pattern that contains the letter M, or G for gated DeltaNet.
void read_mixer(const Arguments& arguments, const Setting& word, TransformerSpec& model) {
  const std::string letters = "M*-EG";  // megatron/core/ssm/mamba_hybrid_layer_allocation.py
  const std::size_t other = model.pattern.find_first_not_of(letters);
  const bool delta = model.pattern.find('G') != std::string::npos;
  const bool mamba = model.pattern.find('M') != std::string::npos;
  if (other != std::string::npos || (delta && mamba)) {
    throw Error(
        word.where,
        other != std::string::npos
            ? fmt::format("'{}' in the pattern is no known kind of layer; known: M (Mamba), G "
                          "(gated DeltaNet), * (attention), - (MLP), E (experts)",
                          model.pattern[other])
            : "the pattern has M and G; only one kind of layers with a state is modelled");
  }
  if (delta) {
    std::ranges::replace(model.pattern, 'G', 'M');
    model.mamba = gated_delta(arguments);
  }
  if (!mamba) return;
  model.mamba.state = arguments.whole_or("--mamba-state-dim", 128);
  model.mamba.head_width = arguments.whole_or("--mamba-head-dim", 64);
  model.mamba.groups = arguments.whole_or("--mamba-num-groups", 8);
  const int usual = model.mamba.head_width > 0 ? 2 * model.hidden / model.mamba.head_width : 0;
  model.mamba.heads = arguments.whole_or("--mamba-num-heads", usual);
}

// Reads the pattern of a hybrid model: letters, "|" between stages of a pipeline, and after "/" the
// modules that predict further tokens, which are ignored.
void read_pattern(const Arguments& arguments, TransformerSpec& model) {
  const Setting* word = arguments.find("--hybrid-layer-pattern");
  if (word == nullptr) word = arguments.find("--hybrid-override-pattern");
  if (word == nullptr) return;
  model.pattern = word->value.substr(0, word->value.find('/'));
  std::erase(model.pattern, '|');
  const int listed = static_cast<int>(model.pattern.size());
  model.layers = arguments.whole_or("--num-layers", listed);
  if (model.layers != listed) {
    throw Error(word->where, fmt::format("the pattern lists {} layers, but --num-layers is {}",
                                         listed, model.layers));
  }
  model.moe.dense_layers = 0;
  read_mixer(arguments, *word, model);
}

// Reads layers with another kind of attention (gated DeltaNet in all but every n-th layer, or
// sparse attention with an indexer) and modules that predict further tokens.
void read_variants(const Arguments& arguments, TransformerSpec& model) {
  model.mtp_layers = arguments.whole_or("--mtp-num-layers", 0);
  model.attention_gate = arguments.flag("--attention-output-gate");
  const Setting* variant = arguments.find("--experimental-attention-variant");
  if (variant == nullptr) return;
  const std::string kind = setting_name(variant->value);
  if (kind == "dsa") {
    model.sparse = {.heads = arguments.whole_or("--dsa-indexer-n-heads", 64),
                    .width = arguments.whole_or("--dsa-indexer-head-dim", 128),
                    .top_k = arguments.whole_or("--dsa-indexer-topk", 2048)};
    return;
  }
  if (kind != "gated_delta_net") {
    throw Error(variant->where,
                fmt::format("--experimental-attention-variant: '{}' is not modelled; known: "
                            "gated_delta_net, dsa",
                            variant->value));
  }
  if (!model.pattern.empty()) return;  // the pattern says which layers have which attention
  model.mamba = gated_delta(arguments);
  const int every = std::max(1, arguments.whole_or("--linear-attention-freq", 4));
  model.pattern.clear();
  for (int layer = 0; layer < std::min(model.layers, 10'000); ++layer) {
    const bool experts = model.moe.experts > 0 && layer >= model.moe.dense_layers;
    const bool whole = (layer + 1) % every == 0;
    model.pattern += whole ? (experts ? 'X' : 'T') : (experts ? 'R' : 'L');
  }
  model.moe.dense_layers = 0;
}

// A gated MLP's width is two thirds of four times the hidden width, rounded down to whole 64s.
int usual_ffn(const Arguments& arguments, int hidden) {
  if (!arguments.flag("--swiglu")) return 4 * hidden;
  return static_cast<int>(std::int64_t{hidden} * 4 * 2 / 3 / 64 * 64);
}

void read_forms(const Arguments& arguments, TransformerSpec& model) {
  model.activation = arguments.flag("--swiglu") ? Activation::swiglu : Activation::gelu;
  const Setting* norm = arguments.find("--normalization");
  const std::string kind = norm == nullptr ? "layernorm" : setting_name(norm->value);
  if (kind != "rmsnorm" && kind != "layernorm" && kind != "layernorm1p") {
    throw Error(norm->where,
                fmt::format("--normalization: '{}' is neither LayerNorm nor RMSNorm", norm->value));
  }
  model.normalisation = kind == "rmsnorm" ? Normalisation::rms_norm : Normalisation::layer_norm;
  const Setting* position = arguments.find("--position-embedding-type");
  const bool learned = position == nullptr ? !arguments.flag("--use-rotary-position-embeddings")
                                           : position->value == "learned_absolute";
  model.position = learned                      ? PositionEncoding::learned
                   : position == nullptr        ? PositionEncoding::rotary
                   : position->value == "alibi" ? PositionEncoding::alibi
                   : position->value == "none"  ? PositionEncoding::none
                                                : PositionEncoding::rotary;
  model.biases = !arguments.flag("--disable-bias-linear");
  model.tied_embeddings = !arguments.flag("--untie-embeddings-and-output-weights");
  model.dropout = arguments.number_or("--hidden-dropout", 0.1) > 0;
}

}  // namespace

TransformerSpec model_of_megatron_settings(const std::vector<Setting>& settings,
                                           const std::string& path) {
  const Arguments arguments(settings, path);
  TransformerSpec model;
  model.name = path;
  model.source = fmt::format("{}, arguments of Megatron-LM", path);
  const bool listed = arguments.find("--hybrid-layer-pattern") != nullptr ||
                      arguments.find("--hybrid-override-pattern") != nullptr;
  model.layers = listed ? 0 : arguments.whole("--num-layers");
  model.hidden = arguments.whole("--hidden-size");
  model.ffn_hidden = arguments.whole_or("--ffn-hidden-size", usual_ffn(arguments, model.hidden));
  // This is the size before padding; layouts pad it, depending on tp.
  model.vocabulary = arguments.whole("--vocab-size");
  model.sequence = arguments.whole_or("--seq-length", 0);
  read_forms(arguments, model);
  read_attention(arguments, model);
  read_experts(arguments, model);
  read_pattern(arguments, model);
  read_variants(arguments, model);
  check_limits(model, arguments.where("--num-layers"));
  return model;
}

TransformerSpec model_of_megatron_arguments(const std::string& text, const std::string& path) {
  return model_of_megatron_settings(settings_of_script(text, path), path);
}

namespace {

using MegatronSettings = std::vector<std::pair<std::string, std::string>>;

void write_forms(const TransformerSpec& model, MegatronSettings& settings) {
  if (model.activation == Activation::swiglu) settings.emplace_back("swiglu", "true");
  settings.emplace_back("normalization",
                        model.normalisation == Normalisation::rms_norm ? "RMSNorm" : "LayerNorm");
  const char* position = model.position == PositionEncoding::learned  ? "learned_absolute"
                         : model.position == PositionEncoding::rotary ? "rope"
                         : model.position == PositionEncoding::none   ? "none"
                                                                      : "";
  if (*position != 0) settings.emplace_back("position_embedding_type", position);
  if (!model.biases) settings.emplace_back("disable_bias_linear", "true");
  if (!model.tied_embeddings) {
    settings.emplace_back("untie_embeddings_and_output_weights", "true");
  }
  if (!model.dropout) {
    settings.emplace_back("attention_dropout", "0.0");
    settings.emplace_back("hidden_dropout", "0.0");
  }
}

void write_attention(const TransformerSpec& model, MegatronSettings& settings) {
  const auto number = [&](const char* name, int value) {
    settings.emplace_back(name, fmt::to_string(value));
  };
  number("num_attention_heads", model.heads);
  if (model.window > 0) settings.emplace_back("window_size", fmt::format("{},0", model.window - 1));
  if (model.latent.kv_rank > 0) {
    settings.emplace_back("multi_latent_attention", "true");
    number("qk_head_dim", model.head_dim());
    if (model.latent.query_rank > 0) number("q_lora_rank", model.latent.query_rank);
    number("kv_lora_rank", model.latent.kv_rank);
    number("qk_pos_emb_head_dim", model.latent.rotary_width);
    number("v_head_dim", model.latent.value_width);
    return;
  }
  if (model.kv_heads != model.heads) {
    settings.emplace_back("group_query_attention", "true");
    number("num_query_groups", model.kv_heads);
  }
  if (model.head_width > 0) number("kv_channels", model.head_width);
}

void write_experts(const TransformerSpec& model, MegatronSettings& settings) {
  const MixtureOfExperts& moe = model.moe;
  if (moe.experts == 0) return;
  const auto number = [&](const char* name, int value) {
    if (value > 0) settings.emplace_back(name, fmt::to_string(value));
  };
  number("num_experts", moe.experts);
  number("moe_router_topk", moe.per_token);
  number("moe_ffn_hidden_size", moe.ffn_hidden);
  number("moe_shared_expert_intermediate_size", moe.shared_ffn);
  number("moe_latent_size", moe.latent_width);
  if (moe.groups > 1) {
    number("moe_router_num_groups", moe.groups);
    number("moe_router_group_topk", moe.groups_per_token);
  }
  if (moe.dense_layers > 0) {
    settings.emplace_back("moe_layer_freq", fmt::format("[0]*{}+[1]*{}", moe.dense_layers,
                                                        model.layers - moe.dense_layers));
  }
}

// If every n-th layer has full attention and the others a gated delta rule, returns n. Returns 0
// for other patterns.
int linear_attention_period(const TransformerSpec& model) {
  const std::size_t first = model.pattern.find_first_of("TX");
  if (model.mamba.kind != ScanKind::gated_delta || first == std::string::npos) return 0;
  const char whole = model.moe.experts > 0 ? 'X' : 'T', linear = model.moe.experts > 0 ? 'R' : 'L';
  for (std::size_t layer = 0; layer < model.pattern.size(); ++layer) {
    const bool sees_all = (layer + 1) % (first + 1) == 0;
    if (model.pattern[layer] != (sees_all ? whole : linear)) return 0;
  }
  return static_cast<int>(first) + 1;
}

// A pattern that no argument can express is not written.
void write_pattern(const TransformerSpec& model, MegatronSettings& settings) {
  const auto number = [&](const char* name, int value) {
    settings.emplace_back(name, fmt::to_string(value));
  };
  const MambaMixer& mixer = model.mamba;
  const bool delta = mixer.kind == ScanKind::gated_delta;
  const int every = linear_attention_period(model);
  if (every > 0) {
    settings.emplace_back("experimental_attention_variant", "gated_delta_net");
    number("linear_attention_freq", every);
  } else {
    const bool known = delta || mixer.kind == ScanKind::mamba2;
    if (!known || model.pattern.find_first_not_of("M*-E") != std::string::npos) return;
    std::string pattern = model.pattern;
    if (delta) std::ranges::replace(pattern, 'M', 'G');
    settings.emplace_back("hybrid_override_pattern", pattern);
  }
  if (delta) {
    number("linear_key_head_dim", mixer.state);
    number("linear_value_head_dim", mixer.head_width);
    number("linear_num_key_heads", mixer.groups);
    number("linear_num_value_heads", mixer.heads);
  } else if (mixer.state > 0) {
    number("mamba_state_dim", mixer.state);
    number("mamba_head_dim", mixer.head_width);
    number("mamba_num_groups", mixer.groups);
    number("mamba_num_heads", mixer.heads);
  }
}

void write_variants(const TransformerSpec& model, MegatronSettings& settings) {
  const auto number = [&](const char* name, int value) {
    settings.emplace_back(name, fmt::to_string(value));
  };
  if (model.mtp_layers > 0) number("mtp_num_layers", model.mtp_layers);
  if (model.attention_gate) settings.emplace_back("attention_output_gate", "true");
  if (!model.pattern.empty()) write_pattern(model, settings);
  if (model.sparse.heads == 0) return;
  settings.emplace_back("experimental_attention_variant", "dsa");
  number("dsa_indexer_n_heads", model.sparse.heads);
  number("dsa_indexer_head_dim", model.sparse.width);
  number("dsa_indexer_topk", model.sparse.top_k);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> megatron_settings_of(
    const TransformerSpec& model) {
  MegatronSettings settings = {{"num_layers", fmt::to_string(model.layers)},
                               {"hidden_size", fmt::to_string(model.hidden)},
                               {"ffn_hidden_size", fmt::to_string(model.ffn_hidden)},
                               {"max_position_embeddings", fmt::to_string(model.sequence)},
                               {"vocab_size", fmt::to_string(model.vocabulary)}};
  write_attention(model, settings);
  write_forms(model, settings);
  write_experts(model, settings);
  write_variants(model, settings);
  return settings;
}

}  // namespace windtunnel
