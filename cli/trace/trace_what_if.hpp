// Of a captured step the same job under other choices (trace import --vary).
#pragma once

#include <string>
#include <vector>

#include "report/captured/captured_report.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/sweep.hpp"

namespace windtunnel {

// The scenario with `calibration` (its text) in the place of its own, as it stands and at every
// combination of `vary`. A point that cannot run says why. Throws Error where the scenario itself
// cannot.
ChosenSteps study_what_if(const std::string& scenario, const Overrides& set,
                          const std::string& calibration, const std::vector<VariedKey>& vary,
                          double traced_s);

}  // namespace windtunnel
