#include "scenarios/language/fields/schema.hpp"

// Makes the JSON Schema (draft 7) of a scenario from the field table. The schema admits every
// scenario that the parser admits; only the parser checks units and relations between keys.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "models/base/quantity_range.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNumberPattern = R"(^\s*-?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?\s*)";

// States the range in words, which editors show, because patterns cannot express ranges.
std::string range_title(const Field& field, Dimension dimension) {
  const bool iterations =
      field.scalar == ScalarType::interval && dimension == Dimension::iterations;
  const QuantityRange range =
      iterations ? quantity_range(dimension) : QuantityRange{field.low, field.high};
  return (field.or_zero ? "0, or " : "") + range_text(range, dimension);
}

Json unit_pattern(const Field& field, Dimension dimension) {
  return {
      {"type", "string"},
      {"title", range_title(field, dimension)},
      {"pattern", fmt::format("{}({})\\s*$", kNumberPattern, fmt::join(units_of(dimension), "|"))}};
}

void add_range(const Field& field, Json& schema) {
  if (field.or_zero) {
    schema["minimum"] = 0;
    schema["title"] = range_title(field, field.dimension);
  } else if (field.low > std::numeric_limits<double>::lowest()) {
    schema[field.above_low ? "exclusiveMinimum" : "minimum"] = field.low;
  }
  if (field.high < std::numeric_limits<double>::max()) schema["maximum"] = field.high;
}

Json quantity_schemas(const Field& field) {
  Json forms = Json::array();
  if (field.dimension == Dimension::number || field.dimension == Dimension::count) {
    Json plain = {{"type", "number"}};
    add_range(field, plain);
    forms.push_back(plain);
  }
  if (field.dimension != Dimension::number) forms.push_back(unit_pattern(field, field.dimension));
  return forms;
}

// Schemas of a field's plain values, without maps and lists.
Json scalar_schemas(const Field& field) {
  Json forms = Json::array();
  switch (field.scalar) {
    case ScalarType::none:
      break;
    case ScalarType::text:
      forms.push_back({{"type", "string"}, {"minLength", 1}});
      break;
    case ScalarType::name:
      forms.push_back({{"type", "string"}, {"enum", names_of(field)}});
      for (const std::string_view suffix : suffixes_of(field)) {
        forms.push_back({{"type", "string"}, {"pattern", fmt::format("\\{}$", suffix)}});
      }
      break;
    case ScalarType::boolean:
      forms.push_back({{"type", "boolean"}});
      break;
    case ScalarType::integer: {
      Json whole = {{"type", "integer"}};
      add_range(field, whole);
      forms.push_back(whole);
      break;
    }
    case ScalarType::quantity:
      forms = quantity_schemas(field);
      break;
    case ScalarType::interval:
      forms.push_back(unit_pattern(field, Dimension::iterations));
      forms.push_back(unit_pattern(field, Dimension::seconds));
      break;
  }
  if (!field.open_word.empty()) forms.push_back({{"const", field.open_word}});
  return forms;
}

Json field_schema(const std::string& path);

Json map_schema(const std::string& path, const Field& field) {
  Json schema = {{"type", "object"}, {"additionalProperties", false}};
  if (field.free_keys) {
    schema["additionalProperties"] = {
        {"type", "string"},
        {"pattern", fmt::format("^({}): .", fmt::join(names_of<Origin>(), "|"))}};
    return schema;
  }
  Json required = Json::array();
  Json properties = Json::object();
  for (const std::string& key : child_keys(path)) {
    const std::string below = join_path(path, key);
    properties[key] = field_schema(below);
    if (find_field(below)->required) required.push_back(key);
  }
  schema["properties"] = properties;
  if (!required.empty()) schema["required"] = required;
  return schema;
}

// The default as YAML would read it: 1, true, "25 MB".
Json default_value(const Field& field) {
  const std::string text(field.default_text);
  const bool number = field.scalar == ScalarType::quantity &&
                      (field.dimension == Dimension::number || field.dimension == Dimension::count);
  const bool plain = number || field.scalar == ScalarType::integer ||
                     field.scalar == ScalarType::boolean || (field.list && text == "[]");
  return plain ? Json::parse(text) : Json(text);
}

Json field_schema(const std::string& path) {
  const Field& field = *find_field(path);
  Json forms = scalar_schemas(field);
  if (!field.shorthand.empty()) {
    forms = scalar_schemas(*find_field(join_path(path, field.shorthand)));
  }
  if (field.map) forms.push_back(map_schema(path, field));
  if (field.list) {
    forms.push_back({{"type", "array"}, {"items", field_schema(join_path(path, "*"))}});
  }
  Json schema = {{"description", field.help}};
  if (!field.default_text.empty()) schema["default"] = default_value(field);
  if (forms.size() == 1) {
    schema.update(forms.front());
  } else {
    schema["anyOf"] = forms;
  }
  return schema;
}

}  // namespace

std::string scenario_schema() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "Windtunnel scenario"}};
  schema.update(field_schema(""));
  // In a scenario of several jobs, keys of a single job are in that job's file.
  Json of_all = Json::array();
  Json of_one = Json::array();
  for (const Json& key : schema["required"]) {
    (key == "name" || key == "cluster" ? of_all : of_one).push_back(key);
  }
  schema["required"] = of_all;
  Json one;
  one["required"] = of_one;
  Json several;
  several["required"] = Json::array({"jobs"});
  schema["anyOf"] = Json::array({one, several});
  return schema.dump(2) + "\n";
}

}  // namespace windtunnel
