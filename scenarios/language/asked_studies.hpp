// What a scenario can ask for besides the iteration and the campaign of its job: a row for each
// study. What it asks for stands in Case::asked; sim/study/studies.cpp runs it.
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
  const char* key;  // of the scenario, below which it is asked for
  // What several jobs on one machine (company.hpp) are simulated without; null: they may ask for
  // it, or are refused in other words.
  const char* without;
  bool (*is_in)(const ValuesByType& asked);
  // The other parts of the job are resolved. Adds nothing where the scenario does not ask. Throws
  // Error about the keys at fault.
  void (*resolve)(const StudyText& text, Job& job, ValuesByType& asked);
};

// In the order in which they are resolved: a cap on power changes the job that the next ones see.
std::span<const AskedStudy> asked_studies();

}  // namespace windtunnel
