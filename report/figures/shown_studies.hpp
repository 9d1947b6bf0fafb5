// How results show studies (sim/study/studies.hpp): figures, sections of the summary, columns, part
// of the JSON documents. Each study has a row in a file of its own; studies.cpp lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/figures/figures.hpp"
#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

// A study beside a job adds to the job's results. A leading study contains the job as a part; it is
// shown before the job's step, and the days and costs of the job alone are not shown.
enum class StudyRole { beside, leading };

struct ShownStudy {
  std::string_view key;  // prefix of its figures' keys, and its part of the run document
  bool (*is_in)(const Record& record);
  std::vector<Figure> (*figures)();
  // The next two are called only for a record that has the study.
  std::vector<SummarySection> (*sections)(const Record& record);
  // Adds values that are not figures to its part of a document; null: there are none.
  void (*add_json)(const Record& record, Json& part) = nullptr;
  // These are figures in a comparison of such records; empty: those with a value at some point.
  std::vector<std::string_view> columns = {};
  std::vector<std::string_view> sweep_columns = {};
  std::vector<std::string_view> key_figures = {};  // in a summary
  StudyRole role = StudyRole::beside;
  std::string_view ranking = {};  // of a leading study: the figure that ranks points
};

std::span<const ShownStudy> shown_studies(StudyRole role);
std::span<const ShownStudy> shown_studies();  // all, those beside a job first
// Null: the record has none.
const ShownStudy* leading_study(const Record& record);

// Each is defined in a file of its own.
ShownStudy shown_volunteers();
ShownStudy shown_fused();
ShownStudy shown_power();
ShownStudy shown_rollout();

// Adds a row for each figure below `prefix` whose `text` is not empty.
void add_figures(const Record& record, std::string_view prefix, SummarySection& section,
                 std::string (*text)(const Figure& figure, const Record& record));
std::string plain_text(const Figure& figure, const Record& record);  // returns Figure::text

}  // namespace windtunnel
