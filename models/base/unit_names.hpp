// Whether a word is the unit of some dimension.
#pragma once

#include <string_view>

namespace windtunnel {

bool is_unit_name(std::string_view word);  // "GiB/s", "T", "%"

}  // namespace windtunnel
