#include "policies/evaluation/schedule_stages.hpp"

#include <algorithm>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Whether the action may follow an iteration's last backward and still belong to the iteration.
bool settles_gradients(const Action& action) {
  return action.kind == ActionKind::reduce_grad || action.kind == ActionKind::reshard;
}

// The evaluator would take a negative end for kPending.
void check_durations(const StageCost& cost, int stage) {
  CHECK(cost.forward_s >= 0 && cost.backward_input_s >= 0 && cost.backward_weight_s >= 0 &&
            cost.recompute_s >= 0,
        "stage {} has a negative duration", stage);
}

// Marks a schedule of one iteration. Searches the lists from both ends, only as far as necessary.
IterationMarks marks_of_one(const Schedule& schedule) {
  IterationMarks marks;
  marks.first_forward.assign(schedule.stages(), -1);
  marks.last_backward.assign(schedule.stages(), -1);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const auto& actions = schedule.actions[rank];
    const auto stages = std::ranges::count(schedule.rank_of_stage, rank);
    auto missing = stages;
    for (int at = 0; at < std::ssize(actions) && missing > 0; ++at) {
      int& first = marks.first_forward[actions[at].stage];
      if (actions[at].kind != ActionKind::forward || first >= 0) continue;
      first = at;
      --missing;
    }
    missing = stages;
    for (int at = static_cast<int>(std::ssize(actions)) - 1; at >= 0 && missing > 0; --at) {
      int& last = marks.last_backward[actions[at].stage];
      if (!makes_weight_gradient(actions[at].kind) || last >= 0) continue;
      last = at;
      --missing;
    }
    marks.end.push_back(static_cast<int>(std::ssize(actions)) - 1);
  }
  return marks;
}

}  // namespace

std::vector<bool> recomputing_stages(const Schedule& schedule) {
  std::vector<bool> recomputes(schedule.stages(), false);
  for (const auto& actions : schedule.actions) {
    for (const Action& action : actions) {
      if (action.kind == ActionKind::recompute) recomputes[action.stage] = true;
    }
  }
  return recomputes;
}

std::vector<StageTimes> stage_times(const Schedule& schedule, const std::vector<StageCost>& costs,
                                    const MessageTimes& messages,
                                    const std::vector<double>& slowdown) {
  const bool within = !schedule.explicit_recompute;
  const std::vector<bool> recomputes = within ? std::vector<bool>() : recomputing_stages(schedule);
  std::vector<StageTimes> stages;
  stages.reserve(static_cast<std::size_t>(schedule.stages()) * schedule.slices);
  for (int s = 0; s < schedule.stages(); ++s) {
    const int at = schedule.model_stage(s);
    const int rank = schedule.rank_of_stage[s];
    const int previous = at > 0 ? schedule.rank_of_stage[s - 1] : -1;
    const int next = at + 1 < schedule.model_stages() ? schedule.rank_of_stage[s + 1] : -1;
    const double slow = slowdown.empty() ? 1 : slowdown[rank];
    const bool keeps = !within && !recomputes[s];
    // Returns the delay of a message; 0 if the other stage is on the same rank.
    const auto delay_s = [&](const std::vector<double>& times, int other) {
      if (other < 0 || other == rank) return 0.0;
      const double seconds = times.size() == 1 ? times.front() : times[stages.size()];
      CHECK(seconds >= 0, "a message of stage {} takes negative time", s);
      return seconds;
    };
    for (int slice = 0; slice < schedule.slices; ++slice) {
      const StageCost cost = slowed(costs[at * schedule.slices + slice], slow);
      check_durations(cost, s);
      const double input_s = cost.backward_input_s + (within ? cost.recompute_s : 0);
      stages.push_back({.forward_s = cost.forward_s,
                        .backward_s = input_s + cost.backward_weight_s,
                        .backward_input_s = input_s,
                        .backward_weight_s = cost.backward_weight_s,
                        .recompute_s = cost.recompute_s,
                        .activation = cost.activation + (keeps ? cost.recomputed : 0),
                        .weight_activation = cost.weight_activation,
                        .recomputed = within || keeps ? 0 : cost.recomputed,
                        .delay_to_previous_s = delay_s(messages.backward_s, previous),
                        .delay_to_next_s = delay_s(messages.forward_s, next),
                        .previous_rank = previous,
                        .next_rank = next});
    }
  }
  return stages;
}

std::vector<IterationMarks> iteration_marks(const Schedule& schedule) {
  if (schedule.iterations == 1) return {marks_of_one(schedule)};
  IterationMarks none;
  none.first_forward.assign(schedule.stages(), -1);
  none.last_backward.assign(schedule.stages(), -1);
  none.end.assign(schedule.ranks, -1);
  std::vector<IterationMarks> marks(schedule.iterations, none);
  const int of_iteration = schedule.microbatches * schedule.slices;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const auto& actions = schedule.actions[rank];
    for (int at = 0; at < std::ssize(actions); ++at) {
      if (!makes_weight_gradient(actions[at].kind)) continue;
      IterationMarks& of = marks[actions[at].unit / of_iteration];
      of.last_backward[actions[at].stage] = of.end[rank] = at;
    }
    for (IterationMarks& of : marks) {
      while (of.end[rank] + 1 < std::ssize(actions) &&
             settles_gradients(actions[of.end[rank] + 1])) {
        ++of.end[rank];
      }
    }
    // Iterations of a rank end in their order; the last one ends with the list.
    for (int i = 1; i < schedule.iterations; ++i) {
      marks[i].end[rank] = std::max(marks[i].end[rank], marks[i - 1].end[rank]);
    }
    marks.back().end[rank] = static_cast<int>(std::ssize(actions)) - 1;
    int iteration = 0;
    for (int at = 0; at < std::ssize(actions); ++at) {
      while (at > marks[iteration].end[rank]) ++iteration;
      int& first = marks[iteration].first_forward[actions[at].stage];
      if (actions[at].kind == ActionKind::forward && first < 0) first = at;
    }
  }
  return marks;
}

}  // namespace windtunnel
