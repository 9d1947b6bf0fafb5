// When every task of the recorded ranks began and ended, in simulated seconds: what the engine
// gives back for a Plan, and what reports, traces and drawings read.
#pragma once

#include <cstdint>
#include <vector>

#include "models/plan/plan.hpp"

namespace windtunnel {

// A task starts when its predecessors have ended, its stream is free and not_before_s has passed; a
// synchronous send also needs its receive to be posted. A collective's wait for its last member is
// inside of the span, and so is a receive's wait for its message.
struct Span {
  double start_s = 0;
  double end_s = 0;
};

struct RankTimeline {
  RankId rank = 0;
  std::int32_t rank_class = 0;  // index into Plan::classes
  double multiplicity = 1;      // ranks that this one stands for
  std::vector<Span> spans;      // by TaskIndex
};

struct Timeline {
  std::vector<RankTimeline> ranks;  // ascending by rank
  // [rank of the Plan] -> index into ranks: the recorded rank that this one behaves like.
  std::vector<std::int32_t> recorded_as;
  double makespan_s = 0;
  std::vector<double> iteration_end_s;  // end of the last task of each iteration, all ranks
  std::uint64_t events = 0;             // simulated activities
  std::int64_t ranks_simulated = 0;
  std::int64_t sampled_of = 0;  // unlike ranks of which a sample was simulated; 0: all were
  double peak_rss_bytes = 0;    // of the process that simulated
};

}  // namespace windtunnel
