#include "scenarios/language/text/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

namespace windtunnel {
namespace {

bool is_index(std::string_view part) {
  return !part.empty() &&
         std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view parent_of(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::string scalar_text(const Field& field) {
  switch (field.scalar) {
    case ScalarType::none:
      return field.shorthand.empty() ? "" : "a name";
    case ScalarType::text:
    case ScalarType::name:
      return "a name";
    case ScalarType::boolean:
      return "true or false";
    case ScalarType::integer:
      return "a whole number";
    case ScalarType::quantity:
      return std::string(noun_of(field.dimension));
    case ScalarType::interval:
      return "a number of iterations or a time";
  }
  return "";
}

struct Place {
  const Field* field = nullptr;
  std::vector<std::string> keys;  // of the fields directly below, without "*"
};

// Finds places by pattern quickly: each value of a scenario asks for its row several times.
const std::unordered_map<std::string_view, Place>& places() {
  static const auto all = [] {
    std::unordered_map<std::string_view, Place> made;
    for (const Field& field : field_table()) {
      made[field.path].field = &field;
      if (field.path.empty()) continue;
      const std::string_view parent = parent_of(field.path);
      const std::string_view key =
          parent.empty() ? field.path : field.path.substr(parent.size() + 1);
      if (key != "*") made[parent].keys.emplace_back(key);
    }
    return made;
  }();
  return all;
}

// The rows that are bound to a member of the struct with this kTypeTag, in the order of the table.
const std::vector<const Field*>& rows_of_type(const void* type) {
  static const auto all = [] {
    std::unordered_map<const void*, std::vector<const Field*>> made;
    for (const Field& field : field_table()) made[field.binding.target].push_back(&field);
    return made;
  }();
  static const std::vector<const Field*> none;
  const auto found = all.find(type);
  return found == all.end() ? none : found->second;
}

const Place& place_of(std::string_view path) {
  static const Place none;
  auto found = places().find(path);
  if (found == places().end()) found = places().find(pattern_of(path));
  return found == places().end() ? none : found->second;
}

}  // namespace

const Field* find_field(std::string_view path) {
  return place_of(path).field;
}

std::vector<BoundRow> bound_rows(std::string_view path, const void* type) {
  const std::string pattern = pattern_of(path);
  std::vector<BoundRow> rows;
  for (const Field* field : rows_of_type(type)) {
    if (!field->path.starts_with(pattern)) continue;
    std::string_view key = field->path.substr(pattern.size());
    if (!pattern.empty() && !key.empty()) {
      if (!key.starts_with('.')) continue;  // "cluster.nodes" is not below "cluster.node"
      key.remove_prefix(1);
    }
    rows.push_back({key, field});
  }
  return rows;
}

const std::vector<std::string>& child_keys(std::string_view path) {
  return place_of(path).keys;
}

std::string join_path(std::string_view parent, std::string_view key) {
  if (parent.empty() || key.empty()) return std::string(parent).append(key);
  std::string path;
  path.reserve(parent.size() + 1 + key.size());
  return path.append(parent).append(1, '.').append(key);
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string pattern_of(std::string_view path) {
  std::string pattern;
  pattern.reserve(path.size());
  while (true) {
    const std::string_view part = path.substr(0, path.find('.'));
    pattern.append(is_index(part) ? "*" : part);
    if (part.size() == path.size()) return pattern;
    pattern += '.';
    path.remove_prefix(part.size() + 1);
  }
}

std::string type_text(const Field& field) {
  std::vector<std::string> kinds;
  if (std::string scalar = scalar_text(field); !scalar.empty()) kinds.push_back(scalar);
  if (field.map) kinds.push_back("a map");
  if (field.list) kinds.push_back("a list");
  if (!field.open_word.empty()) kinds.push_back(fmt::format("'{}'", field.open_word));
  return fmt::format("{}", fmt::join(kinds, " or "));
}

std::vector<std::string_view> suffixes_of(const Field& field) {
  std::vector<std::string_view> suffixes;
  std::string_view rest = field.file_suffix;
  while (!rest.empty()) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    suffixes.push_back(rest.substr(0, blank));
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  return suffixes;
}

std::vector<std::string> names_of(const Field& field) {
  if (field.library != nullptr) return field.library();
  return {field.names.begin(), field.names.end()};
}

}  // namespace windtunnel
