#include "report/text/json_text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/version.hpp"

namespace windtunnel {

Json parse_json(const std::string& text, const std::string& file) {
  Json document = Json::parse(text, nullptr, false);
  if (!document.is_object())
    throw Error(Location{file}, "the file is not a JSON object; it is damaged or cut off");
  return document;
}

std::string fault_of(const Json::exception& error) {
  // Such as "[json.exception.type_error.302] type must be ...".
  const std::string_view what = error.what();
  const std::string_view text = what.substr(what.find("] ") + 2);
  if (!text.starts_with("cannot use ")) return std::string(text);
  return fmt::format("{} instead of an object or a list", text.substr(text.rfind(' ') + 1));
}

std::string format_of(const Json& document) {
  if (!document.is_object()) return "";
  const auto found = document.find("format");
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

Json with_schema(std::string_view kind, Json document) {
  if (document.is_array()) {
    for (Json& each : document) each = with_schema(kind, std::move(each));
    return document;
  }
  Json result = {{"schema", fmt::format("windtunnel/{}/1", kind)}};
  if (!document.contains("version")) result["version"] = program_version();
  for (auto& [key, value] : document.items()) result[key] = std::move(value);
  return result;
}

std::string json_text(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace windtunnel
