// The value of a shell's $((...)) that consists of whole numbers alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace windtunnel {

// "8 * (4 - 1)" is 24; division truncates. Nothing if the text has another form, divides by 0, or
// exceeds any count in a script.
std::optional<std::int64_t> shell_arithmetic(std::string_view text);

}  // namespace windtunnel
