// Every resolved value of a scenario with its evidence, and the key made from them.
#pragma once

#include <string>
#include <vector>

#include "scenarios/case.hpp"
#include "scenarios/evidence.hpp"
#include "scenarios/values.hpp"

namespace windtunnel {

// In the order of the field table: what the scenario states, then the program's defaults and the
// library's numbers for what it leaves open.
std::vector<ResolvedValue> explain_values(const Values& values, const EvidenceList& evidence,
                                          const Job& job);

// 16 hexadecimal digits. Equal for scenarios that differ in comments, the order of keys, their
// name, the spelling of a unit or whether a default is written out; different if a value or its
// origin differs.
std::string key_of(const std::vector<ResolvedValue>& values, const Job& job);

}  // namespace windtunnel
