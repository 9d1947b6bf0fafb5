// The document of several jobs side by side: docs/reference/json.md.
#pragma once

#include "models/results/company_report.hpp"
#include "report/text/json_text.hpp"

namespace windtunnel {

Json company_document(const CompanyReport& report, bool with_timing);

}  // namespace windtunnel
