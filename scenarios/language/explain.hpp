// Lists every resolved value of a scenario with its evidence.
#pragma once

#include <string>
#include <vector>

#include "models/power/power_spec.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

// The values are in the order of the field table: those that the scenario states, and for keys that
// it leaves open the program's defaults and the library's numbers.
std::vector<ResolvedValue> explain_values(const Values& values, const EvidenceList& evidence,
                                          const Job& job, const PowerSpec* power = nullptr);

}  // namespace windtunnel
