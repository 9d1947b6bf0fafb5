// Comparison of a text with a file of the source tree, as a rule under tests/scenarios/golden. With
// WINDTUNNEL_UPDATE_GOLDEN=1 in the environment the file is written instead: read the difference
// before committing it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "scenarios/language/case.hpp"
#include "scenarios/language/text/document.hpp"

namespace windtunnel {

inline std::string source_path(const std::string& path) {
  return std::string(WINDTUNNEL_SOURCE_DIR) + "/" + path;
}

// The committed file at `path` of the source tree holds `text`.
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

// What Error the action throws; "accepted" if it throws none.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "accepted";
}

inline std::string parse_message(const std::string& text, const std::string& file,
                                 const Overrides& overrides = {}) {
  return message_of([&] { parse_case(text, file, overrides); });
}

}  // namespace windtunnel
