#include "policies/tasks/stage_messages.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace windtunnel {

int StageMessages::other_stage(const Action& action, int step) const {
  const bool forward = action.kind == ActionKind::forward;
  if (!forward && !makes_input_gradient(action.kind)) return -1;
  const int way = forward ? step : -step;
  const int at = schedule_.model_stage(action.stage) + way;
  if (at < 0 || at >= schedule_.model_stages()) return -1;
  const int other = action.stage + way;
  const int later = std::max(action.stage, other);
  if (!forward && !passes_gradient_[schedule_.model_stage(later)]) return -1;
  return schedule_.rank_of_stage[other] == rank_ ? -1 : other;
}

// Messages are named by the stage that sends.
Message StageMessages::message(const Action& action, int source, int other) const {
  const bool forward = action.kind == ActionKind::forward;
  const std::int64_t step = 2 * round_ + (forward ? 0 : 1);
  const std::int64_t unit = step * schedule_.units() + action.unit;
  return {.name = fmt::format("{}{}.{}", forward ? 'F' : 'B', source, action.unit),
          .stage = action.stage,
          .unit = action.unit,
          .peer = schedule_.rank_of_stage[other],
          .tag = unit * schedule_.stages() + source};
}

TaskIndex StageMessages::receive(const Action& action, TaskIndex before) {
  const int source = other_stage(action, -1);
  if (source < 0) return -1;
  return tasks_.receive(message(action, source, source),
                        before >= 0 ? std::vector{before} : std::vector<TaskIndex>{});
}

TaskIndex StageMessages::send(const Action& action, int target, double bytes, StreamIndex stream,
                              TaskIndex after) {
  return tasks_.send(message(action, action.stage, target), bytes, stream, {after});
}

}  // namespace windtunnel
