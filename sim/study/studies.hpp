// Studies of a case besides its iteration and its campaign, a row for each. A scenario's settings
// are in Case::asked (scenarios/language/asked_studies.hpp), the results in Record::studies, and
// report/figures/shown_studies.hpp shows them.
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
  // (decisive_numbers.hpp), by tens of further estimates. It is for a single answer that a person
  // reads, not for comparisons of many.
  advice,
};

struct StudyInput {
  const Case& the_case;
  const PreparedIteration& prepared;
  const IterationReport& iteration;
  const CampaignReport* campaign;  // null: none was simulated
  const Record* record;            // with simulated Plan and Timeline; null: a point of a sweep
  int threads;                     // 0: all cores; the report does not depend on it
  std::function<void(const std::string& step)> tell;  // called before a step that takes time
};

struct Study {
  StudyDepth from;  // least depth at which the study is made
  bool in_sweeps;   // also made at each point of a sweep, without a Record
  // Adds the study's report if the case asks for it. Throws Error about the keys at fault.
  void (*run)(const StudyInput& on, ValuesByType& reports);
};

// In the order of execution.
std::span<const Study> studies();

}  // namespace windtunnel
