#include "report/summary/notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace windtunnel {

namespace {

struct Said {
  Note note;
  int points = 0;
  bool alike = true;
};

}  // namespace

std::vector<Note> notes_of(const Comparison& comparison) {
  std::vector<Said> all;
  int ran = 0;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record) continue;
    ++ran;
    for (const Note& note : point.record->notes) {
      auto said = std::ranges::find_if(all, [&](const Said& one) {
        return one.note.key == note.key && one.note.text == note.text;
      });
      if (said == all.end()) said = all.insert(said, {note});
      ++said->points;
      said->alike = said->alike && said->note.figures == note.figures;
    }
  }
  std::vector<Note> notes;
  for (Said& said : all) {
    if (!said.alike) said.note.figures = fmt::format("at {} of {} points", said.points, ran);
    notes.push_back(std::move(said.note));
  }
  return notes;
}

std::string note_text(const Note& note) {
  return note.figures.empty() ? note.text : fmt::format("{}: {}", note.text, note.figures);
}

std::vector<SummaryRow> note_rows(const std::vector<Note>& notes) {
  std::vector<SummaryRow> rows;
  for (const Note& note : notes) rows.push_back({note.key, note_text(note)});
  return rows;
}

}  // namespace windtunnel
