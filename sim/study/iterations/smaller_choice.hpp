// What a job goes on as with one node out, two, ...: with fewer replicas of its own layout or in
// another one. The choice is of all numbers together, as a copy of the state is converted wherever
// one number of nodes has another layout than the next.
#pragma once

#include <vector>

#include "models/results/campaign_report.hpp"

namespace windtunnel {

struct SmallerStep {
  double iteration_s = 0;
  RelaidLayout layout = {};

  double rate() const { return layout.progress / iteration_s; }
};

// Nodes fail at one rate and are repaired each by itself, so that the number out is as good as
// Poisson's, and passes from one number to the next as often as back.
struct SmallerSetting {
  int nodes = 1;              // of the whole job
  double iteration_s = 0;     // of the whole job
  double convert_s = 0;       // of a copy to another layout
  double reshape_s = 0;       // to another number of replicas of the own layout
  double failures_per_s = 0;  // of nodes
  double mean_out = 0;        // nodes out at a time
};

struct SmallerChoice {
  SmallerStep step;
  bool relaid = false;  // not the own layout
};

// [nodes out - 1], as far as the job goes on: the choice with which most is trained. `own`: [nodes
// out - 1] with fewer replicas; `others`: other layouts, each with the nodes that it takes.
std::vector<SmallerChoice> best_smaller(const SmallerSetting& setting,
                                        const std::vector<SmallerStep>& own,
                                        const std::vector<SmallerStep>& others);

// What campaigns may tell apart: that choice; fewer replicas as far as they go; each other layout
// alone, as far as its nodes do; none, to wait for a node.
std::vector<std::vector<SmallerChoice>> smaller_policies(const SmallerSetting& setting,
                                                         const std::vector<SmallerStep>& own,
                                                         const std::vector<SmallerStep>& others);

// Share of a whole job's training that a choice gives beside the time in which no node is out, less
// what conversions lose.
double trained_while_smaller(const SmallerSetting& setting,
                             const std::vector<SmallerChoice>& choice);

}  // namespace windtunnel
