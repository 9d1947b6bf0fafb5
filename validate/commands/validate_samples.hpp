// `windtunnel validate samples`: compares judging samples of a calibration with its laws.
#pragma once

#include "validate/commands/calibrate_kernels.hpp"
#include "validate/commands/verdict.hpp"

namespace windtunnel {

// Adds the subcommand to `validate`, with --page if `page_of` is set.
ValidationCommand define_validate_samples(CLI::App& validate, const SamplesPage& page_of = {});

}  // namespace windtunnel
