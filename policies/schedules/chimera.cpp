// Chimera: two 1F1B pipelines run in opposite directions over the same ranks and fill each other's
// gaps (Li and Hoefler, SC 2021, arXiv 2107.06925).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {

// Each direction runs 1F1B with a free slot after every pass, which a pass of the other direction
// fills: the number of ranks is even, so one direction has the even slots of a rank and the other
// the odd ones. A rank repeats the actions of slot t in slot t + 2p for the next unit of p
// micro-batches, so units join without a gap if every pass takes one slot. With a group of 2 a slot
// holds the passes of two micro-batches (the paper's forward doubling) or of two halves of one (its
// backward halving). If a backward takes as long as two forwards, this closes the gaps between
// units, for twice the activations. Micro-batches 0 to m/2 - 1 enter at rank 0 (direction 0), the
// others at rank p - 1.
Schedule generate_chimera(const ScheduleRequest& request) {
  require_chunks("chimera", request, 1, 1);
  const int ranks = request.ranks;
  if (ranks % 2 != 0) {
    throw Error::of_key("schedule",
                        "'chimera' needs an even number of pipeline ranks, not {}: with an odd "
                        "number the two directions meet on one rank; 1f1b takes any",
                        ranks);
  }
  if (request.microbatches % 2 != 0) {
    throw Error::about({"batch.global", "schedule"},
                       "schedule 'chimera' needs an even number of micro-batches, half of them in "
                       "each direction, not {}",
                       request.microbatches);
  }
  Schedule schedule = empty_schedule("chimera", request, Placement::looped, 2);
  const int each_way = request.microbatches / 2;
  const int group = std::max(request.group, 1);
  std::vector<std::pair<int, Action>> passes;  // by slot
  for (int rank = 0; rank < ranks; ++rank) {
    passes.clear();
    for (int direction = 0; direction < 2; ++direction) {
      const int place = direction == 0 ? rank : ranks - 1 - rank;
      const int stage = direction * ranks + place;
      for (int i = 0; i < each_way; ++i) {
        const int pass = i / group;
        const int start = pass / (ranks / 2) * 2 * ranks + pass % (ranks / 2) * 2;
        const int unit = direction * each_way + i;
        passes.push_back({start + place, {ActionKind::forward, stage, unit}});
        passes.push_back({start + 2 * ranks - 1 - place, {ActionKind::backward, stage, unit}});
      }
    }
    std::ranges::stable_sort(passes, {}, &std::pair<int, Action>::first);
    for (const auto& [slot, action] : passes) schedule.actions[rank].push_back(action);
  }
  return schedule;
}

}  // namespace windtunnel
