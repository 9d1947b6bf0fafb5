// What $((...)) of a shell comes to, where it is made of whole numbers alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace windtunnel {

// "8 * (4 - 1)" is 24; a quotient is cut to a whole number. Nothing: the text is of another form,
// divides by 0, or is larger than any count in a script.
std::optional<std::int64_t> shell_arithmetic(std::string_view text);

}  // namespace windtunnel
