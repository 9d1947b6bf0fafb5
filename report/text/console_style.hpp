// What a terminal can show beside plain text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace windtunnel {

inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kPlain = "\x1b[0m";

struct ConsoleStyle {
  bool colour = false;  // ANSI bold for titles; only for a terminal
  size_t width = 0;     // characters of a line, which tables fit; 0: as wide as they are
  bool notes = true;    // what is said beside the answer

  std::string bold(const std::string& text) const {
    return colour ? std::string(kBold).append(text).append(kPlain) : text;
  }
};

}  // namespace windtunnel
