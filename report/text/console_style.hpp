// What a terminal can show beside plain text.
#pragma once

#include <string>

namespace windtunnel {

struct ConsoleStyle {
  bool colour = false;  // ANSI bold for titles; only for a terminal

  std::string bold(const std::string& text) const {
    return colour ? "\x1b[1m" + text + "\x1b[0m" : text;
  }
};

}  // namespace windtunnel
