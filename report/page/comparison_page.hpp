// The page of a compare: a table of all points, Gantt charts of some of them on one time axis,
// memory over time, and the reasons of those that are not feasible. One self-contained file.
//
// The document (record.json in the output folder) holds all that the page shows, so that
// `windtunnel report` can draw it again. Its layout is versioned by `format`.
#pragma once

#include <string>
#include <vector>

#include "report/json/json.hpp"
#include "report/summary/comparison.hpp"

namespace windtunnel {

struct ComparisonPageOptions {
  size_t max_spans = 400000;  // of all charts together, some 15 bytes each
};
// What each of `points` may have of them: drawing_of(record, {that}).
size_t spans_per_point(size_t points, const ComparisonPageOptions& options = {});

// What the page calls the point: "1f1b", or with several varied keys "layout.pp=8 schedule=1f1b".
std::string point_name(const Overrides& set);

// The same as the name of a folder, unique among the points: begins with a letter or digit; other
// than these, '.', '_' and '=' become '-'. [point]
std::vector<std::string> point_folders(const std::vector<Overrides>& points);

// `drawings` are drawing_of() of each point's record while it held its Plan, null without a record;
// `folders` the places of their traces, empty where none was written.
Json comparison_document(const Comparison& comparison, const std::vector<Json>& drawings,
                         const std::vector<std::string>& folders);

bool is_comparison_document(const Json& document);
// Checks what comparison_page relies on. Throws Error with the file's name.
void check_comparison_document(const Json& document, const std::string& file);

// The table and the reasons are readable without scripts.
std::string comparison_page(const Json& document);

}  // namespace windtunnel
