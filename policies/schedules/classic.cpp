#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "policies/schedule_evaluator.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

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

}  // namespace

Schedule generate_gpipe(const ScheduleRequest& request) {
  require_chunks("gpipe", request, 1, 1);
  Schedule schedule = empty_schedule("gpipe", request);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    auto& actions = schedule.actions[rank];
    const int microbatches = schedule.microbatches;
    for (int i = 0; i < microbatches; ++i) actions.push_back({ActionKind::forward, rank, i});
    // The last micro-batch comes first: its activations are the ones just written.
    for (int i = microbatches - 1; i >= 0; --i) actions.push_back({ActionKind::backward, rank, i});
  }
  return schedule;
}

Schedule generate_1f1b(const ScheduleRequest& request) {
  require_chunks("1f1b", request, 1, 1);
  Schedule schedule = empty_schedule("1f1b", request);
  const int microbatches = schedule.microbatches;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    auto& actions = schedule.actions[rank];
    const int warm_up = std::min(schedule.ranks - 1 - rank, microbatches);
    int forward = 0;
    while (forward < warm_up) actions.push_back({ActionKind::forward, rank, forward++});
    for (int i = 0; i < microbatches; ++i) {
      if (forward < microbatches) actions.push_back({ActionKind::forward, rank, forward++});
      actions.push_back({ActionKind::backward, rank, i});
    }
  }
  return schedule;
}

// Megatron-LM: micro-batches go in groups of p through chunk 0, then the same group through chunk
// 1, and so on; backwards take the same order with the chunks reversed. Where p does not
// divide m the last group is smaller, which lengthens the bubble and, with few micro-batches in it,
// deadlocks.
Schedule generate_interleaved(const ScheduleRequest& request) {
  const int ranks = request.ranks;
  const int microbatches = request.microbatches;
  const int chunks = request.chunks;
  if (chunks < 2) {
    throw Error(
        "schedule 'interleaved-1f1b' needs at least 2 model chunks per rank (layout.vpp); "
        "with 1 it is 1f1b");
  }
  Schedule schedule = empty_schedule("interleaved-1f1b", request);
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

}  // namespace windtunnel
