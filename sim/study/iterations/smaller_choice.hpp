// How a job goes on with one node out, two, and so on: with fewer replicas of its own layout, or in
// another one. The choices for all numbers are made together, because a copy of the state must be
// converted whenever the layout changes between two numbers.
#pragma once

#include <vector>

#include "models/results/campaign_report.hpp"

namespace windtunnel {

struct SmallerStep {
  double iteration_s = 0;
  RelaidLayout layout = {};

  double rate() const { return layout.progress / iteration_s; }
};

// Nodes fail at one rate and are repaired independently. So the number out is nearly Poisson, and
// transitions between two neighbouring numbers are equally frequent in both directions.
struct SmallerSetting {
  int nodes = 1;              // of the whole job
  double iteration_s = 0;     // of the whole job
  double convert_s = 0;       // to convert a copy to another layout
  double reshape_s = 0;       // to convert a copy to another number of replicas in the own layout
  double failures_per_s = 0;  // failures of all nodes
  double mean_out = 0;        // mean number of nodes out
};

struct SmallerChoice {
  SmallerStep step;
  bool relaid = false;  // whether it is another layout
};

// Returns the choice with the most progress, as [nodes out - 1] for as many nodes as the job goes
// on. `own`: [nodes out - 1] with fewer replicas; `others`: other layouts, with their nodes.
std::vector<SmallerChoice> best_smaller(const SmallerSetting& setting,
                                        const std::vector<SmallerStep>& own,
                                        const std::vector<SmallerStep>& others);

// Returns candidates that campaigns compare: best_smaller(); only fewer replicas; each other layout
// alone; and waiting for a node.
std::vector<std::vector<SmallerChoice>> smaller_policies(const SmallerSetting& setting,
                                                         const std::vector<SmallerStep>& own,
                                                         const std::vector<SmallerStep>& others);

// Returns the training progress of a choice while any node is out, as a share of a whole job's,
// minus what conversions lose.
double trained_while_smaller(const SmallerSetting& setting,
                             const std::vector<SmallerChoice>& choice);

}  // namespace windtunnel
