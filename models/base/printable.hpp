// Makes text from outside (a file, the command line) safe for messages, console tables and comments
// in written files. Bytes that could end a text, move a terminal's cursor or are not UTF-8 are
// escaped: \x1b for ESC. Text that is already printable is unchanged.
#pragma once

#include <string>
#include <string_view>

namespace windtunnel {

// Returns one line, except for control characters in `kept`: "\n\t" for a message of several lines.
std::string printable(std::string_view text, std::string_view kept = {});

// Returns one line for a message, cut to about 60 characters.
std::string excerpt(std::string_view text);

}  // namespace windtunnel
