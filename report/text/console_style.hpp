// What a terminal can show beside plain text.
#pragma once

#include <string>
#include <string_view>

namespace windtunnel {

inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kPlain = "\x1b[0m";

struct ConsoleStyle {
  bool colour = false;  // ANSI bold for titles; only for a terminal

  std::string bold(const std::string& text) const {
    return colour ? std::string(kBold).append(text).append(kPlain) : text;
  }
};

}  // namespace windtunnel
