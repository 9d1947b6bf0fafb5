// `windtunnel validate samples`: what a calibration measured to be predicted, against its laws.
#pragma once

#include "cli/validate/verdict.hpp"

namespace windtunnel {

// Adds the subcommand to `validate`.
ValidationCommand define_validate_samples(CLI::App& validate);

}  // namespace windtunnel
