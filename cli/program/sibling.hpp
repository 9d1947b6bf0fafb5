// The commands of windtunnel that measure and judge are in a second program in the same folder,
// windtunnel-validate, so that the core is built and used without them.
#pragma once

#include <array>
#include <string>

#include "cli/program/command.hpp"

namespace windtunnel {

struct CommandName {
  const char* name;
  const char* help;
};

// In the order of the help.
inline constexpr std::array kSiblingCommands = std::to_array<CommandName>({
    {"execute",
     "run the tasks of a scenario for real, in processes of this machine, and compare with the "
     "simulation"},
    {"validate", "compare predictions with measured rows"},
    {"calibrate", "fit the cost models to measured step times"},
});

// Replaces this program by the sibling with the same arguments. Throws Error (usage) if it is
// missing from this program's folder. Other folders are not searched: a sibling of another build
// could answer differently.
[[noreturn]] void become_sibling(const std::string& command, char** argv);

// The manual's section on a sibling's command and its subcommands; empty if the sibling is missing.
std::string sibling_manual(const std::string& command);

}  // namespace windtunnel
