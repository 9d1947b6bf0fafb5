#include "cli/shell/completion_script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenarios/language/text/fields.hpp"

namespace windtunnel {

std::vector<SettableKey> settable_keys() {
  std::vector<SettableKey> keys;
  for (const Field& field : field_table()) {
    if (field.path.empty()) continue;
    if (field.scalar == ScalarType::none && field.shorthand.empty()) continue;  // of its rows
    SettableKey& key = keys.emplace_back(SettableKey{std::string(field.path), names_of(field)});
    if (field.shorthand.empty()) continue;
    const Field* meant = find_field(join_path(field.path, field.shorthand));
    if (meant != nullptr && key.words.empty()) key.words = names_of(*meant);
  }
  return keys;
}

std::string key_words() {
  std::string words;
  for (const SettableKey& each : settable_keys()) words += (words.empty() ? "" : " ") + each.key;
  return words;
}

std::string value_cases() {
  std::string cases;
  for (const SettableKey& each : settable_keys()) {
    if (each.words.empty()) continue;
    cases += fmt::format("    '{}') echo {} ;;\n", each.key,
                         single_quoted(fmt::format("{}", fmt::join(each.words, " "))));
  }
  return cases;
}

std::string single_quoted(std::string_view text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string filled_script(std::string_view script,
                          const std::vector<std::pair<std::string_view, std::string>>& marks) {
  std::string text;
  while (!script.empty()) {
    const auto mark = std::ranges::find_if(
        marks, [&](const auto& each) { return script.starts_with(each.first); });
    text += mark == marks.end() ? std::string(script.substr(0, 1)) : mark->second;
    script.remove_prefix(mark == marks.end() ? 1 : mark->first.size());
  }
  return text;
}

}  // namespace windtunnel
