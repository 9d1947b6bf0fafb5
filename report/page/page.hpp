// The self-contained HTML page of one run, and the document that it is drawn from.
//
// The document (record.json in an output folder) contains everything that the page shows, so that
// `windtunnel report` can draw it again later: the run document, the summary lines, memory per
// pipeline rank and over time, the lost time, and the tracks of one iteration. `format` is the
// version of its layout.
#pragma once

#include <string>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

// Every folder of a run or a compare has this file.
inline constexpr const char* kRecordFile = "record.json";

struct PageOptions {
  int max_spans = 60000;  // of the Gantt chart; the page says how many ranks it omits
  // Ranks in memory over time and in the table of parts; the page says how many it omits.
  int max_curves = 64;
};

Json page_document(const Record& record, const PageOptions& options = {});

// Checks the parts that html_page() uses. Throws Error with the file's name if it is another
// document or format.
void check_page_document(const Json& document, const std::string& file);
// Parses and checks the text of a record.json.
Json parse_page_document(const std::string& text, const std::string& file);

// The input of a run, and the key of its case. Throws Error with the file's name.
struct MadeRecord {
  RecordSource source;
  std::string key;
};
MadeRecord made_record(const Json& document, const std::string& file);

// Converts a section to JSON and back. Throws Error for a row whose length differs from the head.
Json section_json(const SummarySection& section);
SummarySection section_of(const Json& json);

// The summary as stored under "summary", read back, and as HTML.
Json summary_json(const Answer& summary);
Answer summary_of(const Json& page_document);
std::string summary_html(const Answer& summary);

// The page with template, scripts and data in one file. It needs no network, and is readable
// without scripts.
std::string html_page(const Json& page_document);

}  // namespace windtunnel
