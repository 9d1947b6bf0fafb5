#include "report/store/varied_keys.hpp"

#include <string>

#include "models/base/error.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

std::vector<Dimension> dimensions_of(const std::string& key) {
  const Field* field = find_field(key);
  if (field == nullptr) return {};
  if (field->scalar == ScalarType::integer) return {Dimension::number, field->dimension};
  if (field->scalar == ScalarType::quantity) return {field->dimension};
  if (field->scalar == ScalarType::interval) return {Dimension::seconds, Dimension::iterations};
  return {};
}

}  // namespace

std::optional<KeyNumbers> numbers_of(const VariedKey& key) {
  for (const Dimension dimension : dimensions_of(key.key)) {
    KeyNumbers numbers{dimension, {}};
    try {
      for (const std::string& value : key.values) {
        numbers.values.push_back(parse_quantity(value, dimension));
      }
      return numbers;
    } catch (const Error&) {
      continue;  // another dimension, or not a number
    }
  }
  return {};
}

Json varied_keys_json(const std::vector<VariedKey>& keys) {
  Json json = Json::array();
  for (const VariedKey& key : keys) {
    const std::optional<KeyNumbers> numbers = numbers_of(key);
    json.push_back({{"key", key.key},
                    {"values", key.values},
                    {"numbers", numbers ? Json(numbers->values) : Json(nullptr)}});
  }
  return json;
}

}  // namespace windtunnel
