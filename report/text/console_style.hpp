// What a terminal can show beside plain text.
#pragma once

namespace windtunnel {

struct ConsoleStyle {
  bool colour = false;  // ANSI bold for titles; only for a terminal
};

}  // namespace windtunnel
