#include "scenarios/language/text/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "models/base/quantity_range.hpp"
#include "traces/text/input_file.hpp"

namespace windtunnel {
namespace {

// Real scenarios stay far below these limits; an alias bomb or a chain of brackets exceeds them.
constexpr int kMaxDepth = 32;
constexpr int kMaxNodes = 200'000;

// Builds the tree from the parser's events. Text that it refuses is reported only once the whole
// text is known to be YAML.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& text, const std::string& file, bool line_numbers, Location start)
      : text_(text), file_(file), line_numbers_(line_numbers), start_(std::move(start)) {
    root_.where = start_;
  }

  DocumentNode take() {
    if (refused_) throw Error(*refused_);
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    unless_refused([&] { add_leaf(DocumentNode::Kind::null, "", mark, anchor); });
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string& text) override {
    unless_refused([&] { add_leaf(DocumentNode::Kind::scalar, text, mark, anchor); });
  }
  void OnAlias(const YAML::Mark&, YAML::anchor_t anchor) override {
    unless_refused([&] { add_alias(anchor); });
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    unless_refused([&] { open(DocumentNode::Kind::list, mark, anchor); });
  }
  void OnSequenceEnd() override {
    unless_refused([&] { close(); });
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    unless_refused([&] { open(DocumentNode::Kind::map, mark, anchor); });
  }
  void OnMapEnd() override {
    unless_refused([&] { close(); });
  }

 private:
  // A list or map that has not ended.
  struct Open {
    DocumentNode node;
    YAML::anchor_t anchor;
    std::optional<DocumentEntry> entry = {};  // its value comes next
  };

  template <class Body>
  void unless_refused(const Body& body) {
    if (refused_) return;
    try {
      body();
    } catch (const Error& error) {
      refused_ = error;
    }
  }

  bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == DocumentNode::Kind::map &&
           !open_.back().entry;
  }

  // Returns the place of a node that the parser gives no mark: the missing value of a key.
  const Location& fallback() const {
    if (open_.empty()) return start_;
    return open_.back().entry ? open_.back().entry->where : open_.back().node.where;
  }

  void add_leaf(DocumentNode::Kind kind, const std::string& text, const YAML::Mark& mark,
                YAML::anchor_t anchor) {
    const bool is_key = expects_key();
    DocumentNode node = is_key ? key_at(kind, mark) : value_at(kind, mark);
    node.text = text;
    if (kind == DocumentNode::Kind::scalar && !is_key) check_quote(mark.pos, node.where);
    if (anchor != 0) anchored_[anchor] = node;
    is_key ? add_key(node) : add_value(std::move(node));
  }

  void add_alias(YAML::anchor_t anchor) {
    const auto known = anchored_.find(anchor);
    if (known == anchored_.end()) {  // an alias inside of the node that it names
      const auto of = std::ranges::find(open_, anchor, &Open::anchor);
      refuse_depth(of == open_.end() ? start_ : of->node.where);
    }
    if (expects_key()) {
      refuse_other_key(known->second.kind, known->second.where);
      return add_key(known->second);
    }
    DocumentNode again = known->second;
    if (again.kind == DocumentNode::Kind::null) again.where = fallback();
    count_again(again, open_.size());
    add_value(std::move(again));
  }

  void open(DocumentNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (expects_key()) key_at(kind, mark);
    open_.push_back({value_at(kind, mark), anchor});
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    if (done.anchor != 0) anchored_[done.anchor] = done.node;
    add_value(std::move(done.node));
  }

  DocumentNode value_at(DocumentNode::Kind kind, const YAML::Mark& mark) {
    const bool is_null = kind == DocumentNode::Kind::null;
    DocumentNode node =
        document_node(kind, "", is_null ? fallback() : location_of(mark, fallback()));
    count(node, open_.size());
    return node;
  }

  DocumentNode key_at(DocumentNode::Kind kind, const YAML::Mark& mark) const {
    DocumentNode node = document_node(kind, "", location_of(mark, open_.back().node.where));
    refuse_other_key(kind, node.where);
    return node;
  }

  static void refuse_other_key(DocumentNode::Kind kind, const Location& where) {
    if (kind != DocumentNode::Kind::scalar) throw Error(where, "a key must be a plain word");
  }

  [[noreturn]] static void refuse_depth(const Location& where) {
    throw Error(where, fmt::format("nested deeper than {} levels", kMaxDepth));
  }

  void count(const DocumentNode& node, std::size_t depth) {
    if (depth > kMaxDepth) refuse_depth(node.where);
    if (++nodes_ > kMaxNodes) {
      throw Error(
          node.where,
          fmt::format("the document has more than {} values (repeated aliases?)", kMaxNodes));
    }
  }

  void count_again(const DocumentNode& node, std::size_t depth) {
    count(node, depth);
    for (const DocumentNode& item : node.items) count_again(item, depth + 1);
    for (const DocumentEntry& entry : node.entries) count_again(entry.value, depth + 1);
  }

  void add_key(const DocumentNode& key) {
    Open& map = open_.back();
    if (const DocumentEntry* first = map.node.find(key.text)) {
      throw Error(key.where, fmt::format("duplicate key '{}'{}; remove one of them", key.text,
                                         first_seen(first->where)));
    }
    map.entry = DocumentEntry{key.text, key.where, {}};
  }

  void add_value(DocumentNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (open_.back().node.kind == DocumentNode::Kind::list) {
      open_.back().node.items.push_back(std::move(node));
    } else {
      DocumentEntry entry = *std::exchange(open_.back().entry, std::nullopt);
      entry.value = std::move(node);
      open_.back().node.entries.push_back(std::move(entry));
    }
  }

  // Without this check yaml-cpp would read an unclosed quote up to the end of the text.
  void check_quote(int begin, const Location& where) const {
    if (begin < 0 || begin >= static_cast<int>(text_.size())) return;
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
  bool line_numbers_;
  const Location start_;
  DocumentNode root_;  // null, at start_, if there is no document
  std::vector<Open> open_;
  std::map<YAML::anchor_t, DocumentNode> anchored_;
  std::optional<Error> refused_;
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
  TreeBuilder tree(text, file, line_numbers, start);
  bool another = false;
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    NothingDone rest;
    // Reads no further documents, because yaml-cpp finds endless ones in ", a".
    another = parser.HandleNextDocument(tree) && parser.HandleNextDocument(rest);
  } catch (const YAML::DeepRecursion&) {
    throw Error(start, fmt::format("nested deeper than {} levels", kMaxDepth));
  } catch (const YAML::Exception& error) {
    Location where = start;
    if (line_numbers && !error.mark.is_null()) {
      where = {file, error.mark.line + 1, error.mark.column + 1};
    }
    const bool json = file.ends_with(".json");
    throw Error(where, fmt::format("not valid {}: {}{}", json ? "JSON" : "YAML", error.msg,
                                   json ? "; is a comma or a bracket missing before it?" : ""));
  }
  if (another) {
    throw Error(start,
                "there is more than one YAML document in the text, or a comma is in front of it");
  }
  return tree.take();
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
