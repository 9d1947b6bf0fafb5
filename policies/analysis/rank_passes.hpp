// The passes of one rank in a simulated step: when each began and ended, and how long its kernels
// ran, in a form that can be compared with a profiler's trace of a real step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/plan/job.hpp"
#include "models/plan/timeline.hpp"

namespace windtunnel {

struct RankPass {
  std::string name;                  // "F0.3": forward of stage 0, micro-batch 3; "optimizer"
  std::optional<ActionKind> action;  // F, B, I, W; none: the optimizer
  int stage = -1;
  int microbatch = -1;  // with sliced micro-batches its unit (Schedule::slices)
  bool paired = false;  // a forward and a full backward that run as one
  double start_s = 0;   // since the start of the first pass
  double end_s = 0;
  // how long kernels run in it: without waits for the host and for other ranks, and without
  // communication inside the pass
  double busy_s = 0;
};

// Returns the passes of the last reported iteration by start time, with the optimizer last. Pieces
// of a pass are merged, as are a separate recomputation and the backward after it. `plan` and
// `timeline` belong to the job.
std::vector<RankPass> rank_passes(const Job& job, const Plan& plan, const Timeline& timeline,
                                  RankId rank);

}  // namespace windtunnel
