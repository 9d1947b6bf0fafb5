// Names parametrised tests with words instead of a number or the bytes of a parameter, for lists of
// ctest and its option `-R`.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>

namespace windtunnel {

// Returns the letters and digits of the text, with '_' for everything between them, because
// GoogleTest accepts no other characters in a name.
inline std::string word_of(std::string_view text) {
  std::string word;
  for (const unsigned char c : text) {
    if (std::isalnum(c) != 0) {
      word += static_cast<char>(c);
    } else if (!word.empty() && word.back() != '_') {
      word += '_';
    }
  }
  while (word.ends_with('_')) word.pop_back();
  return word;
}

// Returns the last argument of INSTANTIATE_TEST_SUITE_P, which names each test by the `text` of its
// parameter.
template <class Text>
auto named(Text text) {
  return [text](const auto& info) { return word_of(text(info.param)); };
}

}  // namespace windtunnel
