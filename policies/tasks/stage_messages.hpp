// The messages that a pipeline rank's actions send to and receive from stages on other ranks.
#pragma once

#include <utility>
#include <vector>

#include "models/plan/schedule.hpp"
#include "policies/tasks/rank_tasks.hpp"

namespace windtunnel {

class StageMessages {
 public:
  // Keeps references. `passes_gradient`: [stage of the model] ChunkCost::passes_gradient.
  StageMessages(const Schedule& schedule, int rank, std::vector<bool> passes_gradient,
                RankTasks& tasks)
      : schedule_(schedule),
        rank_(rank),
        passes_gradient_(std::move(passes_gradient)),
        tasks_(tasks) {}

  // Sets the number of the schedule's repetition, because messages of each have different tags.
  void set_round(int round) { round_ = round; }

  // Returns the stage on another rank from which the action receives (step -1) or to which it sends
  // (+1); -1: none.
  int other_stage(const Action& action, int step) const;

  // Returns the task that the action waits for; -1: nothing. `before`: the task that must have
  // ended before the receive is posted, -1: none.
  TaskIndex receive(const Action& action, TaskIndex before);
  // Sends to the stage `target`, which is other_stage(action, 1).
  TaskIndex send(const Action& action, int target, double bytes, StreamIndex stream,
                 TaskIndex after);

 private:
  Message message(const Action& action, int source, int other) const;

  const Schedule& schedule_;
  const int rank_;
  const std::vector<bool> passes_gradient_;
  RankTasks& tasks_;
  int round_ = 0;
};

}  // namespace windtunnel
