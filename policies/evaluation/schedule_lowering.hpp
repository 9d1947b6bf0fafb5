// Lowers a schedule of compute actions to what a runtime executes, as torch.distributed.pipelining
// does (schedules.py, pytorch 00722e64: _add_unshard_reshard, _add_reduce_grad, _add_send_recv), in
// this order: weights are gathered before use, gradients reduced, messages placed.
#pragma once

#include "models/plan/schedule.hpp"

namespace windtunnel {

// Torch's value: one stage in forward, one in backward, one being gathered.
inline constexpr int kMaxActiveStages = 3;

struct LoweringOptions {
  // weights are gathered and dropped (FSDP); gradients are reduced in any case
  bool sharded = false;
  int max_active_stages = kMaxActiveStages;
};

// `schedule` must contain only compute. Throws Error that names rank and action if the order
// deadlocks.
Schedule lowered(const Schedule& schedule, const LoweringOptions& options = {});

// Before each action, the next `max_active_stages` different stages of its rank are gathered, and
// other gathered stages are dropped, lowest first; at the end all are dropped. (Torch drops in the
// order of a Python set, which is the same for stages below 8.)
Schedule with_unshards(Schedule schedule, int max_active_stages = kMaxActiveStages);

// Appends a stage's gradient reduction after its last weight gradient in each iteration.
Schedule with_gradient_reductions(Schedule schedule);

// Inserts a message for every result that another rank needs. Ranks take turns: each emits its next
// action and after it the sends of its results, each with a receive appended to the other rank's
// list. A rank's turn ends at an action whose receive is not in its list yet. The messages between
// two ranks thus have the same order on both.
Schedule with_messages(const Schedule& schedule);

// Merges an input gradient that is directly followed by its weight gradient into a full backward
// (_merge_bw).
Schedule with_full_backwards(Schedule schedule);

// The schedule without sends and receives, as required by the evaluator and the Plan.
Schedule without_messages(Schedule schedule);

// The schedule without messages, gathers and reductions.
Schedule compute_only(Schedule schedule);

}  // namespace windtunnel
