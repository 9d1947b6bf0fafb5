// What the completions of several shells are made of: the keys of scenarios, and the text of a
// script with its marks filled in.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace windtunnel {

// A key of scenarios, '*' for the index of a list, and the words that it takes, if it knows them.
struct SettableKey {
  std::string key;
  std::vector<std::string> words;
};
// In the order of the field table.
std::vector<SettableKey> settable_keys();

// The keys, with blanks between them.
std::string key_words();
// Lines of a shell's `case`: for each key that knows its words, these.
std::string value_cases();

// One word of bash and zsh.
std::string single_quoted(std::string_view text);

// The script with each mark replaced by what it stands for.
std::string filled_script(std::string_view script,
                          const std::vector<std::pair<std::string_view, std::string>>& marks);

}  // namespace windtunnel
