#include "scenarios/language/configs/megatron_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "models/base/units.hpp"
#include "scenarios/language/configs/model_limits.hpp"
#include "scenarios/language/configs/stated_model.hpp"

namespace windtunnel {
namespace {

// Finds an argument among the settings, however deep it is nested ("model.num_layers").
class MegatronArguments : public ModelFile {
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
  bool has(const std::string& name) const override { return stated(name) != nullptr; }
  bool flag(const std::string& name) const override { return has(name); }
  int whole(const std::string& name) const override {
    const Setting* setting = find(name);
    if (setting == nullptr) throw Error({path_, 1, 1}, fmt::format("{} is missing", name));
    const double value = number(*setting, name);
    if (value == std::floor(value) && value >= 0 && value <= 1e8) return static_cast<int>(value);
    throw Error(setting->where,
                fmt::format("{}: '{}' is not a whole number", name, setting->value));
  }
  double number(const std::string& name) const override { return number(*find(name), name); }
  std::string word(const std::string& name) const override { return stated(name)->value; }
  Location where(const std::string& name) const override {
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

// Two numbers ("128,0") or a list of them in YAML: the keys before a token that it sees.
int window_of(const Setting& window) {
  const std::size_t first = window.value.find_first_not_of("([ ");
  const std::string before =
      first == std::string::npos ? "" : window.value.substr(first, window.value.find(',') - first);
  if (before.empty() || before.find_first_not_of("0123456789") != before.npos ||
      before.size() > 8) {
    throw Error(window.where,
                fmt::format("--window-size: '{}' is not two numbers such as 128,0", window.value));
  }
  return std::stoi(before) + 1;  // plus the key of the token itself
}

// Which layers with a state a pattern has: those of the letter M, or G for gated DeltaNet.
void read_mixer(const Setting& word, ModelReader& stated, TransformerSpec& model) {
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
  std::ranges::replace(model.pattern, 'G', 'M');
  stated.set(delta ? ".gated" : ".mamba", delta || mamba);
}

// The setting with the pattern of a hybrid model; null: it has none.
const Setting* pattern_in(const Arguments& arguments) {
  const Setting* word = arguments.find("--hybrid-layer-pattern");
  return word != nullptr ? word : arguments.find("--hybrid-override-pattern");
}

// Reads the pattern: letters, "|" between stages of a pipeline, and after "/" the modules that
// predict further tokens, which are ignored.
void read_pattern(const Setting& word, ModelReader& stated, TransformerSpec& model) {
  model.pattern = word.value.substr(0, word.value.find('/'));
  std::erase(model.pattern, '|');
  model.layers = static_cast<int>(model.pattern.size());
  stated.set(".listed", model.layers);
  read_mixer(word, stated, model);
}

// Reads whether layers have another kind of attention: gated DeltaNet in all but every n-th layer,
// or sparse attention with an indexer.
void read_variant(const Arguments& arguments, ModelReader& stated) {
  const Setting* variant = arguments.find("--experimental-attention-variant");
  if (variant == nullptr) return;
  const std::string kind = setting_name(variant->value);
  if (kind != "dsa" && kind != "gated_delta_net") {
    throw Error(variant->where,
                fmt::format("--experimental-attention-variant: '{}' is not modelled; known: "
                            "gated_delta_net, dsa",
                            variant->value));
  }
  if (kind == "dsa") stated.set(".sparse", 1);
  // A pattern says which layers have which attention.
  if (kind != "dsa" && !stated.find(".listed")) stated.set(".gated", 1);
}

// Sets which layers have experts and, beside a gated delta rule, full attention.
void set_kinds_of_layers(const Arguments& arguments, bool gated, TransformerSpec& model) {
  if (model.moe.experts > 0) model.moe.dense_layers = dense_layers(arguments, model.layers);
  if (!gated) return;
  const std::string key = "--linear-attention-freq";
  const int every = std::max(1, arguments.has(key) ? arguments.whole(key) : 4);
  for (int layer = 0; layer < std::min(model.layers, 10'000); ++layer) {
    const bool experts = model.moe.experts > 0 && layer >= model.moe.dense_layers;
    const bool whole = (layer + 1) % every == 0;
    model.pattern += whole ? (experts ? 'X' : 'T') : (experts ? 'R' : 'L');
  }
  model.moe.dense_layers = 0;
}

const std::vector<StatedRow>& megatron_rows() {
  static const std::vector<StatedRow> rows = read_stated_rows(require(model_files(), "megatron"));
  return rows;
}

}  // namespace

TransformerSpec model_of_megatron_settings(const std::vector<Setting>& settings,
                                           const std::string& path) {
  const Arguments arguments(settings, path);
  TransformerSpec model;
  model.name = path;
  model.source = fmt::format("{}, arguments of Megatron-LM", path);
  ModelReader stated(arguments, model);
  const Setting* pattern = pattern_in(arguments);
  if (pattern != nullptr) read_pattern(*pattern, stated, model);
  read_variant(arguments, stated);
  stated.read(megatron_rows());
  if (const Setting* window = arguments.find("--window-size")) model.window = window_of(*window);
  if (pattern != nullptr && model.layers != std::ssize(model.pattern)) {
    throw Error(pattern->where, fmt::format("the pattern lists {} layers, but --num-layers is {}",
                                            model.pattern.size(), model.layers));
  }
  if (pattern == nullptr) {
    set_kinds_of_layers(arguments, stated.find(".gated").value_or(0) != 0, model);
  }
  check_limits(model, arguments.where("--num-layers"));
  return model;
}

TransformerSpec model_of_megatron_arguments(const std::string& text, const std::string& path) {
  return model_of_megatron_settings(settings_of_script(text, path), path);
}

namespace {

using MegatronSettings = std::vector<std::pair<std::string, std::string>>;

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

// The arguments for layers of several kinds; false: no argument can express the pattern.
bool write_pattern(const TransformerSpec& model, MegatronSettings& settings) {
  const bool delta = model.mamba.kind == ScanKind::gated_delta;
  if (const int every = linear_attention_period(model); every > 0) {
    settings.emplace_back("experimental_attention_variant", "gated_delta_net");
    settings.emplace_back("linear_attention_freq", fmt::to_string(every));
    return true;
  }
  const bool known = delta || model.mamba.kind == ScanKind::mamba2;
  if (!known || model.pattern.find_first_not_of("M*-E") != std::string::npos) return false;
  std::string pattern = model.pattern;
  if (delta) std::ranges::replace(pattern, 'M', 'G');
  settings.emplace_back("hybrid_override_pattern", pattern);
  return true;
}

// The words for the member that the row sets; empty: the program's own default is that.
std::string argument_of(const StatedRow& row, const TransformerSpec& model) {
  const Value value = value_of_row(row, model);
  const std::string text = text_of(value);
  for (const auto& [word, meaning] : row.words) {
    if (meaning == text) return word == "any" ? "true" : word;
  }
  return row.words.empty() && is_unusual(row.key, model) ? text : "";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> megatron_settings_of(
    const TransformerSpec& model) {
  MegatronSettings settings = {{"max_position_embeddings", fmt::to_string(model.sequence)}};
  const bool latent = model.latent.kv_rank > 0;
  const bool scans = !model.pattern.empty() && write_pattern(model, settings);
  const bool delta = model.mamba.kind == ScanKind::gated_delta;
  if (model.sparse.heads > 0) settings.emplace_back("experimental_attention_variant", "dsa");
  const std::pair<std::string_view, bool> conditions[] = {
      {"", true},
      {"--multi-latent-attention", latent},
      {"--group-query-attention", !latent && model.kv_heads != model.heads},
      {".sparse", model.sparse.heads > 0},
      {".gated", scans && delta},
      {".mamba", scans && !delta && model.mamba.state > 0}};
  TransformerSpec written = model;
  if (latent) written.head_width = model.head_dim();  // Megatron-LM's default is no quotient
  std::map<std::string_view, const StatedRow*> rows;  // [key] the last one that applies
  for (const StatedRow& row : megatron_rows()) {
    const auto* condition =
        std::ranges::find(conditions, row.only_if, &std::pair<std::string_view, bool>::first);
    const bool applies =
        condition == std::end(conditions) ? is_unusual(row.only_if, model) : condition->second;
    if (applies && row.key != "sequence" && row.key != "dropout") rows[row.key] = &row;
  }
  for (const auto& [key, row] : rows) {
    if (row->of.empty()) continue;
    const std::string argument = argument_of(*row, written);
    if (!argument.empty()) settings.emplace_back(setting_name(row->of.front()), argument);
  }
  for (const auto& [flag, holds] : conditions) {
    if (holds && flag.starts_with("--")) settings.emplace_back(setting_name(flag), "true");
  }
  if (model.window > 0) settings.emplace_back("window_size", fmt::format("{},0", model.window - 1));
  if (model.moe.dense_layers > 0) {
    settings.emplace_back("moe_layer_freq", fmt::format("[0]*{}+[1]*{}", model.moe.dense_layers,
                                                        model.layers - model.moe.dense_layers));
  }
  if (model.dropout) return settings;
  settings.emplace_back("attention_dropout", "0.0");
  settings.emplace_back("hidden_dropout", "0.0");
  return settings;
}

}  // namespace windtunnel
