// Several jobs on one cluster: each alone, then all of them in one simulation, in which their flows
// share the links.
//
// Iterations of each job follow one another until the job with the longest has had several beside
// all others; what is counted lies between the first moment at which each has ended a step and the
// last at which each still runs. Since how far the jobs are apart in their steps is an accident,
// that is done for several starts, spread evenly over a step.
#pragma once

#include <vector>

#include "models/results/company_report.hpp"
#include "scenarios/language/company.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {

inline constexpr int kCompanyStarts = 4;
inline constexpr int kCompanySteps = 4;  // of the job with the longest, the least that is counted

// Campaigns of the jobs are left out. Throws Error as simulate() does of each job, and where one of
// them takes so many steps during one of another that they cannot be simulated.
CompanyReport simulate_company(const Company& company, const SimulateOptions& options = {});

}  // namespace windtunnel
