// The commands of windtunnel-validate, and subcommands of `windtunnel validate` that stand in files
// of their own; each function adds one.
#pragma once

#include "cli/program/command.hpp"
#include "validate/commands/validations.hpp"

namespace windtunnel {

Handler define_execute(const CommandLine& app);
Handler define_validate(CLI::App& app);
Handler define_calibrate(const CommandLine& app);

// What --fail-above bounds where files may be of any kind, as add_verdict says it.
inline constexpr const char* kBoundOfAnyKind =
    "a family, or for fault points the share of the values outside their range,";

// windtunnel validate FILE...: files of measured rows, each recognised by its header, those of one
// kind judged as its own command does and those of several with the defaults of each. `app` knows
// which options were given.
ExitCode validate_files(const CLI::App& app, const ValidateOptions& options);

// `all`: files of any kind at once, each kind judged with its defaults, and one table of results.
ValidationCommand define_validate_all(CLI::App& validate);

// `execution`: plans of scenarios run for real on this machine, against their simulation with the
// overheads of this machine, which are measured on other plans beforehand.
ValidationCommand define_validate_execution(CLI::App& validate);

}  // namespace windtunnel
