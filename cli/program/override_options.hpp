// --set KEY=VALUE and --vary KEY=A,B,C as given on the command line.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/language/case.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

// Throws Error when there is no KEY or no "=".
Overrides parse_overrides(const std::vector<std::string>& arguments);

// Values are separated by commas outside of brackets, braces and quotes; "all" alone stands for
// every name that the key knows (schedule, cluster.node, model, ...). Of a key that takes numbers,
// LO:HI:N stands for N values from LO to HI, evenly spaced, and LO:HI:Nlog for as many by equal
// factors: "5 min:4 h:20log"; six digits each, whole numbers once where the key takes only those.
// Throws Error when a value is empty, a bracket or quote is left open, a range cannot be, or a key
// is varied twice. Messages name `option`.
std::vector<VariedKey> parse_varied(const std::vector<std::string>& arguments,
                                    const std::string& option = "--vary");

// The command that runs a scenario with what the user set, then what was found, which counts where
// both name a key.
std::string run_line(const std::string& scenario, const std::vector<std::string>& set,
                     const Overrides& found);

}  // namespace windtunnel
