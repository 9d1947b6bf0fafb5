// What a shell completes the program's commands by, for bash, zsh and fish: commands, options,
// names that an option knows, scenario files, and the keys of scenarios with the names that they
// take. The script is complete in itself: it does not run the program.
#pragma once

#include <string>

#include "cli/shell/command_tree.hpp"

namespace windtunnel {

std::string bash_completion(const CommandPage& program);
std::string zsh_completion(const CommandPage& program);
std::string fish_completion(const CommandPage& program);

}  // namespace windtunnel
