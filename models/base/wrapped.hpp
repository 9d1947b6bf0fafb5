// Text broken into lines, its widths counted in characters (UTF-8 code points).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

size_t width_of(std::string_view text);

// A text as lines of at most `width` characters, from the second on set in by `hang`: broken at
// blanks, else behind what separates the parts of a name or a path.
std::vector<std::string> wrapped(std::string_view text, size_t width, size_t hang = 0);

// A text of several lines, of which none is longer than `width` characters where it can be broken;
// 0: as it is. What stands behind a label and two blanks goes on below itself, other lines are set
// in by two. A command is broken before its options, with the shell's backslash, so that it can
// still be copied; one option alone is never broken.
std::string wrapped_lines(std::string_view text, size_t width);

}  // namespace windtunnel
