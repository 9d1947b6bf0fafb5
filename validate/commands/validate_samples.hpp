// `windtunnel validate samples`: what a calibration measured to be predicted, against its laws.
#pragma once

#include "validate/commands/calibrate_kernels.hpp"
#include "validate/commands/verdict.hpp"

namespace windtunnel {

// Adds the subcommand to `validate`; it takes --page where there is one.
ValidationCommand define_validate_samples(CLI::App& validate, const SamplesPage& page_of = {});

}  // namespace windtunnel
