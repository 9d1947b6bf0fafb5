// Idle periods of a Plan's ranks in the Timeline of its execution: between two tasks of the compute
// stream, before the first and after the last.
#pragma once

#include <functional>
#include <vector>

#include "models/plan/timeline.hpp"

namespace windtunnel {

// An idle period common to all members of a class, which run one task list; its length is that of
// the member with the shortest one.
struct IdlePeriod {
  TaskIndex behind = -1;  // the task that ends when the period begins; -1: the start of the Plan
  int iteration = 0;
  double seconds = 0;         // mean over the members
  double least_s = 0;         // shortest over the members, in seconds of a GPU that is not slow
  double alive_bytes = 0;     // largest allocation during the period
  bool communicates = false;  // a collective of the rank runs during the period
};

// Returns the factor by which the kernels of a recorded rank are slower in an iteration.
using PaceOf = std::function<double(const RankTimeline& rank, int iteration)>;

// [class] Its idle periods in order of time. `stream`: the one of kernels; `until_s`: end of the
// last period.
std::vector<std::vector<IdlePeriod>> idle_periods(const Plan& plan, const Timeline& timeline,
                                                  int stream, double until_s, const PaceOf& pace);

}  // namespace windtunnel
