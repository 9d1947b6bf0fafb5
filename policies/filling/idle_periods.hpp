// Idle periods of a Plan's ranks in the Timeline of its execution: between two tasks of the compute
// stream, before the first one and after the last.
#pragma once

#include <functional>
#include <vector>

#include "models/plan/timeline.hpp"

namespace windtunnel {

// An idle period common to all members of a class, which run one task list. Its length is that of
// the shortest among the members.
struct IdlePeriod {
  TaskIndex behind = -1;  // the task that ends when the period begins; -1: the start of the Plan
  int iteration = 0;
  double seconds = 0;         // mean over the members
  double least_s = 0;         // of the shortest, in seconds of a GPU that is not slow
  double alive_bytes = 0;     // largest allocation during the period
  bool communicates = false;  // a collective of the rank runs during the period
};

// Returns the factor by which the kernels of a recorded rank are slower in an iteration.
using PaceOf = std::function<double(const RankTimeline& rank, int iteration)>;

// Returns the idle periods of each class in order of time. `stream`: the one of kernels; `until_s`:
// end of the last period.
std::vector<std::vector<IdlePeriod>> idle_periods(const Plan& plan, const Timeline& timeline,
                                                  int stream, double until_s, const PaceOf& pace);

}  // namespace windtunnel
