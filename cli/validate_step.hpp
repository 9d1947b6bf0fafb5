// `windtunnel validate step`: a data-parallel step of an MLP run for real on this machine's cores,
// against its simulation.
#pragma once

#include "cli/command.hpp"

namespace windtunnel {

struct StepValidation {
  CLI::App* command;
  Handler run;
};
// Adds the subcommand to `validate`.
StepValidation define_validate_step(CLI::App& validate);

}  // namespace windtunnel
