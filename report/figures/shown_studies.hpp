// What results show of studies (sim/study/studies.hpp): figures, sections of the summary, columns,
// part of the JSON documents. A row for each study, in a file of its own; studies.cpp lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/figures/figures.hpp"
#include "report/text/answer.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

// A study beside a job tells more of it. A leading study is what the job is for, and the job a part
// of what it studies; so it is shown before the job's step, and the job's own days and costs are
// not shown.
enum class StudyRole { beside, leading };

struct ShownStudy {
  std::string_view key;  // the keys of its figures begin so; its part of the run document
  bool (*is_in)(const Record& record);
  std::vector<Figure> (*figures)();
  // The next two are asked of a record that it is in.
  std::vector<SummarySection> (*sections)(const Record& record);
  // Adds to its part of a document what its figures do not say; null: nothing.
  void (*add_json)(const Record& record, Json& part) = nullptr;
  // Figures in a comparison of such records; empty: those that some point has a value of.
  std::vector<std::string_view> columns = {};
  std::vector<std::string_view> sweep_columns = {};
  std::vector<std::string_view> key_figures = {};  // of a summary
  StudyRole role = StudyRole::beside;
  std::string_view ranking = {};  // of a study that leads: the figure that ranks points
};

std::span<const ShownStudy> shown_studies(StudyRole role);
std::span<const ShownStudy> shown_studies();  // all: those beside a job first
// Null: none is in the record.
const ShownStudy* leading_study(const Record& record);

// Each row stands in its file.
ShownStudy shown_volunteers();
ShownStudy shown_fused();
ShownStudy shown_power();
ShownStudy shown_rollout();

// A row for each figure below `prefix` whose `text` is not empty.
void add_figures(const Record& record, std::string_view prefix, SummarySection& section,
                 std::string (*text)(const Figure& figure, const Record& record));
std::string plain_text(const Figure& figure, const Record& record);  // Figure::text

}  // namespace windtunnel
