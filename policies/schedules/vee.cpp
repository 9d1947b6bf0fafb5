#include <algorithm>

#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

// The actions of one rank of ZB-V. Micro-batches from `wanted` on are left out: with fewer than
// 2p - 1 the phases below would not meet.
class ZeroBubbleVee {
 public:
  ZeroBubbleVee(int ranks, int rank, int wanted, std::vector<Action>& actions)
      : ranks_(ranks), rank_(rank), wanted_(wanted), actions_(actions) {}

  void add() {
    const int units = std::max(wanted_, 2 * ranks_ - 1);
    const int below = ranks_ - rank_;  // ranks from here to the bottom of the V
    for (int i = 0; i < 2 * below - 1; ++i) add(ActionKind::forward, 0);
    for (int i = 0; i < rank_; ++i) {
      add(ActionKind::forward, 1);
      add(ActionKind::forward, 0);
    }
    for (int i = 0; i < below; ++i) add_three(1);
    while (next_[0][0] < units || next_[0][1] < next_[0][0]) {
      if (next_[0][0] < units) add(ActionKind::forward, 0);
      add(ActionKind::backward_input, 0);
      add(ActionKind::backward_weight, 0);
      add_three(1);
    }
    for (int i = 0; i < rank_; ++i) {
      add(ActionKind::backward_input, 0);
      add(ActionKind::backward_input, 1);
    }
    for (int i = 0; i < below; ++i) {
      add(ActionKind::backward_input, 0);
      add(ActionKind::backward_weight, 0);
    }
    while (next_[2][1] < units) add(ActionKind::backward_weight, 1);
    while (next_[2][0] < units) add(ActionKind::backward_weight, 0);
  }

 private:
  void add(ActionKind kind, int chunk) {
    const int row = kind == ActionKind::forward ? 0 : kind == ActionKind::backward_input ? 1 : 2;
    const int unit = next_[row][chunk]++;
    if (unit >= wanted_) return;
    actions_.emplace_back(kind, chunk == 0 ? rank_ : 2 * ranks_ - 1 - rank_, unit);
  }
  void add_three(int chunk) {
    add(ActionKind::forward, chunk);
    add(ActionKind::backward_input, chunk);
    add(ActionKind::backward_weight, chunk);
  }

  const int ranks_;
  const int rank_;
  const int wanted_;
  std::vector<Action>& actions_;
  int next_[3][2] = {};  // [forward, input gradient, weight gradient][chunk] unit
};

}  // namespace

Schedule generate_zb_v(const ScheduleRequest& request) {
  require_chunks("zb-v", request, 2, 2);
  Schedule schedule = empty_schedule("zb-v", request, Placement::vee);
  for (int rank = 0; rank < request.ranks; ++rank) {
    ZeroBubbleVee(request.ranks, rank, request.microbatches, schedule.actions[rank]).add();
  }
  return schedule;
}

Schedule generate_v_half(const ScheduleRequest&) {
  throw Error("v_half is not written yet");
}

Schedule generate_v_min(const ScheduleRequest&) {
  throw Error("v_min is not written yet");
}

}  // namespace windtunnel
