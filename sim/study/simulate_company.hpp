// Several jobs on one cluster: each alone, then all of them in one simulation, in which their flows
// share links.
// Each job repeats iterations until the job with the longest iteration has had several of them
// while all others ran. What counts is the time from the first moment at which every job has ended
// a step to the last moment at which every job still runs. The offsets between jobs are arbitrary,
// so this is repeated for several starts, spread evenly over a step.
#pragma once

#include <vector>

#include "models/results/company_report.hpp"
#include "scenarios/language/company.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {

inline constexpr int kCompanyStarts = 4;
// least number of steps that count of the job with the longest step
inline constexpr int kCompanySteps = 4;

// Ignores campaigns of the jobs. Throws Error as simulate() does for each job; also if one job has
// too many steps during one step of another to be simulated.
CompanyReport simulate_company(const Company& company, const SimulateOptions& options = {});

}  // namespace windtunnel
