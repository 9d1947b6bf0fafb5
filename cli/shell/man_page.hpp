// The manual page of a program, as man(7) of groff and mandoc reads it.
#pragma once

#include <functional>
#include <string>

#include "cli/shell/command_tree.hpp"

namespace windtunnel {

// `build`: version and commit, for the page's foot. `elsewhere` gives the text of a command that is
// in the sibling program.
using ManualOf = std::function<std::string(const std::string& command)>;
std::string man_page(const CommandPage& program, const std::string& build,
                     const ManualOf& elsewhere);

// What the page says of a command and those below it.
std::string command_manual(const CommandPage& command);

}  // namespace windtunnel
