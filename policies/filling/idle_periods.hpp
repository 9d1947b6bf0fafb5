// The idle periods of a Plan's ranks in the Timeline that it was executed in: between two tasks of
// the stream that kernels run on, before the first and behind the last.
#pragma once

#include <functional>
#include <vector>

#include "models/plan/timeline.hpp"

namespace windtunnel {

// An idle period of all members of a class, which run one task list: it lasts as long as that of
// the member that idles shortest there.
struct IdlePeriod {
  TaskIndex behind = -1;  // the task that ends when it begins; -1: none, at the start
  int iteration = 0;
  double seconds = 0;         // mean over the members
  double least_s = 0;         // of the shortest one, in seconds of a GPU that is not slow
  double alive_bytes = 0;     // the most that is allocated meanwhile
  bool communicates = false;  // a collective of the rank runs meanwhile
};

// By how much the kernels of a recorded rank take longer in an iteration.
using PaceOf = std::function<double(const RankTimeline& rank, int iteration)>;

// [class] in the order of time. `stream`: of kernels; `until_s`: where the last period ends.
std::vector<std::vector<IdlePeriod>> idle_periods(const Plan& plan, const Timeline& timeline,
                                                  int stream, double until_s, const PaceOf& pace);

}  // namespace windtunnel
