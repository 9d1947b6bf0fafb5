#include <windtunnel/error.hpp>

#include "report/api/translation.hpp"
#include "scenarios/language/overrides.hpp"
#include "scenarios/language/text/fields.hpp"

namespace windtunnel_api {
namespace {

std::string with_place(const std::string& text, const Error::Place& place) {
  if (place.file.empty()) {
    const bool says_key = place.key.empty() || text.starts_with(place.key);
    return says_key ? text : fmt::format("{}: {}", place.key, text);
  }
  if (place.line == 0) return fmt::format("{}: {}", place.file, text);
  return fmt::format("{}:{}:{}: {}", place.file, place.line, place.column, text);
}

// A message about a key begins with it.
std::string key_in(std::string_view text) {
  const std::string word(text.substr(0, text.find_first_of(": ")));
  return core::find_field(word) != nullptr ? word : "";
}

}  // namespace

Error::Error(std::string text, Place place, Cause cause)
    : std::runtime_error(with_place(text, place)),
      text_(std::move(text)),
      place_(std::move(place)),
      cause_(cause) {}

Error::~Error() = default;

Error public_error(const core::Error& error, const core::Overrides& set) {
  const core::Location& where = error.where();
  Error::Place place = {where.file, where.line, where.column, key_in(error.text())};
  for (const auto& [key, value] : set) {
    if (where.file == core::override_place(key, value)) place = {.key = key};
  }
  const bool failed = error.code() == core::ExitCode::failed;
  return {std::string(error.text()), std::move(place),
          failed ? Error::Cause::failed : Error::Cause::input};
}

Error public_error(const core::InternalError& error) {
  return {error.what(), {}, Error::Cause::defect};
}

}  // namespace windtunnel_api
