// --set KEY=VALUE: changes the tree of a scenario before it is checked, so that an override is
// checked exactly like the text.
#pragma once

#include <string>
#include <string_view>

#include "models/results/note.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

// The location of an override in messages: "--set KEY=VALUE".
std::string override_place(const std::string& key, const std::string& value,
                           std::string_view option = "--set");
// Returns the error; if it is about a value of this point, its location becomes the option that set
// the value.
Error as_varied(const Error& error, const Overrides& point, std::string_view option = "--vary");

// KEY is a path. In a list an index selects an item, and '*' the items that have the next key of
// the path, or all items if none has it. A name that is shorthand for a map (`node: dgx-h100`)
// becomes that map when a key below it is set. Setting a name replaces everything that the scenario
// states there, and the returned notes list what was replaced. `null` removes the key, so that its
// default holds. Throws Error for a KEY that is not in the field table or an item that the scenario
// does not have. `where` replaces the option as the location of the value.
std::vector<Note> apply_override(DocumentNode& scenario, const std::string& key,
                                 const std::string& value, const Location* where = nullptr);

}  // namespace windtunnel
