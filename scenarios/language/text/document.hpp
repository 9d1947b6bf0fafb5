// A YAML text as a plain tree in which every node knows its line and column, so that later checks
// can name them. The reader refuses text that is not YAML, duplicate keys (which yaml-cpp accepts
// silently) and texts that grow without bound through aliases.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/base/choice.hpp"
#include "models/base/error.hpp"
#include "models/base/units.hpp"

namespace windtunnel {

struct DocumentEntry;

struct DocumentNode {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text = {};  // of a scalar
  Location where = {};
  std::vector<DocumentNode> items = {};  // of a list
  std::vector<DocumentEntry> entries;    // of a map, in the order of the text; keys are unique
  std::string scheme = {};  // the library's scheme that contains the node; empty: the user wrote it

  DocumentEntry* find(std::string_view key);
  const DocumentNode* value_of(std::string_view key) const;
};

struct DocumentEntry {
  std::string key;
  Location where;  // of the key
  DocumentNode value;
};

// A node without items or entries; `text` is that of a scalar.
DocumentNode document_node(DocumentNode::Kind kind, std::string text, Location where);

// Parses the text into a tree. Throws Error with location. Without `line_numbers` the text is a
// value of the command line, and `file` alone is the location.
DocumentNode parse_document(const std::string& text, const std::string& file,
                            bool line_numbers = true);

// Writes the node in flow style: "{tier: storage, every: 1 h}".
std::string flow_text(const DocumentNode& node);

// Reads a whole file of up to kLargestDocument_bytes.
std::string read_text_file(const std::string& path);

// Reads required parts of a document with their types, for the readers of the library's files. Each
// function throws Error with the place of the fault.

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

// Returns the enumerator that the node's text names.
template <class Enum>
Enum choice_of(const DocumentNode& node, const std::string& key) {
  if (has_choice<Enum>(node.text)) return value_of<Enum>(node.text);
  const std::vector<std::string_view> known = names_of<Enum>();
  throw Error(node.where, unknown_name(key, node.text, {known.begin(), known.end()}));
}

}  // namespace windtunnel
