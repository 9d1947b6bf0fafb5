// Reads and writes the text of a JSON document; report/json/json.hpp has the contents.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace windtunnel {

using Json = nlohmann::ordered_json;

// The list of what `make` returns for each entry.
template <class Range, class Make>
Json list_json(const Range& range, Make make) {
  Json list = Json::array();
  for (const auto& each : range) list.push_back(make(each));
  return list;
}

// MEMBERS_JSON(peak, rank, bytes) is {"rank": peak.rank, "bytes": peak.bytes}: each member stands
// under its own name. PUT_MEMBERS adds members to a document.
#define WINDTUNNEL_PUT_MEMBER(member) document[#member] = members.member;
#define PUT_MEMBERS(json, of, ...)                                                \
  [](::windtunnel::Json& document, const auto& members) {                         \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(WINDTUNNEL_PUT_MEMBER, __VA_ARGS__)) \
  }(json, of)
#define MEMBERS_JSON(of, ...)                      \
  [](const auto& value) {                          \
    ::windtunnel::Json members_json;               \
    PUT_MEMBERS(members_json, value, __VA_ARGS__); \
    return members_json;                           \
  }(of)

// Parses an object from the text of a file. Throws Error with the file's name if it is not an
// object.
Json parse_json(const std::string& text, const std::string& file);

// Why a document is invalid, without the names of the JSON library: "key 'set' not found", "type
// must be string, but is number".
std::string fault_of(const Json::exception& error);

// The kind of a document, under its key "format"; empty if it has none.
std::string format_of(const Json& document);

// Adds what programs need to read a document of the command line: "schema", which is
// "windtunnel/KIND/1", and the "version" of this program unless it is there. Adds both to each
// document of a list. docs/reference/json.md lists the kinds.
Json with_schema(std::string_view kind, Json document);

// The text ends in a newline and is indented, or (-1) on one line; replaces invalid UTF-8 in names.
std::string json_text(const Json& document, int indent = 2);

}  // namespace windtunnel
