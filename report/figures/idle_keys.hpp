// Keys that a scenario states and of which no figure comes: each is left out in turn, and whatever
// then stays as it was is told. What the notes of a record say anyway is not said again.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/results/record.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

// Figures of a record, bit by bit, and the memory of each pipeline rank.
std::vector<std::string> exact_figures(const Record& record);

// Whether a note is about this key, one above it or one below it.
bool tells_of(const std::vector<Note>& notes, const std::string& key);

// One note for all of them. `run` simulates a case. Keys that state what holds without them are not
// idle, nor are those without which there is no job.
std::vector<Note> idle_keys(const Case& the_case,
                            const std::function<Record(const Case& the_case)>& run);

}  // namespace windtunnel
