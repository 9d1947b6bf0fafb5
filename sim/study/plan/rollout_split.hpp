// The best division of a cluster's nodes between learner and engines, and the best size of an
// engine. All divisions are estimated by the closed form of the learner's step
// (policies/lowering/iteration_estimate.hpp) and the events of the loop; then the best are
// simulated completely. The size of an update is rounded to a number of sequences (batch.global)
// that the learner's replicas can divide evenly; batches of samples are unchanged.
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
  Overrides set = {};  // overrides that give this division
  int learner_nodes = 1;
  int engine_nodes = 1;  // colocated: the learner's
  int engine_gpus = 1;   // per engine
  RolloutReport estimate;
  std::optional<Record> record = {};  // if it was simulated
  std::string failure = {};           // why the simulation failed

  const RolloutReport& best_known() const {
    return record ? *record->studies.find<RolloutReport>() : estimate;
  }
};

struct SplitSearch {
  std::vector<RankedSplit> best;  // most samples per second first; the simulated ones before others
  // The best with equally many nodes for engines and learner, or one less; simulated if any is.
  std::optional<RankedSplit> even;
  int estimated = 0;
  int infeasible = 0;
  std::string example;  // the error of an infeasible one, as an example
};

// Throws Error as load_case does, if the scenario has no `rollout`, or if none is feasible (exit
// code 1).
SplitSearch search_splits(const ScenarioText& scenario, const SplitOptions& options);

}  // namespace windtunnel
