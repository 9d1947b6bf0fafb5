// A program of subcommands: reads the command line, runs one of them, turns failures into messages
// and exit codes. The only place that does.
#pragma once

#include <string>
#include <vector>

#include "cli/program/command.hpp"
#include "traces/text/input_file.hpp"

namespace windtunnel {

// Every program's footer says it; it ends without a stop, as a program may have further codes.
inline constexpr const char* kExitCodes =
    "Exit codes: 0 ok, 1 the run or validation failed, 2 usage or scenario error";

struct CliProgram {
  const char* name;
  const char* description;
  std::string footer;  // of its help: examples and exit codes
  std::vector<Command> commands;
};

// Prints what may stand in place of the last of these words: what `__complete` does, the command
// that completion scripts of shells call and no help shows.
void print_completion(const CLI::App& app, const std::vector<std::string>& words);

// Prints what the manual says of a command and those below it. `__man COMMAND` does so: the core,
// which has no more than the command's name, asks its sibling program by it.
void print_manual(const CLI::App& app, const std::string& command);

// What main() returns.
int run_program(const CliProgram& program, int argc, char** argv);

// Environment variables that programs read, for their help and manual page.

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
// What the help of a program ends with.
std::string environment_help();

}  // namespace windtunnel
