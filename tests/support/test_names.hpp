// Names of parametrised tests, which ctest lists and `-R` finds: words instead of a number or of
// the bytes of a parameter.
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <string_view>

namespace windtunnel {

// The text's letters and digits, with one '_' for what lies between them: all that GoogleTest
// accepts in a name.
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

// For the last argument of INSTANTIATE_TEST_SUITE_P: names each test by what `text` says of its
// parameter.
template <class Text>
auto named(Text text) {
  return [text](const auto& info) { return word_of(text(info.param)); };
}

}  // namespace windtunnel
