// Parses --set KEY=VALUE and --vary KEY=A,B,C.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/language/case.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

// Throws Error if KEY or "=" is missing.
Overrides parse_overrides(const std::vector<std::string>& arguments);

// Commas outside of brackets, braces and quotes separate values; "all" alone means every name that
// the key knows (schedule, cluster.node, model, ...). For a numeric key, LO:HI:N means N evenly
// spaced values from LO to HI, and LO:HI:Nlog the same with equal factors: "5 min:4 h:20log". These
// values have six digits; for a key that takes whole numbers they are rounded and repeats are
// dropped. Throws Error if a value is empty, a bracket or quote is left open, a range is invalid,
// or a key is varied twice. Messages name `option`.
std::vector<VariedKey> parse_varied(const std::vector<std::string>& arguments,
                                    const std::string& option = "--vary");

// The command that runs a scenario with the user's settings and then the values found, which win if
// both set a key.
std::string run_line(const std::string& scenario, const std::vector<std::string>& set,
                     const Overrides& found);

}  // namespace windtunnel
