// What the reader of a config.json leaves out of it.
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/units.hpp"
#include "scenarios/language/configs/hugging_face_config.hpp"
#include "scenarios/language/configs/hugging_face_towers.hpp"

namespace windtunnel {
namespace {

bool matches_key(std::string_view key, std::string_view pattern) {
  const bool any_before = pattern.starts_with('*');
  const bool any_behind = pattern.size() > 1 && pattern.ends_with('*');
  if (any_before) pattern.remove_prefix(1);
  if (any_behind) pattern.remove_suffix(1);
  if (any_before && any_behind) return key.find(pattern) != std::string_view::npos;
  if (any_before) return key.ends_with(pattern);
  return any_behind ? key.starts_with(pattern) : key == pattern;
}

// Whether a list of model_files.yaml has the key.
bool is_listed(const std::string& key, const std::string& list) {
  return std::ranges::any_of(require(model_files(), list).items, [&](const DocumentNode& pattern) {
    return matches_key(key, pattern.text);
  });
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

void name_predictors(const HuggingFaceConfig& config, TransformerSpec& model) {
  constexpr int kLength = 4096;
  int modules = 0;
  std::string key;
  for (const char* name :
       {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}) {
    if (config.whole_or(name, 0) == 0) continue;
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

void name_left_out(const DocumentNode& document, const HuggingFaceConfig& config,
                   TransformerSpec& model) {
  if (is_countable(model)) {
    name_predictors(config, model);
    read_towers(document, model);
  }
  std::vector<std::string> unknown, training;
  for (const std::string& key : config.unread()) {
    const bool part = key == "text_config" || key == "vision_config" || key == "audio_config";
    const DocumentNode* node = config.find(key);
    if (part || node == nullptr || is_listed(key, "without_effect")) continue;
    if (!is_listed(key, "of_training")) {
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
