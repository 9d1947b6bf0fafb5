// Jobs side by side as the few lines that a busy person reads.
#pragma once

#include "models/results/company_report.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

Answer summarise(const CompanyReport& report);

}  // namespace windtunnel
