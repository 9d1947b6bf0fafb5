// Draws schedules of every kind with random sizes and uneven costs, for tests.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "policies/evaluation/schedule_stages.hpp"
#include "policies/schedules/schedules.hpp"

namespace windtunnel {

struct ScheduleSample {
  Schedule schedule;  // one iteration; an asynchronous one contains all its micro-batches
  std::vector<StageCost> costs;
  double message_s = 0;

  const StageCost& cost(const Action& action) const {
    return costs[schedule.model_stage(action.stage) * schedule.slices +
                 action.unit % schedule.slices];
  }
  double backward_s(const Action& action) const {
    return cost(action).backward_s() + (schedule.explicit_recompute ? 0 : cost(action).recompute_s);
  }
  double seconds(const Action& action) const {
    const StageCost& of = cost(action);
    switch (action.kind) {
      case ActionKind::forward:
        return of.forward_s;
      case ActionKind::backward:
        return backward_s(action);
      case ActionKind::backward_input:
        return backward_s(action) - of.backward_weight_s;
      case ActionKind::backward_weight:
        return of.backward_weight_s;
      case ActionKind::recompute:
        return of.recompute_s;
      default:
        return 0;
    }
  }
  // Returns the stage from which the action takes its input (step -1), or to which its result goes
  // (+1); -1 if there is none.
  int other_stage(const Action& action, int step) const {
    const bool forward = action.kind == ActionKind::forward;
    const bool gradient =
        action.kind == ActionKind::backward || action.kind == ActionKind::backward_input;
    if (!forward && !gradient) return -1;
    const int way = forward ? step : -step;
    const int at = schedule.model_stage(action.stage) + way;
    return at < 0 || at >= schedule.model_stages() ? -1 : action.stage + way;
  }
};

// Returns nothing if the theory does not allow the numbers.
inline std::optional<ScheduleSample> random_schedule(const ScheduleKind& kind,
                                                     RandomStream& random) {
  const auto below = [&](int bound) { return static_cast<int>(random.below(bound)); };
  ScheduleRequest request;
  request.ranks = 2 * (1 + below(3));
  request.chunks = kind.usual_chunks;
  request.microbatches = request.ranks * (1 + below(4));
  const bool sliced = kind.name == "seq1f1b" || kind.name == "terapipe";
  if (sliced) request.slices = 1 + below(4);
  ScheduleSample sample;
  const int cells = request.ranks * request.chunks * request.slices;
  for (int i = 0; i < cells; ++i) {
    StageCost cost{0.5 + random.uniform(), 0.5 + random.uniform(), random.uniform(),
                   1 + random.uniform(), 0.5 * random.uniform()};
    cost.recompute_s = 0.3 * random.uniform();
    cost.recomputed = random.uniform();
    cost.forward_hideable_s = cost.forward_s * random.uniform();
    cost.backward_hideable_s = cost.backward_input_s * random.uniform();
    sample.costs.push_back(cost);
  }
  sample.message_s = below(3) == 0 ? 0 : 0.4 * random.uniform();
  request.costs = sample.costs;
  request.message_s = sample.message_s;
  try {
    sample.schedule = kind.generate(request);
  } catch (const Error&) {
    return std::nullopt;
  }
  sample.schedule.microbatches *= std::exchange(sample.schedule.iterations, 1);
  return sample;
}

}  // namespace windtunnel
