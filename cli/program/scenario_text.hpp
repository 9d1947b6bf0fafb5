// A scenario as a command names it: a file of YAML, or the record.json of an earlier run, which
// holds the text that it was made from and what was set.
#pragma once

#include <string>

#include "scenarios/language/case.hpp"

namespace windtunnel {

// `set` comes on top of what a record was made with. The case's file is absolute, so that its
// record can be made again from anywhere. Throws Error as load_case does.
Case load_scenario(const std::string& path, const Overrides& set);

}  // namespace windtunnel
