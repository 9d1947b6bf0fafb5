// `windtunnel validate execution`: plans of scenarios run for real on this machine, against their
// simulation with this machine's overheads, which are measured on other plans beforehand.
#pragma once

#include "cli/validate/verdict.hpp"

namespace windtunnel {

ValidationCommand define_validate_execution(CLI::App& validate);

}  // namespace windtunnel
