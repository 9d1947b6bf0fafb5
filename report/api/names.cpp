#include <windtunnel/names.hpp>

#include "models/base/version.hpp"
#include "report/api/translation.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel_api {

std::vector<Key> keys() {
  std::vector<Key> keys;
  for (const core::Field& field : core::field_table()) {
    if (field.path.empty()) continue;
    keys.push_back(
        {std::string(field.path), std::string(field.default_text), std::string(field.help)});
  }
  return keys;
}

std::vector<std::string> names(const std::string& key) {
  const core::Field* field = core::find_field(key);
  if (field != nullptr && !field->shorthand.empty()) {
    field = core::find_field(core::join_path(key, field->shorthand));
  }
  if (field != nullptr) return core::names_of(*field);
  std::vector<std::string> known;
  for (const Key& each : keys()) known.push_back(each.path);
  throw Error(core::unknown_name("key", key, known), {}, Error::Cause::input);
}

std::string version() {
  return core::program_build();
}

}  // namespace windtunnel_api
