// Environment variables that the programs read, for help and manual page.
#pragma once

#include <string>

#include "traces/text/input_file.hpp"

namespace windtunnel {

struct EnvironmentVariable {
  const char* name;
  const char* help;
};

inline constexpr EnvironmentVariable kEnvironment[] = {
    {kFileLimitVariable, "what is held of a file at most (else: scenarios 16MiB, tables 1GiB)"},
    {"NO_COLOR", "set to anything: nothing is bold"},
    {"COLUMNS", "the width that tables fit, in place of the terminal's"},
};

inline constexpr const char* kEnvironmentTitle = "\nEnvironment:\n";
// The section at the end of a program's help.
std::string environment_help();

}  // namespace windtunnel
