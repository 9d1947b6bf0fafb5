// The page of several jobs on one cluster: the summary, and bars of each job's step alone and
// together. It is one self-contained file that needs no script.
//
// The document (record.json in the output folder) contains everything that the page shows, so that
// `windtunnel report` can draw it again. `format` is the version of its layout.
#pragma once

#include <string>

#include "models/results/company_report.hpp"
#include "report/json/json.hpp"

namespace windtunnel {

Json company_page_document(const CompanyReport& report);

bool is_company_document(const Json& document);
// Checks the parts that company_page() uses. Throws Error with the file's name.
void check_company_document(const Json& document, const std::string& file);

std::string company_page(const Json& document);

}  // namespace windtunnel
