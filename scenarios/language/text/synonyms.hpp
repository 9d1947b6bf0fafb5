// Words of other programs for our keys, names and schedules, so that an error can suggest ours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace windtunnel {

// Returns our word for another program's word, or else nearest_name().
std::string nearest_word(std::string_view name, const std::vector<std::string>& known);

// unknown_name() with synonyms: "unknown layout.sharding 'fsdp'; did you mean 'zero3'?"
std::string unknown_word(std::string_view noun, std::string_view name,
                         const std::vector<std::string>& known);

}  // namespace windtunnel
