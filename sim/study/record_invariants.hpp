// What the figures of a record owe each other, whatever the job: shares that are shares, parts that
// add up to their whole, nothing negative, nothing that is no number.
#pragma once

#include <string>
#include <vector>

#include "models/results/record.hpp"

namespace windtunnel {

inline constexpr double kInvariantRounding = 1e-9;  // of a sum, beside its whole

// Each one that does not hold as a sentence with its figures; none: all hold. Takes microseconds.
std::vector<std::string> broken_invariants(const Record& record);

// The same as a note for who reads the result; none where all hold.
std::vector<Note> invariant_notes(const Record& record);

}  // namespace windtunnel
