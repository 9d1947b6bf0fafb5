// Fields of a config.json of Hugging Face. Used by hugging_face*.cpp only.
#pragma once

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "models/workload/transformer.hpp"
#include "scenarios/language/configs/stated_model.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

// The fields of a file. A field that is null counts as missing; "a.b" is the field b of the map a.
// `defaults` has the class defaults of fields that a part of a multimodal file may omit.
class HuggingFaceConfig : public ModelFile {
 public:
  static constexpr int kMostOfAll = 100'000'000;  // so that sums of fields stay exact

  explicit HuggingFaceConfig(const DocumentNode& map, const DocumentNode* defaults = nullptr)
      : map_(map), defaults_(defaults) {}

  const DocumentNode* find(const std::string& key) const {
    asked_.insert(key);
    const std::size_t dot = key.find('.');
    const DocumentNode* outer = dot == key.npos ? &map_ : find(key.substr(0, dot));
    const std::string inner = key.substr(dot == key.npos ? 0 : dot + 1);
    const DocumentNode* node = outer == nullptr ? nullptr : outer->value_of(inner);
    if (node == nullptr && defaults_ != nullptr) node = defaults_->value_of(key);
    const bool null =
        node != nullptr && (node->kind == DocumentNode::Kind::null ||
                            (node->kind == DocumentNode::Kind::scalar && node->text == "null"));
    return null ? nullptr : node;
  }
  const DocumentNode& at(const std::string& key) const {
    const DocumentNode* node = find(key);
    if (node != nullptr) return *node;
    const std::size_t dot = key.find('.');
    const DocumentNode& outer = dot == key.npos ? map_ : at(key.substr(0, dot));
    throw Error(outer.where, fmt::format("'{}' is missing", last_word(key)));
  }

  bool has(const std::string& key) const override { return find(key) != nullptr; }
  int whole(const std::string& key) const override {
    const int number = windtunnel::whole(at(key), last_word(key));
    if (number <= kMostOfAll) return number;
    throw Error(where(key), fmt::format("{}: {} is too large", last_word(key), number));
  }
  double number(const std::string& key) const override {
    return quantity(at(key), Dimension::number, key);
  }
  bool flag(const std::string& key) const override { return windtunnel::flag(map_, key); }
  std::string word(const std::string& key) const override { return at(key).text; }
  Location where(const std::string& key) const override {
    const DocumentNode* node = find(key);
    return node == nullptr ? map_.where : node->where;
  }

  int whole_or(const std::string& key, int otherwise) const {
    return has(key) ? whole(key) : otherwise;
  }
  double number_or(const std::string& key, double otherwise) const {
    return has(key) ? number(key) : otherwise;
  }
  const std::vector<DocumentNode>& list(const std::string& key) const {
    const DocumentNode& node = at(key);
    if (node.kind != DocumentNode::Kind::list)
      throw Error(node.where, fmt::format("{}: expected a list", last_word(key)));
    return node.items;
  }
  // Keys of the file that no reader has asked for, in the order of the file.
  std::vector<std::string> unread() const {
    std::vector<std::string> keys;
    for (const DocumentEntry& entry : map_.entries) {
      if (!asked_.contains(entry.key)) keys.push_back(entry.key);
      const auto inner = asked_.lower_bound(entry.key + ".");
      if (inner == asked_.end() || !inner->starts_with(entry.key + ".")) continue;
      for (const DocumentEntry& each : entry.value.entries) {
        const std::string key = fmt::format("{}.{}", entry.key, each.key);
        if (!asked_.contains(key)) keys.push_back(key);
      }
    }
    return keys;
  }

 private:
  static std::string last_word(const std::string& key) { return key.substr(key.rfind('.') + 1); }

  const DocumentNode& map_;
  const DocumentNode* defaults_;
  mutable std::set<std::string> asked_;
};

// Reads DeepSeek-V4's attention to compressed keys (hugging_face_compressed.cpp).
void read_compressed_attention(const HuggingFaceConfig& config, TransformerSpec& model);

// Records in TransformerSpec::left_out the fields that no reader has asked for, the modules for
// multi-token prediction, and the towers before the decoder, each with its share of operations if
// that is known.
void name_left_out(const DocumentNode& document, const HuggingFaceConfig& config,
                   TransformerSpec& model);

}  // namespace windtunnel
