// The manual page of a program, as man(7) of groff and mandoc reads it.
#pragma once

#include <string>

#include "cli/shell/command_tree.hpp"

namespace windtunnel {

// `build`: version and commit, for the page's foot.
std::string man_page(const CommandPage& program, const std::string& build);

}  // namespace windtunnel
