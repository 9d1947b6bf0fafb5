// Finds keys of a scenario that change no figure: each key is left out in turn, and it is reported
// if all figures stay as they were. Keys that a note of the record already names are left out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/results/record.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

// All figures of a record, bit by bit, with the memory that each pipeline rank has allocated: two
// records of which these are equal say the same.
std::vector<std::string> exact_figures(const Record& record);

// Whether one of these keys is the other, or a map in which the other stands.
bool are_nested(std::string_view a, std::string_view b);

// Whether a note is about this key, one above it or one below it.
bool tells_of(const std::vector<Note>& notes, const std::string& key);

// They share one note. `run` simulates a case. Keys that state what holds without them are not
// idle, nor are those without which there is no job.
std::vector<Note> idle_keys(const Case& the_case,
                            const std::function<Record(const Case& the_case)>& run);

}  // namespace windtunnel
