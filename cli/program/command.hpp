// The subcommands: one file each, listed in one table in main.cpp or validate_main.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/program/command_line.hpp"
#include "models/base/error.hpp"

namespace windtunnel {

// Runs a command after its options have been read.
using Handler = std::function<ExitCode()>;

struct Command {
  const char* name;
  const char* help;
  // Adds the command's options to its parser and returns the handler. Empty: the command is in the
  // sibling program (sibling.hpp).
  std::function<Handler(const CommandLine& app)> define;
  const char* alias = "";  // another name
};

// Prints the answer of `windtunnel list WHAT`.
ExitCode print_listing(const std::string& what, bool json);

Handler define_run(const CommandLine& app);
Handler define_compare(const CommandLine& app);
Handler define_diagnose(const CommandLine& app);
Handler define_sweep(const CommandLine& app);
Handler define_optimise(const CommandLine& app);
Handler define_expect(const CommandLine& app);
Handler define_import(CLI::App& app);
Handler define_init(CLI::App& app);
Handler define_plan(CLI::App& app);
Handler define_serve(const CommandLine& app);
Handler define_list(const CommandLine& app);
Handler define_schema(const CommandLine& app);
Handler define_report(const CommandLine& app);
Handler define_schedule(const CommandLine& app);
Handler define_trace(const CommandLine& app);
Handler define_mcp(CLI::App& app);
Handler define_completion(CLI::App& app);
Handler define_man(CLI::App& app);

}  // namespace windtunnel
