// These are notes of a result about its scenario, for console, JSON and pages.
#pragma once

#include <string>
#include <vector>

#include "models/results/note.hpp"
#include "report/summary/comparison_columns.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

inline constexpr const char* kNotesTitle = "Notes";

// Each note once, and which points are the same job. A note that only some points have names them;
// if its figures differ between points, it says how many points have it instead.
std::vector<Note> notes_of(const Comparison& comparison);
// This is the sentence of the note with its figures, without the key.
std::string note_text(const Note& note);
std::vector<SummaryRow> note_rows(const std::vector<Note>& notes);

}  // namespace windtunnel
