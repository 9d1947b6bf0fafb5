// What a pipeline rank's actions take from and give to the stages beside theirs on other ranks.
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

  // Times that the schedule has run: messages of each have tags of their own.
  void set_round(int round) { round_ = round; }

  // The stage on another rank that the action takes from (step -1) or gives to (+1); -1: none.
  int other_stage(const Action& action, int step) const;

  // What the action waits for; -1: nothing. `before`: what must have ended before the receive is
  // posted, -1 for nothing.
  TaskIndex receive(const Action& action, TaskIndex before);
  // To the stage target = other_stage(action, 1).
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
