// Fields of a config.json of Hugging Face, and readers that several families of models share. Used
// by hugging_face*.cpp only.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "models/workload/transformer.hpp"
#include "scenarios/language/text/document.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// The fields of a file. A field that is null counts as missing. `defaults` has the class defaults
// of fields that a part of a multimodal file may omit.
class HuggingFaceConfig {
 public:
  static constexpr int kMostOfAll = 100'000'000;  // so that sums of fields stay exact

  explicit HuggingFaceConfig(const DocumentNode& map, const DocumentNode* defaults = nullptr)
      : map_(map), defaults_(defaults) {}

  const DocumentNode* find(std::string_view key) const {
    asked_.insert(std::string(key));
    const DocumentNode* node = map_.value_of(key);
    if (node == nullptr && defaults_ != nullptr) node = defaults_->value_of(key);
    const bool null =
        node != nullptr && (node->kind == DocumentNode::Kind::null ||
                            (node->kind == DocumentNode::Kind::scalar && node->text == "null"));
    return null ? nullptr : node;
  }
  const DocumentNode& at(const std::string& key) const {
    const DocumentNode* node = find(key);
    if (node != nullptr) return *node;
    throw Error(map_.where, fmt::format("'{}' is missing", key));
  }

  int whole(const std::string& key) const {
    const int number = windtunnel::whole(at(key), key);
    if (number <= kMostOfAll) return number;
    throw Error(where(key), fmt::format("{}: {} is too large", key, number));
  }
  // The field under its name, or under the older name if only that one is there.
  int whole(const std::string& key, const std::string& older) const {
    return find(key) == nullptr && find(older) != nullptr ? whole(older) : whole(key);
  }
  int whole_or(const std::string& key, int otherwise) const {
    return find(key) == nullptr ? otherwise : whole(key);
  }
  double number_or(const std::string& key, double otherwise) const {
    const DocumentNode* node = find(key);
    return node == nullptr ? otherwise : quantity(*node, Dimension::number, key);
  }
  bool flag_or(const std::string& key, bool otherwise) const {
    return find(key) == nullptr ? otherwise : flag(map_, key);
  }
  const std::vector<DocumentNode>& list(const std::string& key) const {
    const DocumentNode& node = at(key);
    if (node.kind != DocumentNode::Kind::list)
      throw Error(node.where, fmt::format("{}: expected a list", key));
    return node.items;
  }
  Location where(std::string_view key) const {
    const DocumentNode* node = find(key);
    return node == nullptr ? map_.where : node->where;
  }
  // Returns the nested configuration at `key`, such as "text_config".
  HuggingFaceConfig part(const std::string& key) const { return HuggingFaceConfig(at(key)); }
  // Keys of the file that no reader has asked for, in the order of the file.
  std::vector<std::string> unread() const {
    std::vector<std::string> keys;
    for (const DocumentEntry& entry : map_.entries) {
      if (!asked_.contains(entry.key)) keys.push_back(entry.key);
    }
    return keys;
  }

 private:
  const DocumentNode& map_;
  const DocumentNode* defaults_;
  mutable std::set<std::string> asked_;
};

// Reads the sizes and kinds of layers under the keys that nearly all families share.
void read_dimensions(const HuggingFaceConfig& config, TransformerSpec& model);
// Reads latent attention and the experts of DeepSeek.
void read_deepseek(const HuggingFaceConfig& config, TransformerSpec& model);
// Reads the sizes of Qwen's experts, but not which layers have experts.
void read_qwen_expert_sizes(const HuggingFaceConfig& config, TransformerSpec& model);
// Sets the layers from one letter of kBlockLetters each: as a pattern or, where possible, as a
// number of dense layers before layers with experts.
void set_layers(const std::string& letters, TransformerSpec& model);
// [layer] Whether it has experts: every n-th layer has (Qwen), except listed ones.
std::vector<bool> qwen_expert_layers(const HuggingFaceConfig& config, int layers);

// These families have layers of several kinds (hugging_face_mixed.cpp).
void read_qwen3_next(const HuggingFaceConfig& config, TransformerSpec& model);
void read_qwen3_5(const HuggingFaceConfig& config, TransformerSpec& model);
void read_kimi_linear(const HuggingFaceConfig& config, TransformerSpec& model);
void read_minimax(const HuggingFaceConfig& config, TransformerSpec& model);
void read_minimax_m2(const HuggingFaceConfig& config, TransformerSpec& model);
void read_deepseek_v32(const HuggingFaceConfig& config, TransformerSpec& model);
void read_glm_dsa(const HuggingFaceConfig& config, TransformerSpec& model);
void read_glm4_moe(const HuggingFaceConfig& config, TransformerSpec& model);

// Reads DeepSeek-V4 (hugging_face_compressed.cpp).
void read_deepseek_v4(const HuggingFaceConfig& config, TransformerSpec& model);

// These readers take models with an encoder and a decoder (hugging_face_stacks.cpp).
void read_t5(const HuggingFaceConfig& config, TransformerSpec& model);
void read_bart(const HuggingFaceConfig& config, TransformerSpec& model);
void read_pegasus(const HuggingFaceConfig& config, TransformerSpec& model);

// Records in TransformerSpec::left_out the fields that no reader has asked for, the modules for
// multi-token prediction, and the towers before the decoder, each with its share of operations if
// that is known.
void name_left_out(const DocumentNode& document, const HuggingFaceConfig& config,
                   TransformerSpec& model);

}  // namespace windtunnel
