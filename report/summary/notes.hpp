// What a result says of the scenario besides its figures, as console, JSON and pages show it.
#pragma once

#include <string>
#include <vector>

#include "models/results/note.hpp"
#include "report/summary/comparison.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

inline constexpr const char* kNotesTitle = "Notes";

// Each note once, and which points are the same job. A note that not all points have says where it
// holds; where its figures differ between points, it says at how many instead.
std::vector<Note> notes_of(const Comparison& comparison);
// Its sentence with its figures, without the key.
std::string note_text(const Note& note);
std::vector<SummaryRow> note_rows(const std::vector<Note>& notes);

}  // namespace windtunnel
