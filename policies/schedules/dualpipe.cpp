// DualPipe and DualPipeV: two streams of micro-batches meet on every rank, and a forward of one
// runs with a backward of the other (DeepSeek-V3, arXiv 2412.19437;
// github.com/deepseek-ai/DualPipe).
#include <fmt/format.h>

#include <deque>

#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

// One of the two streams of micro-batches that meet on a rank.
struct Lane {
  int stage = 0;
  int forward = 0;   // next unit to go forward
  int backward = 0;  // next unit to go back
};

// Makes the eight phases of a rank. Lane 0 is the stream that enters nearer to the rank, lane 1 the
// other. `depth`: ranks from lane 0's entry to the middle (in a V: to the bottom); `place`: this
// rank's index among them; `units`: number of units in each lane.
class DualOrder {
 public:
  DualOrder(Lane lane_0, Lane lane_1, std::vector<Action>& actions)
      : lanes_{lane_0, lane_1}, actions_(actions) {}

  void add(int depth, int place, int units) {
    const int above = depth - place - 1;  // ranks between this one and the middle
    for (int i = 0; i < 2 * above; ++i) forward(0);
    for (int i = 0; i <= place; ++i) {
      forward(0);
      forward(1);
    }
    for (int i = 0; i < above; ++i) {
      backward_input(1);
      oldest_weight();
      forward(1);
    }
    for (int i = 0; i < units - 2 * depth + place + 1; ++i) {
      // On the middle rank the first backward needs the forward that has just run, so these two
      // cannot overlap.
      const bool alone = i == 0 && above == 0;
      pair(0, 1, !alone);
      pair(1, 0);
    }
    for (int i = 0; i < above; ++i) {
      backward(1);
      pair(1, 0);
    }
    // The later half has only input gradients; weight gradients run while the pipeline drains.
    for (int i = 0; i < 2 * (place + 1); ++i) {
      const int lane = 1 - i % 2;
      i <= place ? backward(lane) : backward_input(lane);
    }
    for (int i = 0; i < above; ++i) {
      oldest_weight();
      backward_input(0);
    }
    while (!weights_.empty()) oldest_weight();
  }

 private:
  void forward(int lane, bool with_next = false) {
    Lane& at = lanes_[lane];
    actions_.emplace_back(ActionKind::forward, at.stage, at.forward++, with_next);
  }
  void backward(int lane) {
    Lane& at = lanes_[lane];
    actions_.emplace_back(ActionKind::backward, at.stage, at.backward++);
  }
  void backward_input(int lane) {
    Lane& at = lanes_[lane];
    actions_.emplace_back(ActionKind::backward_input, at.stage, at.backward);
    weights_.emplace_back(ActionKind::backward_weight, at.stage, at.backward++);
  }
  void pair(int forward_lane, int backward_lane, bool overlapped = true) {
    forward(forward_lane, overlapped);
    backward(backward_lane);
  }
  void oldest_weight() {
    if (weights_.empty()) return;
    actions_.push_back(weights_.front());
    weights_.pop_front();
  }

  Lane lanes_[2];
  std::vector<Action>& actions_;
  std::deque<Action> weights_;  // deferred weight gradients
};

}  // namespace

// Units 0 to m/2 - 1 enter at rank 0 (direction 0), the others at rank p - 1.
Schedule generate_dualpipe(const ScheduleRequest& request) {
  require_chunks("dualpipe", request, 1, 1);
  const int ranks = request.ranks;
  if (ranks % 2 != 0) {
    throw Error::of_key("schedule",
                        "'dualpipe' needs an even number of pipeline ranks, not {}: its two "
                        "directions meet between two of them; dualpipev takes any",
                        ranks);
  }
  if (request.microbatches % 2 != 0 || request.microbatches < 2 * ranks) {
    throw Error::about(
        {"batch.global", "schedule"},
        "schedule 'dualpipe' needs an even number of micro-batches, half of them in each "
        "direction, and at least two per rank to fill both: {} ranks need {} or more, not {}",
        ranks, 2 * ranks, request.microbatches);
  }
  Schedule schedule = empty_schedule("dualpipe", request, Placement::looped, 2);
  const int units = request.microbatches / 2;
  for (int rank = 0; rank < ranks; ++rank) {
    const Lane down{rank, 0, 0};
    const Lane up{ranks + ranks - 1 - rank, units, units};
    const bool first_half = rank < ranks / 2;
    DualOrder order(first_half ? down : up, first_half ? up : down, schedule.actions[rank]);
    order.add(ranks / 2, first_half ? rank : ranks - 1 - rank, units);
  }
  return schedule;
}

// The second half of the model goes back over the ranks. Lane 1 is the chunk on the way back.
Schedule generate_dualpipev(const ScheduleRequest& request) {
  require_chunks("dualpipev", request, 2, 2);
  const int ranks = request.ranks;
  if (request.microbatches < 2 * ranks) {
    throw Error::about(
        {"batch.global", "schedule"},
        "schedule 'dualpipev' needs two micro-batches per pipeline rank to fill both "
        "arms of its V: {} ranks need {} or more, not {}; zb-v takes fewer",
        ranks, 2 * ranks, request.microbatches);
  }
  Schedule schedule = empty_schedule("dualpipev", request, Placement::vee);
  for (int rank = 0; rank < ranks; ++rank) {
    DualOrder order({rank, 0, 0}, {2 * ranks - 1 - rank, 0, 0}, schedule.actions[rank]);
    order.add(ranks, rank, request.microbatches);
  }
  return schedule;
}

}  // namespace windtunnel
