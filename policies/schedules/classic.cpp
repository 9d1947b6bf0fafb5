// Makes the schedules GPipe (Huang et al., NeurIPS 2019, arXiv 1811.06965), 1F1B (Narayanan et al.,
// ICML 2021, arXiv 2006.09503), eager 1F1B (Zhuang et al., MLSys 2023, arXiv 2211.05322), 2BP (Rae
// et al., arXiv 2405.18047) and Megatron-LM's interleaved 1F1B (Narayanan et al., SC 2021, arXiv
// 2104.04473).
#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

// Each rank runs its warm-up forwards, then one forward and one backward in turn.
Schedule one_forward_one_backward(std::string_view name, const ScheduleRequest& request,
                                  int ahead_per_rank) {
  require_chunks(name, request, 1, 1);
  Schedule schedule = empty_schedule(name, request);
  const int microbatches = schedule.microbatches;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    auto& actions = schedule.actions[rank];
    const int warm_up = std::min(ahead_per_rank * (schedule.ranks - 1 - rank), microbatches);
    int forward = 0;
    while (forward < warm_up) actions.push_back({ActionKind::forward, rank, forward++});
    for (int i = 0; i < microbatches; ++i) {
      if (forward < microbatches) actions.push_back({ActionKind::forward, rank, forward++});
      actions.push_back({ActionKind::backward, rank, i});
    }
  }
  return schedule;
}

// There is no simple rule for which p, m, v and group the order deadlocks, so it is evaluated.
void require_groups_fill(const Schedule& schedule, int group) {
  try {
    evaluate_schedule(schedule, std::vector<StageCost>(schedule.stages()), 0);
  } catch (const Error&) {
    const int rest = schedule.microbatches % group;
    throw Error::about(
        {"schedule.group", "batch.global", "schedule"},
        "schedule 'interleaved-1f1b' deadlocks with {} micro-batches on {} pipeline ranks of {} "
        "chunks: the last group holds {} micro-batches where {} are needed to fill the pipeline; "
        "make the micro-batches a multiple of the {}",
        schedule.microbatches, schedule.ranks, schedule.chunks, rest == 0 ? group : rest,
        schedule.ranks, group == schedule.ranks ? "ranks" : "group, and that at least the ranks");
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
    // The last micro-batch goes back first, because its activations have just been written.
    for (int i = microbatches - 1; i >= 0; --i) actions.push_back({ActionKind::backward, rank, i});
  }
  return schedule;
}

Schedule generate_1f1b(const ScheduleRequest& request) {
  return one_forward_one_backward("1f1b", request, 1);
}

// A rank runs two warm-up forwards, instead of one, for each later rank. This gives messages time
// to travel while the rank computes.
Schedule generate_eager_1f1b(const ScheduleRequest& request) {
  return one_forward_one_backward("eager-1f1b", request, 2);
}

Schedule generate_2bp(const ScheduleRequest& request) {
  return with_deferred_weights(one_forward_one_backward("2bp", request, 1));
}

// Megatron-LM: a group of micro-batches (p, unless the job sets another number) goes through chunk
// 0, then the same group through chunk 1, and so on. Backwards take the same order with the chunks
// reversed. If the group does not divide m, the last group is smaller, which lengthens the bubble
// and, if it is too small, deadlocks. torch uses groups of m / max(1, m / p), which must be whole,
// so its last group is never smaller; schedule.group can be set to this size.
Schedule generate_interleaved(const ScheduleRequest& request) {
  const int ranks = request.ranks;
  const int microbatches = request.microbatches;
  const int chunks = request.chunks;
  if (chunks < 2) {
    refuse_chunks("interleaved-1f1b", "at least 2 model chunks per rank", "; with 1 it is 1f1b");
  }
  const int group =
      request.group > 0 ? std::min(request.group, std::max(microbatches, ranks)) : ranks;
  Schedule schedule = empty_schedule("interleaved-1f1b", request);
  struct Unit {
    int microbatch;
    int chunk;
  };
  std::vector<Unit> order;
  order.reserve(static_cast<size_t>(microbatches) * chunks);
  for (int low = 0; low < microbatches; low += group) {
    const int high = std::min(low + group, microbatches);
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
    const int warm_up = std::min(2 * (ranks - rank - 1) + (chunks - 1) * group, units);
    while (forward < warm_up) add_forward();
    for (const Unit unit : order) {
      if (forward < units) add_forward();
      const int stage = (chunks - 1 - unit.chunk) * ranks + rank;
      actions.push_back({ActionKind::backward, stage, unit.microbatch});
    }
  }
  if (microbatches % group != 0 || group < ranks) require_groups_fill(schedule, group);
  return schedule;
}

}  // namespace windtunnel
