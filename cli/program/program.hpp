// A program of subcommands: reads the command line, runs one of them, turns failures into messages
// and exit codes. The only place that does.
#pragma once

#include "cli/program/command.hpp"

namespace windtunnel {

struct CliProgram {
  const char* name;
  const char* description;
  const char* footer;  // of its help: examples and exit codes
  std::vector<Command> commands;
};

// Prints what may stand in place of the last of these words: what `__complete` does, the command
// that completion scripts of shells call and no help shows.
void print_completion(const CLI::App& app, const std::vector<std::string>& words);

// Prints what the manual says of a command and those below it: what `__man` does, by which the
// program that has no more than the command's name asks for it.
void print_manual(const CLI::App& app, const std::string& command);

// What main() returns.
int run_program(const CliProgram& program, int argc, char** argv);

}  // namespace windtunnel
