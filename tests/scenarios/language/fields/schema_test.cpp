#include "scenarios/language/fields/schema.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scenarios/language/text/fields.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

using Json = nlohmann::json;

// The schema itself if it has `member`, else the first form of its `anyOf` that has.
const Json* form_with(const Json& schema, const std::string& member) {
  if (schema.contains(member)) return &schema;
  if (!schema.contains("anyOf")) return nullptr;
  for (const Json& form : schema["anyOf"]) {
    if (form.contains(member)) return &form;
  }
  return nullptr;
}

// Follows a path of the field table through properties and items; nullptr if a step is missing.
const Json* schema_at(const Json& root, std::string_view path) {
  const Json* schema = &root;
  for (const std::string& part : split_path(path)) {
    const bool item = part == "*";
    const Json* form = form_with(*schema, item ? "items" : "properties");
    if (form == nullptr) return nullptr;
    if (!item && !(*form)["properties"].contains(part)) return nullptr;
    schema = item ? &(*form)["items"] : &(*form)["properties"][part];
  }
  return schema;
}

TEST(Schema, CoversEveryField) {
  const Json schema = Json::parse(scenario_schema());
  EXPECT_EQ(schema["$schema"], "http://json-schema.org/draft-07/schema#");
  for (const Field& field : field_table()) {
    if (field.path.empty()) continue;
    const Json* found = schema_at(schema, field.path);
    ASSERT_NE(found, nullptr) << field.path;
    EXPECT_EQ((*found)["description"], std::string(field.help)) << field.path;
    EXPECT_EQ(found->contains("default"), !field.default_text.empty()) << field.path;
  }
}

// Defaults have the type in which an editor would write them.
TEST(Schema, DefaultsAreOfTheTypeOfTheirKey) {
  const Json schema = Json::parse(scenario_schema());
  for (const Field& field : field_table()) {
    if (field.path.empty() || field.default_text.empty()) continue;
    const Json& found = *schema_at(schema, field.path);
    const Json forms = found.contains("anyOf") ? found["anyOf"] : Json::array({found});
    const Json& value = found["default"];
    const bool takes = std::ranges::any_of(forms, [&](const Json& form) {
      const Json type = form.value("type", Json());
      return type == value.type_name() || (type == "integer" && value.is_number_integer());
    });
    EXPECT_TRUE(takes) << field.path << " " << value;
  }
}

TEST(Schema, MapsAreClosedAndNameWhatIsRequired) {
  const Json schema = Json::parse(scenario_schema());
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], Json({"name", "cluster"}));
  EXPECT_EQ(schema["anyOf"][0]["required"], Json({"model", "batch"}));
  EXPECT_EQ(schema["anyOf"][1]["required"], Json::array({"jobs"}));
  const Json* tier = schema_at(schema, "snapshots.*");
  ASSERT_NE(tier, nullptr);
  EXPECT_EQ((*tier)["required"], Json({"tier"}));
  EXPECT_EQ((*schema_at(schema, "layout.tp"))["minimum"], 1);
}

TEST(Schema, SameTextEveryTime) {
  EXPECT_EQ(scenario_schema(), scenario_schema());
}

// Editors find the schema by the first line of the scenarios in its folder.
TEST(Schema, CommittedFileIsUpToDate) {
  expect_file("scenarios/schema.json", scenario_schema());
}

TEST(FieldTable, NumbersHaveLimitsOnBothSides) {
  for (const Field& field : field_table()) {
    const bool number = field.scalar == ScalarType::integer ||
                        field.scalar == ScalarType::quantity ||
                        field.scalar == ScalarType::interval;
    if (!number) continue;
    EXPECT_GE(field.low, -1e4) << field.path;
    EXPECT_LE(field.high, 1e18) << field.path;
    if (field.scalar != ScalarType::integer || field.path == "campaign.seed") continue;
    EXPECT_LE(field.high, 1e8) << field.path;
  }
}

TEST(FieldTable, EveryRowHasHelpAndAnExampleThatItAccepts) {
  for (const Field& field : field_table()) {
    EXPECT_FALSE(field.help.empty()) << field.path;
    if (field.path.empty()) continue;
    EXPECT_FALSE(field.example.empty()) << field.path;
    EXPECT_NE(find_field(field.path), nullptr);
    const std::vector<std::string> names = names_of(field);
    if (names.empty() || field.map) continue;
    EXPECT_NE(std::find(names.begin(), names.end(), field.example), names.end()) << field.path;
  }
}

}  // namespace
}  // namespace windtunnel
