// Runs a program of subcommands: reads the command line, runs one command, and turns failures into
// messages and exit codes. No other code does that.
#pragma once

#include <string>
#include <vector>

#include "cli/program/command.hpp"
#include "traces/text/input_file.hpp"

namespace windtunnel {

// For every program's footer. It has no full stop, because a program may add further codes.
inline constexpr const char* kExitCodes =
    "Exit codes: 0 ok, 1 the run or validation failed, 2 usage or scenario error";

struct CliProgram {
  const char* name;
  const char* description;
  std::string footer;  // of the help: examples and exit codes
  std::vector<Command> commands;
};

// Prints completions of the last of these words, for the hidden command `__complete` that
// completion scripts of shells call.
void print_completion(const CLI::App& app, const std::vector<std::string>& words);

// Prints the manual's section on a command and its subcommands, for the hidden command `__man
// COMMAND`. The core, which knows only the names of its sibling's commands, asks the sibling for
// it.
void print_manual(const CLI::App& app, const std::string& command);

// Returns the exit code of main().
int run_program(const CliProgram& program, int argc, char** argv);

// Environment variables that the programs read, for help and manual page.

struct EnvironmentVariable {
  const char* name;
  const char* help;
};

inline constexpr EnvironmentVariable kEnvironment[] = {
    {kFileLimitVariable,
     "how much of a file is held in memory at most (default: scenarios 16MiB, tables 1GiB)"},
    {"NO_COLOR", "if set, no text is bold"},
    {"COLUMNS", "width of tables, instead of the terminal's"},
};

inline constexpr const char* kEnvironmentTitle = "\nEnvironment:\n";
// The section at the end of a program's help.
std::string environment_help();

}  // namespace windtunnel
