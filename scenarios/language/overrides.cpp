#include "scenarios/language/overrides.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "scenarios/language/text/fields.hpp"
#include "scenarios/language/text/synonyms.hpp"

namespace windtunnel {
namespace {

using Kind = DocumentNode::Kind;

void stand_at(const Location& where, DocumentNode& node) {
  node.where = where;
  for (DocumentNode& item : node.items) stand_at(where, item);
  for (DocumentEntry& entry : node.entries) {
    entry.where = where;
    stand_at(where, entry.value);
  }
}

class Override {
 public:
  Override(const std::string& key, const std::string& value, const Location* where)
      : parts_(split_path(key)),
        where_(where != nullptr ? *where : Location{override_place(key, value), 0, 0}) {
    value_ = parse_document(value, where_.file, false);
    stand_at(where_, value_);
    text_ = document_node(Kind::scalar, value, where_);
    if (key.empty()) throw Error(where_, "expected a KEY before '=', e.g. layout.pp=8");
  }

  std::vector<Note> apply(DocumentNode& scenario) {
    apply(scenario, 0, "");
    return std::move(notes_);
  }

 private:
  void apply(DocumentNode& node, size_t depth, const std::string& path) {
    if (depth == parts_.size()) return put(node, path);
    const Field* field = find_field(path);
    if (field != nullptr && field->free_keys) return apply_free_key(node, depth);
    if (field != nullptr && field->list && is_item(parts_[depth])) {
      return apply_to_items(node, depth, path);
    }
    apply_to_key(node, depth, path);
  }

  static bool is_item(const std::string& part) { return pattern_of(part) == "*"; }

  void put(DocumentNode& node, const std::string& path) {
    if (value_.kind == Kind::scalar) note_replaced(node, path);
    node = value_;
  }

  // "null" or "~" removes a key; an empty value is an error.
  bool takes_away() const { return value_.kind == Kind::null && !text_.text.empty(); }

  // Records the keys that the scenario states next to a name, because another name drops them.
  void note_replaced(const DocumentNode& node, const std::string& path) {
    const Field* field = find_field(path);
    if (field == nullptr) return;
    std::vector<std::string> stated;
    if (node.kind == Kind::map && !field->shorthand.empty()) {
      for (const DocumentEntry& entry : node.entries) {
        if (entry.key != field->shorthand) stated.push_back(entry.key);
      }
    }
    if (node.kind == Kind::list && field->library != nullptr) {
      for (const DocumentNode& item : node.items) {
        if (item.scheme.empty()) stated.push_back(flow_text(item));
      }
    }
    if (stated.empty()) return;
    const bool may_stay = node.kind == Kind::map && !field->shorthand.empty();
    const std::string way =
        may_stay ? fmt::format("; {}.{} would keep them", path, field->shorthand) : std::string();
    // The note omits the name, so that a comparison of several names prints it once.
    notes_.push_back({path, fmt::format("the name replaces the stated keys: {}{}",
                                        fmt::join(stated, ", "), way)});
  }

  void apply_to_items(DocumentNode& node, size_t depth, const std::string& path) {
    const size_t count = node.kind == Kind::list ? node.items.size() : 0;
    const std::string& part = parts_[depth];
    if (count == 0) throw Error(where_, fmt::format("the scenario has no {} to set", path));
    if (part == "*") {
      const auto has_key = [&](const DocumentNode& item) {
        return depth + 1 < parts_.size() && item.value_of(parts_[depth + 1]) != nullptr;
      };
      const bool any = std::ranges::any_of(node.items, has_key);
      for (size_t i = 0; i < count; ++i) {
        if (any && !has_key(node.items[i])) continue;
        apply(node.items[i], depth + 1, join_path(path, std::to_string(i)));
      }
      return;
    }
    size_t index = count;
    std::from_chars(part.data(), part.data() + part.size(), index);
    if (index >= count) {
      throw Error(where_, fmt::format("there is no item {} in {}; it has {}, counted from 0", part,
                                      path, count));
    }
    apply(node.items[index], depth + 1, join_path(path, part));
  }

  void apply_to_key(DocumentNode& node, size_t depth, const std::string& path) {
    const std::string& part = parts_[depth++];
    const std::string key = join_path(path, part);
    if (part.empty() || is_item(part) || find_field(key) == nullptr) {
      const std::vector<std::string>& known = child_keys(path);
      const std::string noun = path.empty() ? "key" : path + " key";
      if (known.empty() && find_field(path)->list) fail_list(path);
      if (known.empty()) throw Error(where_, fmt::format("{} has no keys below it", path));
      throw Error(where_, unknown_word(noun, part, known));
    }
    if (node.kind == Kind::list) fail_list(path);
    if (takes_away() && node.value_of(part) == nullptr) return;
    if (node.kind != Kind::map) expand(node, path);
    if (takes_away() && depth == parts_.size()) {
      std::erase_if(node.entries, [&](const DocumentEntry& entry) { return entry.key == part; });
      return;
    }
    if (DocumentEntry* entry = node.find(part)) {
      entry->where = where_;
      return apply(entry->value, depth, key);
    }
    node.entries.push_back({part, where_, document_node(Kind::null, "", where_)});
    apply(node.entries.back().value, depth, key);
  }

  [[noreturn]] void fail_list(const std::string& path) const {
    throw Error(where_,
                fmt::format("{0} is a list; name an item, e.g. {0}.0, or all items, {0}.*", path));
  }

  // Turns a scalar into the map that it is shorthand for; other scalars are replaced.
  void expand(DocumentNode& node, const std::string& path) {
    DocumentNode map = document_node(Kind::map, "", node.kind == Kind::null ? where_ : node.where);
    const Field* field = find_field(path);
    if (node.kind == Kind::scalar && !field->shorthand.empty()) {
      map.entries.push_back({std::string(field->shorthand), node.where, node});
    }
    node = std::move(map);
  }

  // origins.failures.*.rate: everything after "origins" is one key.
  void apply_free_key(DocumentNode& node, size_t depth) {
    std::string key;
    for (size_t i = depth; i < parts_.size(); ++i) key = join_path(key, parts_[i]);
    if (node.kind != Kind::map) node = document_node(Kind::map, "", where_);
    if (DocumentEntry* entry = node.find(key)) {
      *entry = {key, where_, text_};
    } else {
      node.entries.push_back({key, where_, text_});
    }
  }

  std::vector<std::string> parts_;
  Location where_;
  DocumentNode value_;
  DocumentNode text_;  // the same, but as plain text: "published: a paper" is not a map
  std::vector<Note> notes_;
};

}  // namespace

std::string override_place(const std::string& key, const std::string& value,
                           std::string_view option) {
  return fmt::format("{} {}={}", option, key, value);
}

Error as_varied(const Error& error, const Overrides& point, std::string_view option) {
  for (const auto& [key, value] : point) {
    if (error.where().file != override_place(key, value)) continue;
    return {Location{override_place(key, value, option)}, std::string(error.text()), error.code()};
  }
  return error;
}

std::vector<Note> apply_override(DocumentNode& scenario, const std::string& key,
                                 const std::string& value, const Location* where) {
  return Override(key, value, where).apply(scenario);
}

}  // namespace windtunnel
