// Studies of a case besides its iteration and its campaign: a row for each. What a scenario asks
// for stands in Case::asked (scenarios/language/asked_studies.hpp), what comes of it in
// Record::studies; how it is shown: report/figures/shown_studies.hpp.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "models/results/record.hpp"
#include "policies/lowering/prepared_iteration.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

// How far a case is studied, each with all before it.
enum class StudyDepth {
  step,       // an iteration alone
  campaign,   // months of it
  intervals,  // how often snapshots had better be taken, by further campaigns
  // What would help (notes/tried_changes.hpp) and which numbers decide the answer
  // (decisive_numbers.hpp), by tens of further estimates: for one answer that somebody reads, not
  // for many that are held against each other.
  advice,
};

struct StudyInput {
  const Case& the_case;
  const PreparedIteration& prepared;
  const IterationReport& iteration;
  const CampaignReport* campaign;  // null: none was simulated
  const Record* record;            // with the simulated Plan and Timeline; null: a point of a sweep
  int threads;                     // 0: all cores; the same report for any number
  std::function<void(const std::string& step)> tell;  // before a step that takes time
};

struct Study {
  StudyDepth from;  // the least depth that includes it
  bool in_sweeps;   // studied at each point, of which there is no Record
  // Adds its report where the case asks for it. Throws Error about the keys at fault.
  void (*run)(const StudyInput& on, ValuesByType& reports);
};

// In the order in which they run.
std::span<const Study> studies();

}  // namespace windtunnel
