// Files of measured rows, each recognised by its header: those of one kind judged as its own
// command does, those of several with the defaults of each, and one table of what they come to.
#pragma once

#include "cli/validate/validations.hpp"

namespace windtunnel {

// windtunnel validate FILE...; `app` knows which options were given.
ExitCode validate_files(const CLI::App& app, const ValidateOptions& options);

ValidationCommand define_validate_all(CLI::App& app);

}  // namespace windtunnel
