#include "policies/schedule_validator.hpp"

#include <fmt/format.h>

#include <string_view>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

[[noreturn]] void reject(const Schedule& schedule, int rank, const Action& action,
                         std::string_view why) {
  throw Error(fmt::format("schedule '{}', rank {}, action {}: {}", schedule.name, rank,
                          to_string(action), why));
}

// What has happened to one micro-batch on one stage.
struct Progress {
  bool forward = false;
  bool backward_input = false;
  bool backward_weight = false;
};

void advance(const Schedule& schedule, int rank, const Action& action, Progress& progress) {
  switch (action.kind) {
    case ActionKind::forward:
      if (progress.forward) reject(schedule, rank, action, "done twice");
      progress.forward = true;
      return;
    case ActionKind::backward:
    case ActionKind::backward_input:
      if (!progress.forward) reject(schedule, rank, action, "comes before its forward");
      if (progress.backward_input) reject(schedule, rank, action, "done twice");
      progress.backward_input = true;
      if (action.kind == ActionKind::backward) progress.backward_weight = true;
      return;
    case ActionKind::backward_weight:
      if (!progress.backward_input)
        reject(schedule, rank, action, "comes before its input gradient");
      if (progress.backward_weight) reject(schedule, rank, action, "done twice");
      progress.backward_weight = true;
      return;
    default:
      return;
  }
}

void check_numbers(const Schedule& schedule) {
  const auto wrong = [&](std::string_view why) {
    throw Error(fmt::format("schedule '{}': {}", schedule.name, why));
  };
  if (schedule.ranks < 1 || schedule.chunks < 1 || schedule.units() < 1) {
    wrong("ranks, chunks and micro-batches must be at least 1");
  }
  if (static_cast<int>(schedule.rank_of_stage.size()) != schedule.stages()) {
    wrong(fmt::format("{} stages have a rank, not {}", schedule.rank_of_stage.size(),
                      schedule.stages()));
  }
  for (const int rank : schedule.rank_of_stage) {
    if (rank < 0 || rank >= schedule.ranks) wrong(fmt::format("a stage lies on rank {}", rank));
  }
  if (static_cast<int>(schedule.actions.size()) != schedule.ranks) {
    wrong(fmt::format("{} ranks have actions, not {}", schedule.actions.size(), schedule.ranks));
  }
}

}  // namespace

void validate_schedule(const Schedule& schedule) {
  check_numbers(schedule);
  const size_t microbatches = schedule.units();
  std::vector<Progress> progress(schedule.stages() * microbatches);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (const Action& action : schedule.actions[rank]) {
      if (action.stage < 0 || action.stage >= schedule.stages()) {
        reject(schedule, rank, action, fmt::format("there are {} stages", schedule.stages()));
      }
      if (action.unit < 0 || action.unit >= schedule.units()) {
        reject(schedule, rank, action, fmt::format("there are {} micro-batches", schedule.units()));
      }
      if (schedule.rank_of_stage[action.stage] != rank) {
        reject(schedule, rank, action,
               fmt::format("the stage lies on rank {}", schedule.rank_of_stage[action.stage]));
      }
      advance(schedule, rank, action, progress[action.stage * microbatches + action.unit]);
    }
  }
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    for (int i = 0; i < schedule.units(); ++i) {
      const Progress& done = progress[stage * microbatches + i];
      const int rank = schedule.rank_of_stage[stage];
      if (!done.forward) reject(schedule, rank, {ActionKind::forward, stage, i}, "is missing");
      if (!done.backward_input)
        reject(schedule, rank, {ActionKind::backward, stage, i}, "is missing");
      if (!done.backward_weight) {
        reject(schedule, rank, {ActionKind::backward_weight, stage, i}, "is missing");
      }
    }
  }
}

}  // namespace windtunnel
