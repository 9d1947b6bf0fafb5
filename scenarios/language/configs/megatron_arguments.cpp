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

// The settings that name an argument, wherever they are nested ("model.num_layers").
class MegatronArguments {
 public:
  MegatronArguments(const std::vector<Setting>& settings, const std::string& path)
      : settings_(settings), path_(path) {}

  // The last of them, as argparse has it; null: it is not there, or says "false" or "null".
  const Setting* find(std::string_view name) const {
    const Setting* found = stated(name);
    if (found != nullptr && found->value == "true") {
      throw Error(found->where, fmt::format("{}: a value is due behind it", name));
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
      throw Error(setting.where, fmt::format("{}: '{}' is a variable of the shell; write its value",
                                             name, setting.value));
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

// How many zeros and ones "[0]*3+[1]*58" lists; nothing where it is no such list.
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

// Layers with a dense MLP: N means that one in N has experts, "([0]*3+[1]*58)" lists them.
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
  if (model.moe.experts == 1) model.moe.experts = 0;  // as Megatron-DeepSpeed says of a dense model
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
    const std::string before = window->value.substr(0, window->value.find(','));
    if (before.empty() || before.find_first_not_of("0123456789") != before.npos ||
        before.size() > 8) {
      throw Error(window->where, fmt::format("--window-size: '{}' is not two numbers such as 128,0",
                                             window->value));
    }
    model.window = std::stoi(before) + 1;  // the keys before it, and its own
  }
  if (!arguments.flag("--multi-latent-attention")) return;
  model.kv_heads = model.heads;
  model.head_width = arguments.whole_or("--qk-head-dim", 128);
  model.latent.query_rank = arguments.whole_or("--q-lora-rank", 0);
  model.latent.kv_rank = arguments.whole_or("--kv-lora-rank", 32);
  model.latent.rotary_width = arguments.whole_or("--qk-pos-emb-head-dim", 64);
  model.latent.value_width = arguments.whole_or("--v-head-dim", 128);
}

// Of a hybrid model: letters, "|" where stages of a pipeline end, and behind "/" what predicts
// further tokens, which is left out.
void read_pattern(const Arguments& arguments, TransformerSpec& model) {
  const Setting* word = arguments.find("--hybrid-layer-pattern");
  if (word == nullptr) word = arguments.find("--hybrid-override-pattern");
  if (word == nullptr) return;
  model.pattern = word->value.substr(0, word->value.find('/'));
  std::erase(model.pattern, '|');
  const int listed = static_cast<int>(model.pattern.size());
  model.layers = arguments.whole_or("--num-layers", listed);
  if (model.layers != listed) {
    throw Error(word->where, fmt::format("the pattern lists {} layers and --num-layers is {}",
                                         listed, model.layers));
  }
  model.moe.dense_layers = 0;
  if (model.pattern.find('M') == std::string::npos) return;
  model.mamba.state = arguments.whole_or("--mamba-state-dim", 128);
  model.mamba.head_width = arguments.whole_or("--mamba-head-dim", 64);
  model.mamba.groups = arguments.whole_or("--mamba-num-groups", 8);
  const int usual = model.mamba.head_width > 0 ? 2 * model.hidden / model.mamba.head_width : 0;
  model.mamba.heads = arguments.whole_or("--mamba-num-heads", usual);
}

// Gated, it is two thirds of four times the hidden width, in whole multiples of 64.
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
  // Before padding, which depends on tp and is done by layouts.
  model.vocabulary = arguments.whole("--vocab-size");
  model.sequence = arguments.whole_or("--seq-length", 0);
  read_forms(arguments, model);
  read_attention(arguments, model);
  read_experts(arguments, model);
  read_pattern(arguments, model);
  check_limits(model, arguments.where("--num-layers"));
  return model;
}

TransformerSpec model_of_megatron_arguments(const std::string& text, const std::string& path) {
  return model_of_megatron_settings(settings_of_script(text, path), path);
}

}  // namespace windtunnel
