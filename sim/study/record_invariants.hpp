// Relations that the figures of any record must satisfy: shares are between 0 and 1, parts add up
// to their whole, nothing is negative or not a number.
#pragma once

#include <string>
#include <vector>

#include "models/results/record.hpp"

namespace windtunnel {

inline constexpr double kInvariantRounding = 1e-9;  // tolerance of a sum, relative to its whole

// Each violation as a sentence with its figures; empty: none. Takes microseconds.
std::vector<std::string> broken_invariants(const Record& record);

// Reports the same as notes for readers of the result.
std::vector<Note> invariant_notes(const Record& record);

}  // namespace windtunnel
