// Compares texts with files of the source tree, mostly under tests/scenarios/golden. With
// WINDTUNNEL_UPDATE_GOLDEN=1 in the environment the file is written instead: read the difference
// before committing it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "scenarios/language/case.hpp"
#include "scenarios/language/text/document.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {

inline std::string source_path(const std::string& path) {
  return std::string(WINDTUNNEL_SOURCE_DIR) + "/" + path;
}

// Expects that the committed file `name` of the source tree contains `text`.
inline void expect_file(const std::string& name, const std::string& text) {
  const std::string path = source_path(name);
  if (const char* update = std::getenv("WINDTUNNEL_UPDATE_GOLDEN"); update && *update == '1') {
    std::ofstream(path) << text;
    return;
  }
  EXPECT_EQ(read_text_file(path), text);
}

inline void expect_golden(const std::string& name, const std::string& text) {
  expect_file("tests/scenarios/golden/" + name, text);
}

inline std::string parse_message(const std::string& text, const std::string& file,
                                 const Overrides& overrides = {}) {
  return error_of([&] { parse_case(text, file, overrides); });
}

}  // namespace windtunnel
