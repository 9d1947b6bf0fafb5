// --set KEY=VALUE: changes the tree of a scenario before it is checked, so that an override is
// checked exactly like the text.
#pragma once

#include <string>
#include <string_view>

#include "models/results/note.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

// What stands for the file in messages about an override: "--set KEY=VALUE".
std::string override_place(const std::string& key, const std::string& value,
                           std::string_view option = "--set");
// The error with the option that varied it there, where it is about a value of this point.
Error as_varied(const Error& error, const Overrides& point, std::string_view option = "--vary");

// KEY is a path; an index or '*' selects items of a list: all that have the key that follows, or
// all if none has it. A name that is shorthand for a map
// (`node: dgx-h100`) becomes that map when a key below it is set. A name takes the place of all
// that the scenario states there, and the notes returned say of what; `null` takes the key away, so
// that its default holds. Throws Error for a KEY that is not in the field table or an item that the
// scenario does not have. `where`: what stands for the place of the value, if not its option.
std::vector<Note> apply_override(DocumentNode& scenario, const std::string& key,
                                 const std::string& value, const Location* where = nullptr);

}  // namespace windtunnel
