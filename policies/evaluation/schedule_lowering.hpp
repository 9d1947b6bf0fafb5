// Lowers a schedule of compute actions to what a runtime executes, as torch.distributed.pipelining
// does (schedules.py, pytorch 00722e64: _add_unshard_reshard, _add_reduce_grad, _add_send_recv). In
// this order it adds gathers of weights before their use, reductions of gradients, and messages.
#pragma once

#include "models/plan/schedule.hpp"

namespace windtunnel {

// Torch's value: one stage goes forward, one backward, and one is being gathered.
inline constexpr int kMaxActiveStages = 3;

struct LoweringOptions {
  // weights are gathered and dropped (FSDP); gradients are reduced in either case
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

// Inserts a message for every result that another rank needs. Ranks take turns. In its turn a rank
// emits its actions, each followed by the sends of its results; the receive of each is appended to
// the other rank's list. The turn ends at an action whose receive is not yet in the rank's list.
// The messages between two ranks thus have the same order on both.
Schedule with_messages(const Schedule& schedule);

// Merges an input gradient that is directly followed by its weight gradient into a full backward
// (_merge_bw).
Schedule with_full_backwards(Schedule schedule);

// Returns the schedule without sends and receives, as the evaluator and the Plan require.
Schedule without_messages(Schedule schedule);

// Returns the schedule without messages, gathers and reductions.
Schedule compute_only(Schedule schedule);

}  // namespace windtunnel
