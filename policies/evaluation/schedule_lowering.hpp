// From the order of compute to what a runtime executes, as torch.distributed.pipelining does it
// (schedules.py, pytorch 00722e64: _add_unshard_reshard, _add_reduce_grad, _add_send_recv), in this
// order: weights gathered ahead of their use, gradients reduced, messages placed.
#pragma once

#include "models/plan/schedule.hpp"

namespace windtunnel {

// Torch's: one stage in its forward, one in its backward, one that is being gathered.
inline constexpr int kMaxActiveStages = 3;

struct LoweringOptions {
  bool sharded = false;  // weights are gathered and dropped (FSDP); gradients are always reduced
  int max_active_stages = kMaxActiveStages;
};

// `schedule` holds compute alone. Throws Error that names rank and action when the order deadlocks.
Schedule lowered(const Schedule& schedule, const LoweringOptions& options = {});

// Before each action the next `max_active_stages` different stages of its rank are gathered, and
// those gathered before that are not among them are dropped, lowest first; all at the end. (Torch
// drops in the order of a Python set, which for stages below 8 is the same.)
Schedule with_unshards(Schedule schedule, int max_active_stages = kMaxActiveStages);

// After the last weight gradient of a stage (of each iteration) its reduction.
Schedule with_gradient_reductions(Schedule schedule);

// A message for every result that another rank needs: ranks take turns, each emits its next action,
// the sends of its results behind it, and at once the receive in the list of the other rank. An
// action whose receive is not in its list yet ends the rank's turn. So the messages between two
// ranks stand in the same order on both.
Schedule with_messages(const Schedule& schedule);

// An input gradient with its weight gradient right behind it is one full backward (_merge_bw).
Schedule with_full_backwards(Schedule schedule);

// The schedule without sends and receives, as the evaluator and the plan take it.
Schedule without_messages(Schedule schedule);

// The schedule without messages, gathers and reductions.
Schedule compute_only(Schedule schedule);

}  // namespace windtunnel
