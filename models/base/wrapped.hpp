// Breaks text into lines. Widths count characters (UTF-8 code points).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

size_t width_of(std::string_view text);

// Lines of at most `width` characters; from the second on they are indented by `hang`. Lines break
// at blanks, or else after characters that separate parts of a name or path.
std::vector<std::string> wrapped(std::string_view text, size_t width, size_t hang = 0);

// Wraps each line of a text to `width` characters where possible; 0: unchanged. After a label and
// two blanks the rest is indented to its own column; other continuation lines are indented by two.
// A command is broken before options with the shell's backslash, so that it can still be copied; an
// option and its value are not separated.
std::string wrapped_lines(std::string_view text, size_t width);

}  // namespace windtunnel
