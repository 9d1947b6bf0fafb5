#include <algorithm>
#include <windtunnel/error.hpp>

#include "models/base/printable.hpp"
#include "report/api/translation.hpp"
#include "scenarios/language/overrides.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel_api {
namespace {

std::string with_place(const std::string& text, const Error::Place& place) {
  if (place.file.empty()) {
    const bool says_key = place.key.empty() || text.starts_with(place.key);
    return says_key ? text : fmt::format("{}: {}", core::printable(place.key), text);
  }
  const std::string file = core::printable(place.file);
  if (place.line == 0) return fmt::format("{}: {}", file, text);
  return fmt::format("{}:{}:{}: {}", file, place.line, place.column, text);
}

bool same_place(const core::Location& one, const core::Location& other) {
  return one.file == other.file && one.line == other.line && one.column == other.column;
}

// The deepest key at the place, or with its value there; empty: none.
std::string key_at(const core::DocumentNode& node, const core::Location& where,
                   const std::string& path) {
  std::string found = same_place(node.where, where) ? path : "";
  const auto look_in = [&](const core::DocumentNode& child, const std::string& name, bool is_at) {
    const std::string key = core::join_path(path, name);
    const std::string below = key_at(child, where, key);
    if (!below.empty() || is_at) found = below.empty() ? key : below;
  };
  for (const core::DocumentEntry& entry : node.entries) {
    look_in(entry.value, entry.key, same_place(entry.where, where));
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    look_in(node.items[i], std::to_string(i), false);
  }
  return found;
}

// Places in an imported configuration are those of its settings, not of the scenario's text.
std::string key_in_text(const Case::State& state, const core::Location& where) {
  if (where.line == 0) return "";
  if (state.added != nullptr && !state.added->stated_at.empty()) {
    const auto stated = std::ranges::find_if(
        state.added->stated_at, [&](const auto& each) { return same_place(each.second, where); });
    return stated == state.added->stated_at.end() ? "" : stated->first;
  }
  if (where.file != state.file) return "";
  try {
    return key_at(core::parse_document(state.text, state.file), where, "");
  } catch (const core::Error&) {
    return "";  // the text is not YAML
  }
}

}  // namespace

Error::Error(std::string text, Place place, Cause cause)
    : std::runtime_error(with_place(text, place)),
      text_(std::move(text)),
      place_(std::move(place)),
      cause_(cause) {}

Error::~Error() = default;

Error public_error(const core::Error& error, const Case::State& state,
                   const core::Overrides& varied) {
  const core::Location& where = error.where();
  Error::Place place = {where.file, where.line, where.column, key_in_text(state, where)};
  if (where.file.empty() && !error.keys().empty()) place.key = error.keys().front();
  for (const core::Overrides& set : {state.set, varied}) {
    for (const auto& [key, value] : set) {
      const bool is_set = where.file == core::override_place(key, value);
      if (is_set || where.file == core::override_place(key, value, "--vary")) place = {.key = key};
    }
  }
  const bool failed = error.code() == core::ExitCode::failed;
  return {std::string(error.text()), std::move(place),
          failed ? Error::Cause::failed : Error::Cause::input};
}

Error public_error(const core::InternalError& error) {
  return {error.what(), {}, Error::Cause::defect};
}

}  // namespace windtunnel_api
