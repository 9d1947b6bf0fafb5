#include "scenarios/language/text/document_reader.hpp"

#include <fmt/format.h>

#include <cmath>

#include "models/base/quantity_range.hpp"

namespace windtunnel {

using Kind = DocumentNode::Kind;

const DocumentNode& require(const DocumentNode& map, const std::string& key) {
  const DocumentNode* value = map.value_of(key);
  if (value == nullptr) throw Error(map.where, fmt::format("'{}' is missing", key));
  return *value;
}

void require_map(const DocumentNode& node, const std::string& what) {
  if (node.kind != Kind::map) throw Error(node.where, fmt::format("{}: a map is due", what));
}

const std::string& require_text(const DocumentNode& map, const std::string& key) {
  const DocumentNode& value = require(map, key);
  if (value.kind != Kind::scalar || value.text.empty()) {
    throw Error(value.where, fmt::format("{}: a text is due", key));
  }
  return value.text;
}

std::string text_or_empty(const DocumentNode& map, const std::string& key) {
  return map.value_of(key) == nullptr ? std::string() : require_text(map, key);
}

std::vector<std::string> texts_of(const DocumentNode& list) {
  std::vector<std::string> texts;
  for (const DocumentNode& item : list.items) texts.push_back(item.text);
  return texts;
}

double quantity(const DocumentNode& node, Dimension dimension, const std::string& key) {
  if (node.kind != Kind::scalar) {
    throw Error(node.where, fmt::format("{}: {} is due", key, noun_of(dimension)));
  }
  try {
    // Plain numbers in the library may also be seconds per byte or logarithms; their readers check
    // them.
    return dimension == Dimension::number ? parse_quantity(node.text, dimension)
                                          : parse_in_range(node.text, dimension);
  } catch (const Error& error) {
    throw Error(node.where, fmt::format("{}: {}", key, error.what()));
  }
}

int whole(const DocumentNode& node, const std::string& key) {
  const double value = quantity(node, Dimension::number, key);
  if (value != std::floor(value) || value < 0 || value > 1e9) {
    throw Error(node.where, fmt::format("{}: '{}' is not a whole number", key, node.text));
  }
  return static_cast<int>(value);
}

bool flag(const DocumentNode& map, const std::string& key) {
  const std::string& text = require_text(map, key);
  if (text != "true" && text != "false") {
    throw Error(require(map, key).where, fmt::format("{}: true or false is due", key));
  }
  return text == "true";
}

bool flag_or_false(const DocumentNode& map, const std::string& key) {
  return map.value_of(key) != nullptr && flag(map, key);
}

void check_keys(const DocumentNode& map, const std::vector<std::string>& known) {
  for (const DocumentEntry& entry : map.entries) {
    bool found = false;
    for (const std::string& key : known) found = found || key == entry.key;
    if (!found) throw Error(entry.where, unknown_name("key", entry.key, known));
  }
}

}  // namespace windtunnel
