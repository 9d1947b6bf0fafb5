// Finds the best division of a cluster's nodes between learner and engines, and the best size of an
// engine. The closed form of the learner's step (policies/lowering/iteration_estimate.hpp) and the
// events of the loop estimate all divisions; then the best are simulated completely. The size of an
// update is rounded to a number of sequences (batch.global) that the learner's replicas can divide
// evenly. Batches of samples do not change.
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
  int top = 10;       // number of places of the ranking
  int simulated = 3;  // how many splits are simulated
  int threads = 0;    // 0: all cores; the result does not depend on it
  std::function<void(const std::string&)> progress = {};
};

struct RankedSplit {
  Overrides set = {};  // overrides that give this division
  int learner_nodes = 1;
  int engine_nodes = 1;  // colocated: those of the learner
  int engine_gpus = 1;   // of each engine
  RolloutReport estimate;
  std::optional<Record> record = {};  // if it was simulated
  std::string failure = {};           // why the simulation failed

  const RolloutReport& best_known() const {
    return record ? *record->studies.find<RolloutReport>() : estimate;
  }
};

struct SplitSearch {
  std::vector<RankedSplit> best;  // simulated ones first, then by samples per second
  // The best with equally many nodes for engines and learner, or one less; simulated if any is.
  std::optional<RankedSplit> even;
  int estimated = 0;
  int infeasible = 0;
  std::string example;  // the error of one infeasible split
};

// Throws Error as load_case does; also if the scenario has no `rollout`, or (exit code 1) if no
// split is feasible.
SplitSearch search_splits(const ScenarioText& scenario, const SplitOptions& options);

}  // namespace windtunnel
