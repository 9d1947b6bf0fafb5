// How a job continues with one node out, two, ...: with fewer replicas of its own layout, or in
// another one. The choices for all numbers are made together, because a copy of the state must be
// converted whenever the layout changes between numbers.
#pragma once

#include <vector>

#include "models/results/campaign_report.hpp"

namespace windtunnel {

struct SmallerStep {
  double iteration_s = 0;
  RelaidLayout layout = {};

  double rate() const { return layout.progress / iteration_s; }
};

// Nodes fail at one rate and are repaired independently, so the number out is nearly Poisson, and
// transitions between neighbouring numbers are equally frequent in both directions.
struct SmallerSetting {
  int nodes = 1;              // of the whole job
  double iteration_s = 0;     // of the whole job
  double convert_s = 0;       // of a copy to another layout
  double reshape_s = 0;       // of a copy for another number of replicas in the own layout
  double failures_per_s = 0;  // of all nodes
  double mean_out = 0;        // mean number of nodes out
};

struct SmallerChoice {
  SmallerStep step;
  bool relaid = false;  // in another layout
};

// [nodes out - 1], as far as the job continues: the choice with the most progress. `own`: [nodes
// out - 1] with fewer replicas; `others`: other layouts, each with its number of nodes.
std::vector<SmallerChoice> best_smaller(const SmallerSetting& setting,
                                        const std::vector<SmallerStep>& own,
                                        const std::vector<SmallerStep>& others);

// Candidates for campaigns to compare: that choice; only fewer replicas; each other layout alone;
// and waiting for a node.
std::vector<std::vector<SmallerChoice>> smaller_policies(const SmallerSetting& setting,
                                                         const std::vector<SmallerStep>& own,
                                                         const std::vector<SmallerStep>& others);

// Training progress of a choice while any node is out, as a share of a whole job's, minus losses by
// conversions.
double trained_while_smaller(const SmallerSetting& setting,
                             const std::vector<SmallerChoice>& choice);

}  // namespace windtunnel
