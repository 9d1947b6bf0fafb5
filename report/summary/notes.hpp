// What a result says of the scenario besides its figures, as console, JSON and pages show it.
#pragma once

#include <string>
#include <vector>

#include "models/results/note.hpp"
#include "report/summary/comparison.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

inline constexpr const char* kNotesTitle = "Notes";

// Of all points that ran, each once, and which of them are the same job. Where their figures
// differ, those of the note say at how many points it holds.
std::vector<Note> notes_of(const Comparison& comparison);
// Its sentence with its figures, without the key.
std::string note_text(const Note& note);
std::vector<SummaryRow> note_rows(const std::vector<Note>& notes);

}  // namespace windtunnel
