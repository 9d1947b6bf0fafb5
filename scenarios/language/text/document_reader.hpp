// Reads required parts of a document with their types, for the readers of the library's files. Each
// function throws Error with the place of the fault.
#pragma once

#include <string>
#include <vector>

#include "models/base/choice.hpp"
#include "models/base/units.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

const DocumentNode& require(const DocumentNode& map, const std::string& key);
void require_map(const DocumentNode& node, const std::string& what);
const std::string& require_text(const DocumentNode& map, const std::string& key);
std::string text_or_empty(const DocumentNode& map,
                          const std::string& key);  // "" if the key is missing
std::vector<std::string> texts_of(const DocumentNode& list);
void check_keys(const DocumentNode& map, const std::vector<std::string>& known);

// `key` is what errors call the value.
double quantity(const DocumentNode& node, Dimension dimension, const std::string& key);
int whole(const DocumentNode& node, const std::string& key);
bool flag(const DocumentNode& map, const std::string& key);
bool flag_or_false(const DocumentNode& map, const std::string& key);

// The enumerator with the name in the text.
template <class Enum>
Enum choice_of(const DocumentNode& node, const std::string& key) {
  if (has_choice<Enum>(node.text)) return value_of<Enum>(node.text);
  const std::vector<std::string_view> known = names_of<Enum>();
  throw Error(node.where, unknown_name(key, node.text, {known.begin(), known.end()}));
}

}  // namespace windtunnel
