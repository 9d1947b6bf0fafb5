// Writes the manual page of a program in the man(7) format of groff and mandoc.
#pragma once

#include <functional>
#include <string>

#include "cli/shell/command_tree.hpp"

namespace windtunnel {

// `build` is version and commit, for the page's footer. `elsewhere` returns the text about a
// command of the sibling program.
using ManualOf = std::function<std::string(const std::string& command)>;
std::string man_page(const CommandPage& program, const std::string& build,
                     const ManualOf& elsewhere);

// The page's section on a command and its subcommands.
std::string command_manual(const CommandPage& command);

}  // namespace windtunnel
