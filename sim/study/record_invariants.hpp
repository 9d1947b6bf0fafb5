// Relations that the figures of any record must satisfy: shares are between 0 and 1, parts add up
// to their whole, and nothing is negative or not a number.
#pragma once

#include <string>
#include <vector>

#include "models/results/record.hpp"

namespace windtunnel {

inline constexpr double kInvariantRounding = 1e-9;  // tolerance of a sum, relative to the whole

// Returns each violation as a sentence with its figures; empty: there are none. Takes microseconds.
std::vector<std::string> broken_invariants(const Record& record);

// Returns the violations as notes for readers of the result.
std::vector<Note> invariant_notes(const Record& record);

}  // namespace windtunnel
