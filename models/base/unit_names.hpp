// Whether a word is a unit that some quantity has.
#pragma once

#include <string_view>

namespace windtunnel {

bool is_unit_name(std::string_view word);  // "GiB/s", "T", "%"

}  // namespace windtunnel
