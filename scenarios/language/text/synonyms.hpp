// What other programs call a key, a name or a schedule of ours, so that an error about it can say
// which one is meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

// nearest_name(), or what another program's word means.
std::string nearest_word(std::string_view name, const std::vector<std::string>& known);

// unknown_name() likewise: "unknown layout.sharding 'fsdp'; did you mean 'zero3'?"
std::string unknown_word(std::string_view noun, std::string_view name,
                         const std::vector<std::string>& known);

}  // namespace windtunnel
