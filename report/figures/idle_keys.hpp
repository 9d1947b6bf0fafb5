// Finds keys of a scenario that change no figure: leaves out each key in turn and compares all
// figures. Keys that a note of the record already names are skipped.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/results/record.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

// All figures of a record with exact digits, and the memory that each pipeline rank has allocated.
// Two records with equal lists have the same results.
std::vector<std::string> exact_figures(const Record& record);

// Whether the keys are equal, or one is a map that contains the other.
bool are_nested(std::string_view a, std::string_view b);

// Whether a note is about this key, a key above it or a key below it.
bool tells_of(const std::vector<Note>& notes, const std::string& key);

// Returns one note for all idle keys. `run` simulates a case. A key that states its default is not
// idle, nor is a key without which there is no job.
std::vector<Note> idle_keys(const Case& the_case,
                            const std::function<Record(const Case& the_case)>& run);

}  // namespace windtunnel
