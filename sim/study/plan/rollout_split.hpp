// The best split of a cluster's nodes between learner and engines, and the best size of an engine:
// all of them in closed form for the learner's step (policies/lowering/iteration_estimate.hpp) and
// by the events of the loop, then the best ones simulated as a whole. An update is rounded to as
// many sequences (batch.global) as the learner's replicas share evenly; a batch of samples stays.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/results/record.hpp"
#include "models/results/rollout_report.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {

struct SplitOptions {
  int top = 10;       // places of the ranking
  int simulated = 3;  // the number of splits that are simulated
  int threads = 0;    // 0: all cores; the result is the same
  std::function<void(const std::string&)> progress = {};
};

struct RankedSplit {
  Overrides set = {};  // what makes the scenario this split
  int learner_nodes = 1;
  int engine_nodes = 1;  // colocated: those of the learner
  int engine_gpus = 1;   // of one
  RolloutReport estimate;
  std::optional<Record> record = {};  // if it was simulated
  std::string failure = {};           // why that was not possible

  const RolloutReport& best_known() const {
    return record ? *record->studies.find<RolloutReport>() : estimate;
  }
};

struct SplitSearch {
  std::vector<RankedSplit> best;  // most samples per second first; the simulated ones before others
  // The best of those with as many nodes for engines as for the learner, or one less; simulated
  // where any is.
  std::optional<RankedSplit> even;
  int estimated = 0;
  int infeasible = 0;
  std::string example;  // an example of what is wrong with an infeasible one
};

// Throws Error as load_case does, where the scenario has no `rollout`, or no split is feasible
// (exit code 1).
SplitSearch search_splits(const ScenarioText& scenario, const SplitOptions& options);

}  // namespace windtunnel
