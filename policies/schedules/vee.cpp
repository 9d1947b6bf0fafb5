// Two chunks per rank in a V: ZB-V (Qi et al., Zero Bubble, ICLR 2024, arXiv 2401.10241) in torch's
// fixed order, V-Half and V-Min (Qi et al., controllable memory, NeurIPS 2024, arXiv 2405.15362).
#include <algorithm>

#include "policies/schedules/generators.hpp"
#include "policies/schedules/repeated_block.hpp"

namespace windtunnel {
namespace {

// A micro-batch takes six slots on a rank: F, I and W of two chunks.
constexpr int kPeriod = 6;

// Makes the actions of one rank of ZB-V. Its phases need at least 2p - 1 micro-batches, so the
// order is made for that many, and then micro-batches from `wanted` on are left out.
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
  int next_[3][2] = {};  // [forward, input gradient, weight gradient][chunk] next unit
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

// Has the paper's building blocks. For some p a gap at the turn prevents that passes of two
// micro-batches get the same slot.
Schedule generate_v_half(const ScheduleRequest& request) {
  require_chunks("v-half", request, 2, 2);
  Schedule schedule = empty_schedule("v-half", request, Placement::vee);
  const int p = request.ranks;
  const int gap = p % 2 == 0 ? 3 : 0;
  std::vector<BlockSlots> block;
  for (int r = 0; r < p; ++r) {
    block.push_back({2 * r, 3 * p - r - 2, 3 * p + gap + 2 * r - 1, 6 * p + gap - r - 2});
  }
  repeat_block(block, kPeriod, schedule);
  return schedule;
}

Schedule generate_v_min(const ScheduleRequest& request) {
  require_chunks("v-min", request, 2, 2);
  Schedule schedule = empty_schedule("v-min", request, Placement::vee);
  const int p = request.ranks;
  const int gap = p % 3 == 0 ? 2 : 0;
  std::vector<BlockSlots> block;
  for (int r = 0; r < p; ++r) {
    block.push_back({r, 2 * p - r - 1, 2 * p + gap + r, 4 * p + gap - r - 1});
  }
  repeat_block(block, kPeriod, schedule);
  return schedule;
}

}  // namespace windtunnel
