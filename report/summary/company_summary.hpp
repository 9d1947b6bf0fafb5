// A short summary of several jobs on one cluster.
#pragma once

#include "models/results/company_report.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {

Answer summarise(const CompanyReport& report);

}  // namespace windtunnel
