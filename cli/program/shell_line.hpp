// Command lines of a shell: how a word is written there, and what a command answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace windtunnel {

// As a shell reads it as one word: quoted where it has to be.
std::string shell_word(std::string_view text);

// What the command says on stdout; nothing when it failed.
std::optional<std::string> output_of(const std::string& command);

}  // namespace windtunnel
