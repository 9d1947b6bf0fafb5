#include "policies/schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/base/error.hpp"
#include "policies/schedule_evaluator.hpp"

namespace windtunnel {
namespace {

// Some 2.4 GB of actions: beyond it the numbers are a mistake.
constexpr double kMostForwards = 1e8;

Schedule empty_schedule(std::string name, int ranks, int microbatches, int chunks) {
  Schedule schedule;
  schedule.name = std::move(name);
  schedule.ranks = ranks;
  schedule.chunks = chunks;
  schedule.microbatches = microbatches;
  schedule.rank_of_stage.resize(schedule.stages());
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    schedule.rank_of_stage[stage] = stage % ranks;
  }
  schedule.actions.resize(ranks);
  for (auto& actions : schedule.actions) {
    actions.reserve(2 * static_cast<size_t>(chunks) * microbatches);
  }
  return schedule;
}

void require_one_chunk(std::string_view name, int chunks) {
  if (chunks == 1) return;
  throw Error(
      fmt::format("schedule '{}' has one model chunk per rank, not {} (layout.vpp); "
                  "interleaved-1f1b takes more",
                  name, chunks));
}

Schedule generate_gpipe(int ranks, int microbatches, int chunks) {
  require_one_chunk("gpipe", chunks);
  Schedule schedule = empty_schedule("gpipe", ranks, microbatches, chunks);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& actions = schedule.actions[rank];
    for (int i = 0; i < microbatches; ++i) actions.push_back({ActionKind::forward, rank, i});
    // The last micro-batch comes first: its activations are the ones just written.
    for (int i = microbatches - 1; i >= 0; --i) actions.push_back({ActionKind::backward, rank, i});
  }
  return schedule;
}

Schedule generate_1f1b(int ranks, int microbatches, int chunks) {
  require_one_chunk("1f1b", chunks);
  Schedule schedule = empty_schedule("1f1b", ranks, microbatches, chunks);
  for (int rank = 0; rank < ranks; ++rank) {
    auto& actions = schedule.actions[rank];
    const int warm_up = std::min(ranks - 1 - rank, microbatches);
    int forward = 0;
    while (forward < warm_up) actions.push_back({ActionKind::forward, rank, forward++});
    for (int i = 0; i < microbatches; ++i) {
      if (forward < microbatches) actions.push_back({ActionKind::forward, rank, forward++});
      actions.push_back({ActionKind::backward, rank, i});
    }
  }
  return schedule;
}

// Which short last groups deadlock depends on p, m and v in no simple way: try.
void require_no_deadlock(const Schedule& schedule) {
  try {
    evaluate_schedule(schedule, std::vector<StageCost>(schedule.stages()), 0);
  } catch (const Error&) {
    throw Error(fmt::format(
        "schedule 'interleaved-1f1b' deadlocks with {} micro-batches on {} pipeline ranks of {} "
        "chunks: the last group holds {} micro-batches where {} are needed to fill the pipeline; "
        "make the micro-batches a multiple of the ranks",
        schedule.microbatches, schedule.ranks, schedule.chunks,
        schedule.microbatches % schedule.ranks, schedule.ranks));
  }
}

// Megatron-LM: micro-batches go in groups of p through chunk 0, then the same group through chunk
// 1, and so on; backwards take the same order with the chunks reversed. Where p does not
// divide m the last group is smaller, which lengthens the bubble and, with few micro-batches in it,
// deadlocks.
Schedule generate_interleaved(int ranks, int microbatches, int chunks) {
  if (chunks < 2) {
    throw Error(
        "schedule 'interleaved-1f1b' needs at least 2 model chunks per rank (layout.vpp); "
        "with 1 it is 1f1b");
  }
  Schedule schedule = empty_schedule("interleaved-1f1b", ranks, microbatches, chunks);
  struct Unit {
    int microbatch;
    int chunk;
  };
  std::vector<Unit> order;
  order.reserve(static_cast<size_t>(microbatches) * chunks);
  for (int low = 0; low < microbatches; low += ranks) {
    const int high = std::min(low + ranks, microbatches);
    for (int chunk = 0; chunk < chunks; ++chunk) {
      for (int i = low; i < high; ++i) order.push_back({i, chunk});
    }
  }
  const int units = static_cast<int>(order.size());
  for (int rank = 0; rank < ranks; ++rank) {
    auto& actions = schedule.actions[rank];
    int forward = 0;
    const auto add_forward = [&] {
      const Unit unit = order[forward++];
      actions.push_back({ActionKind::forward, unit.chunk * ranks + rank, unit.microbatch});
    };
    const int warm_up = std::min(2 * (ranks - rank - 1) + (chunks - 1) * ranks, units);
    while (forward < warm_up) add_forward();
    for (const Unit unit : order) {
      if (forward < units) add_forward();
      const int stage = (chunks - 1 - unit.chunk) * ranks + rank;
      actions.push_back({ActionKind::backward, stage, unit.microbatch});
    }
  }
  if (microbatches % ranks != 0) require_no_deadlock(schedule);
  return schedule;
}

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
  }
}

void check_numbers(const Schedule& schedule) {
  const auto wrong = [&](std::string_view why) {
    throw Error(fmt::format("schedule '{}': {}", schedule.name, why));
  };
  if (schedule.ranks < 1 || schedule.chunks < 1 || schedule.microbatches < 1) {
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

const std::vector<ScheduleKind>& schedule_kinds() {
  static const std::vector<ScheduleKind> kinds = {
      {"gpipe", "all forwards, then all backwards; keeps every micro-batch's activations",
       "Huang et al., NeurIPS 2019, arXiv 1811.06965", generate_gpipe},
      {"1f1b", "one forward, one backward; keeps at most p micro-batches' activations",
       "Narayanan et al. (PipeDream-flush), ICML 2021, arXiv 2006.09503", generate_1f1b},
      {"interleaved-1f1b", "1f1b over v model chunks per rank; the bubble shrinks by v",
       "Narayanan et al. (Megatron-LM), SC 2021, arXiv 2104.04473", generate_interleaved},
  };
  return kinds;
}

Schedule generate_schedule(std::string_view name, int ranks, int microbatches, int chunks) {
  if (ranks < 1 || microbatches < 1 || chunks < 1) {
    throw Error(
        fmt::format("a schedule needs at least 1 rank, micro-batch and chunk, not {}, {}, {}",
                    ranks, microbatches, chunks));
  }
  if (static_cast<double>(ranks) * microbatches * chunks > kMostForwards) {
    throw Error(fmt::format("a schedule of {} ranks, {} micro-batches and {} chunks is too large",
                            ranks, microbatches, chunks));
  }
  std::vector<std::string> known;
  for (const ScheduleKind& kind : schedule_kinds()) {
    if (kind.name == name) return kind.generate(ranks, microbatches, chunks);
    known.emplace_back(kind.name);
  }
  throw Error(unknown_name("schedule", name, known));
}

void validate_schedule(const Schedule& schedule) {
  check_numbers(schedule);
  const size_t microbatches = schedule.microbatches;
  std::vector<Progress> progress(schedule.stages() * microbatches);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (const Action& action : schedule.actions[rank]) {
      if (action.stage < 0 || action.stage >= schedule.stages()) {
        reject(schedule, rank, action, fmt::format("there are {} stages", schedule.stages()));
      }
      if (action.microbatch < 0 || action.microbatch >= schedule.microbatches) {
        reject(schedule, rank, action,
               fmt::format("there are {} micro-batches", schedule.microbatches));
      }
      if (schedule.rank_of_stage[action.stage] != rank) {
        reject(schedule, rank, action,
               fmt::format("the stage lies on rank {}", schedule.rank_of_stage[action.stage]));
      }
      advance(schedule, rank, action, progress[action.stage * microbatches + action.microbatch]);
    }
  }
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    for (int i = 0; i < schedule.microbatches; ++i) {
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

std::string to_string(const Action& action) {
  constexpr std::string_view kLetters = "FBIW";  // order of ActionKind
  return fmt::format("{}{}{}", action.stage, kLetters[static_cast<size_t>(action.kind)],
                     action.microbatch);
}

}  // namespace windtunnel
