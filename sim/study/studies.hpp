// Studies of a case besides its iteration and its campaign, a row for each. A scenario's settings
// are in Case::asked (scenarios/language/asked_studies.hpp), the results in Record::studies; they
// are shown by report/figures/shown_studies.hpp.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "models/results/record.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

// How deeply a case is studied; each level includes those before it.
enum class StudyDepth {
  step,       // an iteration alone
  campaign,   // a campaign of months
  intervals,  // recommended snapshot intervals, by further campaigns
  // What would help (notes/tried_changes.hpp) and which numbers decide the answer
  // (decisive_numbers.hpp), by tens of further estimates: for a single answer that a person reads,
  // not for comparing many.
  advice,
};

struct StudyInput {
  const Case& the_case;
  const PreparedIteration& prepared;
  const IterationReport& iteration;
  const CampaignReport* campaign;  // null: none was simulated
  const Record* record;            // with the simulated Plan and Timeline; null: a point of a sweep
  int threads;                     // 0: all cores; the same report for any number
  std::function<void(const std::string& step)> tell;  // called before a step that takes time
};

struct Study {
  StudyDepth from;  // minimum depth that includes the study
  bool in_sweeps;   // also run at each point, without a Record
  // Adds its report if the case asks for it. Throws Error about the keys at fault.
  void (*run)(const StudyInput& on, ValuesByType& reports);
};

// In the order of execution.
std::span<const Study> studies();

}  // namespace windtunnel
