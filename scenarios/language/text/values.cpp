#include "scenarios/language/text/values.hpp"

#include <fmt/format.h>

namespace windtunnel {

std::string text_of(const Value& value) {
  switch (value.field->scalar) {
    case ScalarType::boolean:
      return value.number != 0 ? "true" : "false";
    case ScalarType::integer:
      return fmt::format("{:.0f}", value.number);
    case ScalarType::quantity:
    case ScalarType::interval:
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

bool Values::stated(std::string_view key) const {
  return places_.find(key) != places_.end();
}

double Values::number_or_default(std::string_view key) const {
  if (const Value* value = find(key)) return value->number;
  const Field& field = *find_field(key);
  return parse_quantity(field.default_text, field.dimension);
}

void Values::fill(std::string_view path, const void* type, void* target) const {
  const std::string pattern = pattern_of(path);
  for (const Field& field : field_table()) {
    if (field.binding.target != type || !field.path.starts_with(pattern)) continue;
    const Value* value = find(std::string(path).append(field.path.substr(pattern.size())));
    if (value != nullptr) field.binding.assign(target, *value);
  }
}

int Values::length(std::string_view key) const {
  const auto found = lengths_.find(key);
  return found == lengths_.end() ? 0 : found->second;
}

Location Values::where(std::string_view key) const {
  while (true) {
    if (const auto found = places_.find(key); found != places_.end()) return found->second;
    CHECK(!key.empty(), "a scenario without a place");
    const size_t dot = key.rfind('.');
    key = dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
  }
}

Location Values::fault_at(std::string_view key) const {
  const std::string below = std::string(key) + ".";
  for (const auto& [path, where] : places_) {
    if (where.line == 0 && (path == key || path.starts_with(below))) return where;
  }
  return where(key);
}

void Values::fail(std::string_view key, std::string_view what) const {
  throw Error(fault_at(key), fmt::format("{}: {}", key, what));
}

Error Values::placed(const Error& error) const {
  if (error.keys().empty()) return error;
  for (const std::string& key : error.keys()) {
    if (const Location where = fault_at(key); where.line == 0) {
      return {where, error.what(), error.code()};
    }
  }
  for (const std::string& key : error.keys()) {
    if (stated(key)) return {where(key), error.what(), error.code()};
  }
  return {where(error.keys().back()), error.what(), error.code()};
}

void Values::add(Value value) {
  if (value.stated) places_[value.key] = value.where;
  values_[value.key] = std::move(value);
}

void Values::place(const std::string& key, const Location& where) {
  places_[key] = where;
}

void Values::set_length(const std::string& key, int length) {
  lengths_[key] = length;
}

}  // namespace windtunnel
