// A captured step of a rank cut into its passes: forwards and backwards of micro-batches in the
// order in which the host launched them, and what is behind the last backward, the optimizer.
//
// The program's own ranges say it (pass_of_range()) where there are both of forwards and of
// backwards. Elsewhere the thread does that launched a kernel: PyTorch's autograd launches
// backwards, and what they recompute, from a thread of its own. Passes of one kind behind each
// other then look like one; split_passes() cuts them where the order of a schedule is known.
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
  int stage = -1;                    // -1: not told
  int microbatch = -1;
  double start_s = 0;  // of its first kernel, on the profile's clock
  double end_s = 0;
  double busy_s = 0;                   // some kernel of it runs; communication is none
  std::vector<std::size_t> work = {};  // in RankProfile::work, as launched; not empty
};

struct StepPasses {
  std::vector<CapturedPass> passes;  // in order of their launches
  bool annotated = false;            // by the program's ranges: each is one pass
  std::string none;                  // why there are no passes
};

// By the program's ranges where they tell forwards and backwards, and if `by_ranges`; else by the
// threads that launched the kernels.
StepPasses step_passes(const RankProfile& profile, const CapturedRank& rank,
                       const CapturedStep& step, bool by_ranges = true);

// Of passes that threads tell apart those that are several of `order` (the forwards and backwards
// of a rank, R left out) as so many: each runs the same kernels, or a pipeline's messages lie
// between them. Returns why that cannot be; empty: `passes` has the order's, and the optimizer
// behind them.
std::string split_passes(const RankProfile& profile, std::span<const ActionKind> order,
                         StepPasses& passes);

}  // namespace windtunnel
