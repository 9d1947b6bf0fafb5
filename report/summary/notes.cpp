#include "report/summary/notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "report/figures/figures.hpp"

namespace windtunnel {

namespace {

struct Said {
  Note note;
  std::vector<std::string> points = {};  // names of the points that have the note
  bool alike = true;                     // the note's figures are equal at all of them
};

// These are all figures of a record with all digits.
std::string all_figures(const Record& record) {
  std::string text;
  for (const Figure& each : figures()) {
    text += fmt::format("{} {};", each.text(record), number_of(each.of(record)));
  }
  return text;
}

std::string name_of(const Overrides& set) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : set) parts.push_back(fmt::format("{}={}", key, value));
  return fmt::format("{}", fmt::join(parts, " "));
}

// Groups points with equal figures: what varies between them has no effect.
std::vector<Note> same_jobs(const Comparison& comparison) {
  // [all figures] names of points.
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record) continue;
    const std::string of_point = all_figures(*point.record);
    auto group = std::ranges::find(groups, of_point, [](const auto& at) { return at.first; });
    if (group == groups.end()) group = groups.insert(group, {of_point, {}});
    group->second.push_back(name_of(point.set));
  }
  std::vector<Note> notes;
  for (const auto& [of_points, names] : groups) {
    if (names.size() < 2) continue;
    notes.push_back({"comparison", fmt::format("these points have the same figures: {}",
                                               fmt::join(names, "; "))});
  }
  return notes;
}

// Names the points that have the note; empty if all points that ran have it with the same figures.
std::string where_said(const Said& said, std::size_t ran) {
  constexpr std::size_t kFew = 2, kShort = 60;
  if (said.alike && said.points.size() == ran) return "";
  std::string names = fmt::format("at {}", fmt::join(said.points, ", "));
  if (said.points.size() <= kFew && said.points.size() < ran && names.size() <= kShort) {
    return names;
  }
  return fmt::format("at {} of {} points", said.points.size(), ran);
}

}  // namespace

std::vector<Note> notes_of(const Comparison& comparison) {
  std::vector<Said> all;
  std::size_t ran = 0;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record) continue;
    ++ran;
    for (const Note& note : point.record->notes) {
      auto said = std::ranges::find_if(all, [&](const Said& one) {
        return one.note.key == note.key && one.note.text == note.text;
      });
      if (said == all.end()) said = all.insert(said, {note});
      said->points.push_back(name_of(point.set));
      said->alike = said->alike && said->note.figures == note.figures;
    }
  }
  std::vector<Note> notes = same_jobs(comparison);
  for (Said& said : all) {
    const std::string where = where_said(said, ran);
    if (!said.alike || said.note.figures.empty()) {
      said.note.figures = where;
    } else if (!where.empty()) {
      said.note.figures += ", " + where;
    }
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
