// The passes of one rank in a step as it was simulated: when each began and ended, and how long its
// kernels run. What a profiler's trace has of a real step stands beside them task by task.
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
  int microbatch = -1;  // or its unit, where micro-batches are cut (Schedule::slices)
  bool paired = false;  // with another: a forward and a full backward as one
  double start_s = 0;   // since the first of them began
  double end_s = 0;
  // the part of it in which kernels run: without waits for the host and for other ranks, and
  // without communication inside
  double busy_s = 0;
};

// In order of their start, the optimizer last. Pieces of a pass are one; what a recomputation of
// its own recomputes is part of the backward behind it. Of the last reported iteration; `plan` and
// `timeline` are of the job.
std::vector<RankPass> rank_passes(const Job& job, const Plan& plan, const Timeline& timeline,
                                  RankId rank);

}  // namespace windtunnel
