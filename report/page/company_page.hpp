// The page of several jobs on one cluster: what the summary says, and each job's step alone and
// together as bars. One self-contained file that needs no script.
//
// The document (record.json in the output folder) holds all that the page shows, so that
// `windtunnel report` can draw it again. Its layout is versioned by `format`.
#pragma once

#include <string>

#include "models/results/company_report.hpp"
#include "report/json/json.hpp"

namespace windtunnel {

Json company_page_document(const CompanyReport& report);

bool is_company_document(const Json& document);
// Checks what company_page relies on. Throws Error with the file's name.
void check_company_document(const Json& document, const std::string& file);

std::string company_page(const Json& document);

}  // namespace windtunnel
