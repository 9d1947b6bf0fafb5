// The JSON documents of the command line. Their keys and order are a contract with scripts. The
// same input gives the same bytes, so timings of the simulator itself appear only on request. Units
// are seconds, bytes and FLOP/s; a value that is not known or not finite is null.
//
// docs/reference/json.md explains each part, and when it is null.
#pragma once

#include "models/results/company_report.hpp"
#include "models/results/record.hpp"
#include "report/figures/figures.hpp"
#include "report/figures/shown_studies.hpp"
#include "report/summary/comparison_columns.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

// `campaign` is null if the scenario has none; `timing` exists only with `with_timing`.
Json run_document(const Record& record, bool with_timing);

// The part `campaign` of the run document, which is all that a sweep keeps.
Json campaign_json(const Record& record);
// Adds the parts of the studies that the record has, under their keys.
void place_studies(Json& document, const Record& record, StudyRole role);
// Adds all figures of the record whose key begins with `part`, at their paths.
void place_figures(Json& document, const Record& record, std::string_view part);

Json estimate_json(const Estimate& estimate);     // null if the mean is not finite
Json parameter_json(const Parameter& parameter);  // {value, low, high, origin, source}
Json set_json(const Overrides& set);
// Pairs, not an object: the order counts, and a key may be set twice.
Json overrides_json(const Overrides& overrides);
Overrides overrides_of(const Json& pairs);

Json notes_json(const std::vector<Note>& notes);  // [{"key", "text"}]

// [{"name", "hash", "text" | null}], and back.
Json files_json(const std::vector<NamedFile>& files);
std::vector<NamedFile> files_of(const Json& json);

// {"version", "commit", "file", "scenario", "set": [[key, value]], "files", "allow_oom"}, and back:
// the input from which `windtunnel run` can make a record again. Older records lack the last two.
Json source_json(const RecordSource& source);
RecordSource source_of(const Json& json);

// {"key", "title", "unit", "better", "help", "origin"}
Json figure_json(const Figure& figure);
// The rules by which scripts of the pages write figures: {"units": {name: {"scales": [{"from",
// "factor", "unit", "decimals"}], "times", "zero"}}, "range", "estimate", "interval",
// "shown_share", "groups": {key: title}, "figures": [...]}. models/base/text_form.hpp explains
// negative decimals.
Json presentation_json();

// {"points": [{"set", "result"}], "infeasible": [{"set", "reason"}]}
Json compare_document(const Comparison& comparison, bool with_timing);

// This is the document of several jobs side by side: docs/reference/json.md.

Json company_document(const CompanyReport& report, bool with_timing);

}  // namespace windtunnel
