#include "scenarios/language/text/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <cmath>

#include "models/base/quantity_range.hpp"
#include "traces/text/input_file.hpp"

namespace windtunnel {
namespace {

// Far above any scenario, far below an alias bomb or a chain of brackets.
constexpr int kMaxDepth = 32;
constexpr int kMaxNodes = 200'000;

class TreeBuilder {
 public:
  TreeBuilder(const std::string& text, const std::string& file, bool line_numbers)
      : text_(text), file_(file), line_numbers_(line_numbers) {}

  // `fallback` locates a node that has no mark of its own: the missing value of a key.
  DocumentNode build(const YAML::Node& source, const Location& fallback, int depth) {
    DocumentNode node;
    node.where = source.IsNull() ? fallback : location_of(source.Mark(), fallback);
    if (depth > kMaxDepth) throw Error(node.where, fmt::format("nested deeper than {}", kMaxDepth));
    if (++nodes_ > kMaxNodes) {
      throw Error(
          node.where,
          fmt::format("the document has more than {} values (repeated aliases?)", kMaxNodes));
    }
    switch (source.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        break;
      case YAML::NodeType::Scalar:
        node.kind = DocumentNode::Kind::scalar;
        node.text = source.Scalar();
        check_quote(source.Mark().pos, node.where);
        break;
      case YAML::NodeType::Sequence:
        node.kind = DocumentNode::Kind::list;
        for (const YAML::Node& item : source) {
          node.items.push_back(build(item, node.where, depth + 1));
        }
        break;
      case YAML::NodeType::Map:
        build_map(source, node, depth);
        break;
    }
    return node;
  }

 private:
  // yaml-cpp reads a quote that does not end to the end of the text.
  void check_quote(int begin, const Location& where) {
    if (begin <= checked_to_ || begin >= static_cast<int>(text_.size())) return;
    checked_to_ = begin;  // a repeated alias lies before this
    const char quote = text_[begin];
    if (quote != '"' && quote != '\'') return;
    for (std::size_t i = begin + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\' && quote == '"') {
        ++i;
      } else if (text_[i] == quote) {
        return;
      }
    }
    throw Error(where, fmt::format("the quote {} is not closed", quote));
  }

  void build_map(const YAML::Node& source, DocumentNode& node, int depth) {
    node.kind = DocumentNode::Kind::map;
    for (const auto& pair : source) {
      const Location where = location_of(pair.first.Mark(), node.where);
      if (!pair.first.IsScalar()) throw Error(where, "a key must be a plain word");
      const std::string& key = pair.first.Scalar();
      if (const DocumentEntry* first = node.find(key)) {
        throw Error(where, fmt::format("duplicate key '{}'{}; remove one of them", key,
                                       first_seen(first->where)));
      }
      node.entries.push_back({key, where, build(pair.second, where, depth + 1)});
    }
  }

  std::string first_seen(const Location& where) const {
    if (where.line == 0) return "";
    return fmt::format(", first at {}:{}", where.line, where.column);
  }

  Location location_of(const YAML::Mark& mark, const Location& fallback) const {
    if (!line_numbers_) return {file_, 0, 0};
    if (mark.is_null()) return fallback;
    return {file_, mark.line + 1, mark.column + 1};
  }

  const std::string& text_;
  const std::string& file_;
  int checked_to_ = -1;
  bool line_numbers_;
  int nodes_ = 0;
};

class NothingDone : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// Counts the documents in the text, up to two. yaml-cpp finds endless documents in ", a", so its
// LoadAll would fill the memory.
int count_documents(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  NothingDone handler;
  int count = 0;
  while (count < 2 && parser.HandleNextDocument(handler)) ++count;
  return count;
}

}  // namespace

DocumentEntry* DocumentNode::find(std::string_view key) {
  for (DocumentEntry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

const DocumentNode* DocumentNode::value_of(std::string_view key) const {
  for (const DocumentEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

DocumentNode document_node(DocumentNode::Kind kind, std::string text, Location where) {
  DocumentNode node;
  node.kind = kind;
  node.text = std::move(text);
  node.where = std::move(where);
  return node;
}

DocumentNode parse_document(const std::string& text, const std::string& file, bool line_numbers) {
  const Location start{file, line_numbers ? 1 : 0, line_numbers ? 1 : 0};
  YAML::Node document;
  int documents = 0;
  try {
    documents = count_documents(text);
    document = YAML::Load(text);
  } catch (const YAML::DeepRecursion&) {
    throw Error(start, fmt::format("nested deeper than {}", kMaxDepth));
  } catch (const YAML::Exception& error) {
    Location where = start;
    if (line_numbers && !error.mark.is_null()) {
      where = {file, error.mark.line + 1, error.mark.column + 1};
    }
    const bool json = file.ends_with(".json");
    throw Error(where, fmt::format("not valid {}: {}{}", json ? "JSON" : "YAML", error.msg,
                                   json ? "; is a comma or a bracket missing before it?" : ""));
  }
  if (documents > 1) {
    throw Error(start,
                "there is more than one YAML document in the text, or a comma is in front of it");
  }
  if (documents == 0) return document_node(DocumentNode::Kind::null, "", start);
  return TreeBuilder(text, file, line_numbers).build(document, start, 0);
}

namespace {

// Adds quotes if flow style would read more than a word.
std::string in_quotes(const std::string& text) {
  if (text.find_first_of(",:[]{}#&*!|>'\"%@`") == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}

}  // namespace

std::string flow_text(const DocumentNode& node) {
  std::vector<std::string> parts;
  for (const DocumentNode& item : node.items) parts.push_back(flow_text(item));
  for (const DocumentEntry& entry : node.entries) {
    parts.push_back(fmt::format("{}: {}", entry.key, flow_text(entry.value)));
  }
  switch (node.kind) {
    case DocumentNode::Kind::null:
    case DocumentNode::Kind::scalar:
      break;
    case DocumentNode::Kind::list:
      return fmt::format("[{}]", fmt::join(parts, ", "));
    case DocumentNode::Kind::map:
      return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  return in_quotes(node.text);
}

std::string read_text_file(const std::string& path) {
  return InputFile(path, kLargestDocument_bytes).whole();
}

using Kind = DocumentNode::Kind;

const DocumentNode& require(const DocumentNode& map, const std::string& key) {
  const DocumentNode* value = map.value_of(key);
  if (value == nullptr) throw Error(map.where, fmt::format("'{}' is missing", key));
  return *value;
}

void require_map(const DocumentNode& node, const std::string& what) {
  if (node.kind != Kind::map) throw Error(node.where, fmt::format("{}: expected a map", what));
}

const std::string& require_text(const DocumentNode& map, const std::string& key) {
  const DocumentNode& value = require(map, key);
  if (value.kind != Kind::scalar || value.text.empty()) {
    throw Error(value.where, fmt::format("{}: expected a text", key));
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
    throw Error(node.where, fmt::format("{}: expected {}", key, noun_of(dimension)));
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
    throw Error(require(map, key).where, fmt::format("{}: expected true or false", key));
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
