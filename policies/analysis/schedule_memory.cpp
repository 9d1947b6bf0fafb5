#include "policies/analysis/schedule_memory.hpp"

#include <cstddef>

#include "policies/evaluation/schedule_stages.hpp"

namespace windtunnel {
namespace {

// What an action adds when it starts and takes away when it ends.
struct Change {
  double allocated = 0;
  double freed = 0;
};

Change change_of(const Action& action, const StageTimes& stage) {
  switch (action.kind) {
    case ActionKind::forward:
      return {.allocated = stage.activation};
    case ActionKind::recompute:
      return {.allocated = stage.recomputed};
    case ActionKind::backward:
      return {.freed = stage.activation + stage.recomputed};
    case ActionKind::backward_input:
      return {.freed = stage.activation + stage.recomputed - stage.weight_activation};
    case ActionKind::backward_weight:
      return {.freed = stage.weight_activation};
    default:
      return {};
  }
}

RankActivations follow(const Schedule& schedule, const std::vector<StageTimes>& stages,
                       const ScheduleSpans& spans, int rank) {
  RankActivations result;
  double now = 0;
  const auto& actions = schedule.actions[rank];
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const Action& action = actions[i];
    const Change change =
        change_of(action, stages[action.stage * schedule.slices + action.unit % schedule.slices]);
    if (change.allocated != 0) {
      now += change.allocated;
      result.points.push_back({spans[rank][i].start_s, now});
    }
    if (now > result.peak) {
      result.peak = now;
      result.peak_s = spans[rank][i].start_s;
      result.peak_position = static_cast<int>(i);
    }
    if (change.freed != 0) {
      now -= change.freed;
      result.points.push_back({spans[rank][i].end_s, now});
    }
  }
  return result;
}

}  // namespace

std::vector<RankActivations> schedule_activations(const Schedule& schedule,
                                                  const std::vector<StageCost>& costs,
                                                  const ScheduleSpans& spans) {
  const std::vector<StageTimes> stages = stage_times(schedule, costs, {{0}, {0}}, {});
  std::vector<RankActivations> ranks;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    ranks.push_back(follow(schedule, stages, spans, rank));
  }
  return ranks;
}

}  // namespace windtunnel
