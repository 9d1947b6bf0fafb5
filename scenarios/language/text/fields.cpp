#include "scenarios/language/text/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

}  // namespace

const Field* find_field(std::string_view path) {
  const std::string pattern = pattern_of(path);
  for (const Field& field : field_table()) {
    if (field.path == pattern) return &field;
  }
  return nullptr;
}

std::vector<BoundRow> bound_rows(std::string_view path, const void* type) {
  const std::string pattern = pattern_of(path);
  std::vector<BoundRow> rows;
  for (const Field& field : field_table()) {
    if (field.binding.target != type || !field.path.starts_with(pattern)) continue;
    std::string_view key = field.path.substr(pattern.size());
    if (!pattern.empty() && !key.empty()) {
      if (!key.starts_with('.')) continue;  // "cluster.nodes" is not below "cluster.node"
      key.remove_prefix(1);
    }
    rows.push_back({key, &field});
  }
  return rows;
}

std::vector<std::string> child_keys(std::string_view path) {
  const std::string pattern = pattern_of(path);
  std::vector<std::string> keys;
  for (const Field& field : field_table()) {
    if (field.path.empty() || parent_of(field.path) != pattern) continue;
    const std::string_view key =
        pattern.empty() ? field.path : field.path.substr(pattern.size() + 1);
    if (key != "*") keys.emplace_back(key);
  }
  return keys;
}

std::string join_path(std::string_view parent, std::string_view key) {
  if (parent.empty() || key.empty()) return std::string(parent).append(key);
  return fmt::format("{}.{}", parent, key);
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
  std::vector<std::string> parts = split_path(path);
  for (std::string& part : parts) {
    if (is_index(part)) part = "*";
  }
  return fmt::format("{}", fmt::join(parts, "."));
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
