// The page of a compare: a table of all points, Gantt charts of some of them on one time axis,
// memory over time, and the reasons of infeasible points. It is one self-contained file.
//
// The document (record.json in the output folder) contains everything that the page shows, so that
// `windtunnel report` can draw it again. `format` is the version of its layout.
#pragma once

#include <string>
#include <vector>

#include "report/json/json.hpp"
#include "report/summary/comparison_columns.hpp"

namespace windtunnel {

struct ComparisonPageOptions {
  size_t max_spans = 400000;  // of all charts together, about 15 bytes each
};
// The spans that each of `points` may have: drawing_of(record, {that}).
size_t spans_per_point(size_t points, const ComparisonPageOptions& options = {});

// The point's name on the page: "1f1b", or "layout.pp=8 schedule=1f1b" if several keys vary.
std::string point_name(const Overrides& set);

// [point] The same as the name of a folder, unique among the points. It begins with a letter or
// digit; characters other than these, '.', '_' and '=' become '-'.
std::vector<std::string> point_folders(const std::vector<Overrides>& points);

// `drawings`: [point] drawing_of() its record while that held its Plan; null without a record.
// `folders`: [point] the folder of its traces; empty if none were written.
Json comparison_document(const Comparison& comparison, const std::vector<Json>& drawings,
                         const std::vector<std::string>& folders);

bool is_comparison_document(const Json& document);
// Checks the parts that comparison_page() uses. Throws Error with the file's name.
void check_comparison_document(const Json& document, const std::string& file);

// The table and the reasons are readable without scripts.
std::string comparison_page(const Json& document);

}  // namespace windtunnel
