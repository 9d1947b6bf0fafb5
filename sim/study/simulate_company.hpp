// Several jobs on one cluster: each alone, then all of them in one simulation, in which their flows
// share links.
//
// Each job repeats iterations until the job with the longest iteration has had several while all
// others ran. Only the time between the first moment at which each has ended a step and the last at
// which each still runs is counted. The jobs' offsets are arbitrary, so this is repeated for
// several starts, spread evenly over a step.
#pragma once

#include <vector>

#include "models/results/company_report.hpp"
#include "scenarios/language/company.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {

inline constexpr int kCompanyStarts = 4;
// minimum number of counted steps of the job with the longest step
inline constexpr int kCompanySteps = 4;

// Campaigns of the jobs are ignored. Throws Error as simulate() does for each job, and if one job
// has too many steps during one step of another to be simulated.
CompanyReport simulate_company(const Company& company, const SimulateOptions& options = {});

}  // namespace windtunnel
