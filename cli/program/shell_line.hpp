// Quotes words for a shell, and runs commands for their output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace windtunnel {

// Quotes the text where a shell would split or change it.
std::string shell_word(std::string_view text);

// The output of the command on stdout; nothing if it fails.
std::optional<std::string> output_of(const std::string& command);

}  // namespace windtunnel
