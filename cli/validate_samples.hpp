// `windtunnel validate samples`: what a calibration measured to be predicted, against its laws.
#pragma once

#include "cli/command.hpp"

namespace windtunnel {

// Adds the subcommand to `validate`.
struct SampleValidation {
  CLI::App* command;
  Handler run;
};
SampleValidation define_validate_samples(CLI::App& validate);

}  // namespace windtunnel
