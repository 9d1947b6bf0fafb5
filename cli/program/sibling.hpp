// The commands of windtunnel that measure and judge. They are in a program of their own beside it,
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
    {"execute", "run its tasks for real, in processes of this machine, against the simulation"},
    {"validate", "predicted against measured"},
    {"calibrate", "fit the cost models to measured step times"},
});

// Ends this program and runs the sibling with the same arguments. Throws Error (usage) if it is not
// there; it is not looked for elsewhere, where it may be of another build and answer differently.
[[noreturn]] void become_sibling(const std::string& command, char** argv);

// What the manual says of one of its commands and those below it; empty if it is not there.
std::string sibling_manual(const std::string& command);

}  // namespace windtunnel
