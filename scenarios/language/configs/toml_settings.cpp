// Reads TOML with toml++ (https://marzer.github.io/tomlplusplus). Its headers take seconds to
// compile, so only this file includes them.
#include <fmt/format.h>

#include <sstream>

// The parser reports damaged text as an error, but some of its assertions would end the program
// first.
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>

#include "scenarios/language/configs/setting.hpp"

namespace windtunnel {
namespace {

Location toml_place(const toml::source_region& region, const std::string& path) {
  return {path, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

std::string toml_scalar(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  std::ostringstream out;
  out << toml::node_view<const toml::node>(node);
  return out.str();
}

std::string toml_list(const toml::array& list) {
  std::string text;
  for (const toml::node& item : list) {
    text += (text.empty() ? "" : ", ") + toml_scalar(item);
  }
  return "[" + text + "]";
}

void flatten_toml(const toml::table& table, const std::string& before, const std::string& path,
                  std::vector<Setting>& into) {
  for (const auto& [key, value] : table) {
    const std::string name = before + setting_name(key.str());
    if (const toml::table* below = value.as_table()) {
      flatten_toml(*below, name + ".", path, into);
    } else if (const toml::array* list = value.as_array()) {
      into.push_back({name, toml_list(*list), toml_place(value.source(), path)});
    } else {
      into.push_back({name, toml_scalar(value), toml_place(value.source(), path)});
    }
  }
}

}  // namespace

std::vector<Setting> settings_of_toml(const std::string& text, const std::string& path) {
  try {
    std::vector<Setting> settings;
    flatten_toml(toml::parse(text, path), "", path, settings);
    return settings;
  } catch (const toml::parse_error& error) {
    throw Error(toml_place(error.source(), path), std::string(error.description()));
  }
}

}  // namespace windtunnel
