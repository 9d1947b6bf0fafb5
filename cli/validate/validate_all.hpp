// windtunnel validate all: files of any kind at once, each kind judged with its defaults, and one
// table of what they come to.
#pragma once

#include "cli/validate/verdict.hpp"

namespace windtunnel {

ValidationCommand define_validate_all(CLI::App& app);

}  // namespace windtunnel
