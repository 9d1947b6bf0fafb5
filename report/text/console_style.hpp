// The abilities and width of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace windtunnel {

inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kPlain = "\x1b[0m";

struct ConsoleStyle {
  bool colour = false;  // ANSI bold for titles; only for a terminal
  size_t width = 0;     // of a line, in characters; tables fit into it; 0: unlimited
  bool notes = true;    // prints notes and warnings besides the answer

  std::string bold(const std::string& text) const {
    return colour ? std::string(kBold).append(text).append(kPlain) : text;
  }
};

}  // namespace windtunnel
