// The subcommands: one file each, listed in one table in main.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "models/base/error.hpp"

namespace windtunnel {

// What a command does once its options have been read.
using Handler = std::function<ExitCode()>;

struct Command {
  const char* name;
  const char* help;
  // Adds the command's options to its parser and returns what to do with them.
  Handler (*define)(CLI::App& app);
};

// What the help of a command ends with: itself with these arguments.
void add_example(CLI::App& app, const std::string& arguments);

// --page FILE.html: where the answer goes as a page, too.
void add_page_option(CLI::App& app, std::string& file);

// What `windtunnel list WHAT` prints.
ExitCode print_listing(const std::string& what, bool json);

Handler define_run(CLI::App& app);
Handler define_compare(CLI::App& app);
Handler define_sweep(CLI::App& app);
Handler define_optimise(CLI::App& app);
Handler define_init(CLI::App& app);
Handler define_plan(CLI::App& app);
Handler define_serve(CLI::App& app);
Handler define_list(CLI::App& app);
Handler define_schema(CLI::App& app);
Handler define_report(CLI::App& app);
Handler define_execute(CLI::App& app);
Handler define_validate(CLI::App& app);
Handler define_schedule(CLI::App& app);
Handler define_trace(CLI::App& app);
Handler define_calibrate(CLI::App& app);
Handler define_completion(CLI::App& app);
Handler define_man(CLI::App& app);

// CLI::Range, which lets "nan" pass.
CLI::Validator number_in(double low, double high);

// CLI::IsMember, which does not say what was meant.
CLI::Validator one_of(const std::string& noun, const std::vector<std::string>& names);

}  // namespace windtunnel
