// Lists the studies that a scenario can ask for besides the iteration and the campaign of its job.
// Case::asked holds the resolved requests; sim/study/studies.cpp runs them.
#pragma once

#include <span>

#include "models/base/values_by_type.hpp"
#include "models/plan/job.hpp"
#include "scenarios/language/text/evidence.hpp"
#include "scenarios/language/text/scenario_text.hpp"
#include "scenarios/language/text/values.hpp"

namespace windtunnel {

struct StudyText {
  const Values& values;
  const EvidenceList& evidence;
  NamedFiles& files;
};

struct AskedStudy {
  const char* key;  // the scenario asks for the study by this key
  // The name of the study in the Error that refuses it to a job that shares its machine with others
  // (company.hpp). Null: the study is allowed there, or another check refuses it.
  const char* without;
  bool (*is_in)(const ValuesByType& asked);
  // Runs after the other parts of the job are resolved. Adds the study to `asked` if the scenario
  // asks for it. Throws Error about the keys at fault.
  void (*resolve)(const StudyText& text, Job& job, ValuesByType& asked);
};

// In the order in which they are resolved: a power cap changes the job that later rows see.
std::span<const AskedStudy> asked_studies();

}  // namespace windtunnel
