// Divides a captured step of a rank into passes: forwards and backwards of micro-batches in the
// order of their launches, and the optimizer after the last backward.
//
// The program's own ranges (pass_of_range()) are used if both forwards and backwards have them.
// Otherwise the launching thread distinguishes them: PyTorch's autograd launches backwards, with
// the forwards that they recompute, from a thread of its own. Consecutive passes of one kind then
// look like one; split_passes() divides them if the order of a schedule is known.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/plan/schedule.hpp"
#include "traces/profile/captured_steps.hpp"

namespace windtunnel {

struct CapturedPass {
  std::optional<ActionKind> action;  // F, B, I, W; none: the optimizer
  int stage = -1;                    // -1: not known
  int microbatch = -1;
  double start_s = 0;  // start of its first kernel, on the profile's clock
  double end_s = 0;
  double busy_s = 0;                   // time in which a kernel runs, without communication
  std::vector<std::size_t> work = {};  // indices into RankProfile::work in launch order; not empty
};

struct StepPasses {
  std::vector<CapturedPass> passes;  // in order of their launches
  bool annotated = false;            // from the program's ranges: each range is one pass
  std::string none;                  // why there are no passes; empty: there are
};

// Uses the program's ranges if they mark forwards and backwards and `by_ranges` is set; else the
// threads that launched the kernels.
StepPasses step_passes(const RankProfile& profile, const CapturedRank& rank,
                       const CapturedStep& step, bool by_ranges = true);

// Divides each pass that was found by its thread and consists of several passes of `order` (the
// forwards and backwards of a rank, without R). Either these run the same kernels, or messages of a
// pipeline are between them. Returns why this is impossible; empty: `passes` now matches the order,
// followed by the optimizer.
std::string split_passes(const RankProfile& profile, std::span<const ActionKind> order,
                         StepPasses& passes);

}  // namespace windtunnel
