// The self-contained HTML page of one run, and the document it is drawn from.
//
// The document (record.json in an output folder) holds all that the page shows, so that
// `windtunnel report` can draw it again later: the run document, the summary lines, memory per
// pipeline rank and over time, the lost time, and the tracks of one iteration. Its layout is
// versioned by `format`.
#pragma once

#include <string>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

// Every folder of a run or a compare has it.
inline constexpr const char* kRecordFile = "record.json";

struct PageOptions {
  int max_spans = 60000;  // of the Gantt chart; further ranks are left out and the page says so
  int max_curves = 64;    // of memory over time, and ranks of the table of parts; likewise
};

Json page_document(const Record& record, const PageOptions& options = {});

// Checks what html_page relies on. Throws Error with the file's name when it is no such document or
// of another format.
void check_page_document(const Json& document, const std::string& file);
// The same of the text of a record.json.
Json parse_page_document(const std::string& text, const std::string& file);

// What the run was made from, and the key of its case. Throws Error with the file's name.
struct MadeRecord {
  RecordSource source;
  std::string key;
};
MadeRecord made_record(const Json& document, const std::string& file);

// A section of a document, there and back. Throws Error for a row of another length than the head.
Json section_json(const SummarySection& section);
SummarySection section_of(const Json& json);

// The summary that the document holds under "summary", as what, and as the page shows it.
Json summary_json(const Answer& summary);
Answer summary_of(const Json& page_document);
std::string summary_html(const Answer& summary);

// The page: template, bundle and data in one file; opens without network, readable without scripts.
std::string html_page(const Json& page_document);

}  // namespace windtunnel
