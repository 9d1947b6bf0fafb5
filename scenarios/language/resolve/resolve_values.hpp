// Replaces numbers of the library by those that the scenario states.
#pragma once

#include <string>
#include <string_view>

#include "models/base/origin.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

inline void override_parameter(Parameter& parameter, const std::string& key, const Values& values,
                               const EvidenceList& evidence) {
  const Value* value = values.find(key);
  if (value == nullptr) return;
  const Evidence known = evidence.of(key);
  parameter = {value->number, value->number, value->number, known.origin, known.source};
}

// Fills the members of `target` that keys below `path` set, each number with its evidence.
template <class Struct>
void override_members(std::string_view path, const Values& values, const EvidenceList& evidence,
                      Struct& target) {
  values.fill(path, target);
  for (const BoundRow& row : bound_rows<Struct>(path)) {
    Parameter* parameter = parameter_of(*row.field, target);
    if (parameter == nullptr) continue;
    override_parameter(*parameter, join_path(path, row.key), values, evidence);
  }
}

}  // namespace windtunnel
