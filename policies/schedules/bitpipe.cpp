// BitPipe: two V-shaped pipelines run in opposite directions over the same ranks (Wu et al., arXiv
// 2410.19367; the order is that of github.com/wuhouming/BitPipe, 6fb0e22f).
#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

// The order of one rank's passes in a unit of p micro-batches, half of them in each direction.
// `half`: p / 2. `lone`: how many passes of the direction that enters nearer to this rank run
// before the first pass of the other direction arrives.
struct UnitOrder {
  int half;
  int lone;

  struct Pass {
    bool nearer;  // belongs to the direction that enters nearer to this rank
    bool later;   // forward: in the chunk on the way back; backward: in the chunk on the way out
    int index;    // index of the micro-batch within the unit and its direction
  };

  // Forwards and backwards have the same order, because the V is symmetric.
  std::vector<Pass> passes() const {
    std::vector<Pass> order;
    for (int i = 0; i < lone; ++i) order.push_back({true, false, i});
    for (int i = 0; i < half - lone; ++i) {
      order.push_back({false, false, i});
      order.push_back({true, false, lone + i});
    }
    for (int i = 0; i < lone; ++i) {
      order.push_back({false, false, half - lone + i});
      order.push_back({false, true, i});
    }
    for (int i = 0; i < half - lone; ++i) {
      order.push_back({true, true, i});
      order.push_back({false, true, lone + i});
    }
    for (int i = 0; i < lone; ++i) order.push_back({true, true, half - lone + i});
    return order;
  }
};

// Merges forwards and backwards alternately, as the published code does.
class Merge {
 public:
  Merge(const std::vector<Action>& forwards, const std::vector<Action>& backwards,
        std::vector<Action>& actions)
      : forward_(forwards.begin()), backward_(backwards.begin()), actions_(actions) {}

  void forwards(int count) {
    for (int i = 0; i < count; ++i) actions_.push_back(*forward_++);
  }
  void backwards(int count) {
    for (int i = 0; i < count; ++i) actions_.push_back(*backward_++);
  }
  void alternate(int count) {
    for (int i = 0; i < count; ++i) {
      forwards(1);
      backwards(1);
    }
  }

 private:
  std::vector<Action>::const_iterator forward_;
  std::vector<Action>::const_iterator backward_;
  std::vector<Action>& actions_;
};

}  // namespace

// Runs units of p micro-batches one after another. Micro-batches 0 to m/2 - 1 enter at rank 0
// (direction 0), the others at rank p - 1.
Schedule generate_bitpipe(const ScheduleRequest& request) {
  require_chunks("bitpipe", request, 2, 2);
  const int ranks = request.ranks;
  if (ranks % 2 != 0) {
    throw Error::of_key(
        "schedule",
        "'bitpipe' needs an even number of pipeline ranks, not {}: its two directions "
        "meet between two of them",
        ranks);
  }
  if (request.microbatches % ranks != 0) {
    throw Error::about({"batch.global", "schedule"},
                       "schedule 'bitpipe' works in units of as many micro-batches as there "
                       "are pipeline ranks: {} is no multiple of {}",
                       request.microbatches, ranks);
  }
  Schedule schedule = empty_schedule("bitpipe", request, Placement::vee, 2);
  const int half = ranks / 2;
  const int units = request.microbatches / ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    const int edge = std::min(rank, ranks - 1 - rank);  // ranks from here to the nearer end
    const UnitOrder order{half, half - edge};
    std::vector<Action> forwards;
    std::vector<Action> backwards;
    for (int unit = 0; unit < units; ++unit) {
      for (const UnitOrder::Pass pass : order.passes()) {
        const int direction = (rank < half) == pass.nearer ? 0 : 1;
        const int place = direction == 0 ? rank : ranks - 1 - rank;
        const int first = direction * 2 * ranks + place;
        const int second = direction * 2 * ranks + 2 * ranks - 1 - place;
        const int index = direction * units * half + unit * half + pass.index;
        forwards.emplace_back(ActionKind::forward, pass.later ? second : first, index);
        backwards.emplace_back(ActionKind::backward, pass.later ? first : second, index);
      }
    }
    const int ahead = ranks + half + edge;
    const int rest = 2 * ranks - ahead;
    Merge merge(forwards, backwards, schedule.actions[rank]);
    merge.forwards(ahead);
    for (int unit = 0; unit + 1 < units; ++unit) {
      merge.alternate(rest);
      merge.backwards(ahead - rest + 1);
      merge.alternate(rest - 1);
      merge.forwards(ahead - rest + 1);
    }
    merge.alternate(rest);
    merge.backwards(ahead);
  }
  return schedule;
}

}  // namespace windtunnel
