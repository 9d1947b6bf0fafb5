// Numbers of a scenario put in the place of the library's, where the scenario states them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scenarios/language/library/spec_fields.hpp"
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

template <class Spec>
void override_parameters(std::span<const ParameterField<Spec>> fields, std::string_view path,
                         const Values& values, const EvidenceList& evidence, Spec& spec) {
  for (const ParameterField<Spec>& field : fields) {
    override_parameter(spec.*field.member, join_path(path, field.key), values, evidence);
  }
}

inline void override_int(int& target, const std::string& key, const Values& values) {
  if (values.has(key)) target = values.integer(key);
}

template <class Spec>
void override_sizes(std::span<const SizeField<Spec>> fields, std::string_view path,
                    const Values& values, Spec& spec) {
  for (const SizeField<Spec>& field : fields) {
    override_int(spec.*field.member, join_path(path, field.key), values);
  }
}

}  // namespace windtunnel
