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

// What main() returns.
int run_program(const CliProgram& program, int argc, char** argv);

}  // namespace windtunnel
