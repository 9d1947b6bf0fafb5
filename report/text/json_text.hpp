// A JSON document as text; what it holds is for others to say (report/json/json.hpp).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace windtunnel {

using Json = nlohmann::ordered_json;

// An object from the text of a file. Throws Error with the file's name when it is none.
Json parse_json(const std::string& text, const std::string& file);

// What is missing or of another type in a document, without the library's own names: "key 'set' not
// found", "type must be string, but is number".
std::string fault_of(const Json::exception& error);

// Which kind of document it says it is, under the key "format"; empty where it says none.
std::string format_of(const Json& document);

// A document of the command line with what tells programs how to read it: "schema", which is
// "windtunnel/KIND/1", and the "version" of this program where it does not say it already. Each
// document of a list gets both. docs/reference/json.md names the kinds.
Json with_schema(std::string_view kind, Json document);

// Text that ends in a newline, indented or (-1) on one line; invalid UTF-8 in names is replaced.
std::string json_text(const Json& document, int indent = 2);

}  // namespace windtunnel
