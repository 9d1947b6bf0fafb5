#include "report/figures/notes.hpp"

#include <algorithm>

namespace windtunnel {

std::vector<Note> notes_of(const Comparison& comparison) {
  std::vector<Note> notes;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record) continue;
    for (const Note& note : point.record->notes) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

std::vector<SummaryRow> note_rows(const std::vector<Note>& notes) {
  std::vector<SummaryRow> rows;
  for (const Note& note : notes) rows.push_back({note.key, note.text});
  return rows;
}

}  // namespace windtunnel
