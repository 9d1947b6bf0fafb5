#include "scenarios/language/text/values.hpp"

#include <fmt/format.h>

namespace windtunnel {

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

}  // namespace windtunnel
