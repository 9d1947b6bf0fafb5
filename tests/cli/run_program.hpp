// Runs the built program in the project's folder and captures its output.
#pragma once

#include <string>

namespace windtunnel {

struct ProgramResult {
  int exit_code = -1;
  std::string out;  // stdout
  std::string err;  // stderr
};

// Runs the program; `arguments` are quoted as in a shell.
ProgramResult run_program(const std::string& arguments);

ProgramResult run_program_of(const std::string& program, const std::string& arguments);

// Returns whether the program that has this command is built; `arguments` begin with the command.
bool is_built(const std::string& arguments);

// Makes an empty folder for one test and returns its path.
std::string scratch_folder(const std::string& name);

std::string read_text(const std::string& path);

}  // namespace windtunnel
