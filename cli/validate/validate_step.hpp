// `windtunnel validate step`: a data-parallel step of an MLP run for real on this machine's cores,
// against its simulation.
#pragma once

#include "cli/validate/verdict.hpp"

namespace windtunnel {

// Adds the subcommand to `validate`.
ValidationCommand define_validate_step(CLI::App& validate);

}  // namespace windtunnel
