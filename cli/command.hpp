// The subcommands: one file each, listed in one table in main.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

// What a command does once its options have been read.
using Action = std::function<ExitCode()>;

struct Command {
  const char* name;
  const char* help;
  // Adds the command's options to its parser and returns what to do with them.
  Action (*define)(CLI::App& app);
};

Action define_run(CLI::App& app);
Action define_compare(CLI::App& app);
Action define_list(CLI::App& app);
Action define_schema(CLI::App& app);
Action define_report(CLI::App& app);
Action define_validate(CLI::App& app);
Action define_trace(CLI::App& app);
Action define_calibrate(CLI::App& app);

const char* program_version();  // "0.1.0"

}  // namespace windtunnel
