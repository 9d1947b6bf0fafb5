#include "scenarios/language/text/values.hpp"

#include <fmt/format.h>

namespace windtunnel {
namespace {

// The --set that changed the key or a key below it (it has no line); null: none. A --set of another
// key in the same map does not count.
const Location* set_at(const auto& places, std::string_view key) {
  const std::string below = std::string(key) + ".";
  for (const auto& [path, where] : places) {
    if (where.line == 0 && (path == key || path.starts_with(below))) return &where;
  }
  return nullptr;
}

}  // namespace

std::string text_of(const Value& value) {
  switch (value.field->scalar) {
    case ScalarType::boolean:
      return value.number != 0 ? "true" : "false";
    case ScalarType::integer:
      return fmt::format("{:.0f}", value.number);
    case ScalarType::interval:
      if (!value.text.empty()) break;  // it is the name of a rule
      [[fallthrough]];
    case ScalarType::quantity:
      return format_quantity(value.number, value.dimension);
    case ScalarType::none:
    case ScalarType::text:
    case ScalarType::name:
      break;
  }
  return value.text;
}

const Value* Values::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

const Value& Values::at(std::string_view key) const {
  const Value* value = find(key);
  CHECK(value != nullptr, "no value of '{}'", key);
  return *value;
}

void Values::fill(std::string_view path, const void* type, void* target) const {
  for (const BoundRow& row : bound_rows(path, type)) {
    const Value* value = find(join_path(path, row.key));
    if (value != nullptr) row.field->binding.assign(target, *value);
  }
}

int Values::length(std::string_view key) const {
  const auto found = lengths_.find(key);
  return found == lengths_.end() ? 0 : found->second;
}

std::vector<std::string> Values::items(std::string_view key) const {
  std::vector<std::string> paths;
  for (int i = 0; i < length(key); ++i) paths.push_back(fmt::format("{}.{}", key, i));
  return paths;
}

std::vector<double> Values::numbers(std::string_view key) const {
  std::vector<double> all;
  for (const std::string& path : items(key)) all.push_back(number(path));
  return all;
}

void Values::fail(std::string_view key, std::string_view what) const {
  throw Error(fault_at(key), fmt::format("{}: {}", key, what));
}

void Values::add(Value value) {
  if (value.stated) places_.add(value.key, value.where);
  values_[value.key] = std::move(value);
}

void Values::place(const std::string& key, const Location& where) {
  places_.add(key, where);
}

void Values::set_length(const std::string& key, int length) {
  lengths_[key] = length;
}

bool Places::stated(std::string_view key) const {
  return places_.find(key) != places_.end();
}

Location Places::where(std::string_view key) const {
  while (true) {
    if (const auto found = places_.find(key); found != places_.end()) return found->second;
    CHECK(!key.empty(), "a scenario without a place");
    const size_t dot = key.rfind('.');
    key = dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
  }
}

Location Places::fault_at(std::string_view key) const {
  const Location* set = set_at(places_, key);
  return set != nullptr ? *set : where(key);
}

Error Places::placed(const Error& error) const {
  if (error.keys().empty() || places_.empty()) return error;
  for (const std::string& key : error.keys()) {
    if (const Location* set = set_at(places_, key)) return {*set, error.what(), error.code()};
  }
  for (const std::string& key : error.keys()) {
    if (stated(key)) return {where(key), error.what(), error.code()};
  }
  return {where(error.keys().back()), error.what(), error.code()};
}

}  // namespace windtunnel
