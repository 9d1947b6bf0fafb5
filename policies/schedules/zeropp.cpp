// ZeroPP (arXiv 2402.03791). Its abstract says: scheduling units trade bubbles for memory and
// communication; within a unit, forwards, input gradients and weight gradients are staggered; a
// blockwise order goes well with fully sharded data parallelism. Here micro-batches run in units
// (ScheduleRequest::group). Each unit goes breadth first through the chunks and back, so a chunk is
// gathered twice per unit.
// The place of the weight gradients is assumed. Each rank runs them, oldest first, where it would
// otherwise wait for another rank at least as long as a weight gradient takes. If some are left
// when the next unit's input gradients begin, they run first, so that only those of one unit are
// ever outstanding. They need no weights, only the activations kept for them.
#include <algorithm>
#include <deque>

#include "models/base/error.hpp"
#include "policies/schedules/generators.hpp"

namespace windtunnel {
namespace {

constexpr double kPending = -1;

class Staggering {
 public:
  Staggering(const ScheduleRequest& request, Schedule& schedule)
      : schedule_(schedule),
        costs_(costs_of(request)),
        message_s_(request.message_s),
        units_(schedule.units()),
        forward_end_s_(static_cast<std::size_t>(schedule.stages()) * units_, kPending),
        input_end_s_(forward_end_s_),
        ranks_(schedule.ranks) {
    const int unit = request.group > 0 ? request.group : request.ranks;
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      for (int low = 0; low < units_; low += unit) {
        append_unit(rank, low, std::min(low + unit, units_));
      }
    }
  }

  void run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (int rank = 0; rank < schedule_.ranks; ++rank) moved |= run_rank(rank);
    }
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      CHECK(ranks_[rank].next == ranks_[rank].order.size(), "zeropp deadlocks");
      flush(rank);
    }
  }

 private:
  struct Rank {
    std::vector<Action> order;  // forwards and input gradients
    std::size_t next = 0;
    std::deque<Action> outstanding;  // weight gradients that are still to run
    double now_s = 0;
  };

  void append_unit(int rank, int low, int high) {
    auto& order = ranks_[rank].order;
    for (int chunk = 0; chunk < schedule_.chunks; ++chunk) {
      const int stage = chunk * schedule_.ranks + rank;
      for (int i = low; i < high; ++i) order.emplace_back(ActionKind::forward, stage, i);
    }
    for (int chunk = schedule_.chunks - 1; chunk >= 0; --chunk) {
      const int stage = chunk * schedule_.ranks + rank;
      for (int i = low; i < high; ++i) order.emplace_back(ActionKind::backward_input, stage, i);
    }
  }

  std::size_t at(int stage, int unit) const {
    return static_cast<std::size_t>(stage) * units_ + unit;
  }

  double delay_s(int from, int to) const {
    return schedule_.rank_of_stage[from] == schedule_.rank_of_stage[to] ? 0 : message_s_;
  }

  // Returns when the action's input is ready; kPending until some rank has made it.
  double ready_s(const Action& action) const {
    const bool forward = action.kind == ActionKind::forward;
    const int before = forward ? action.stage - 1 : action.stage + 1;
    if (before < 0 || before >= schedule_.stages()) return 0;
    const double made_s = (forward ? forward_end_s_ : input_end_s_)[at(before, action.unit)];
    return made_s == kPending ? kPending : made_s + delay_s(before, action.stage);
  }

  void run_weight(int rank) {
    Rank& state = ranks_[rank];
    const Action weight = state.outstanding.front();
    state.outstanding.pop_front();
    state.now_s += costs_[weight.stage].backward_weight_s;
    schedule_.actions[rank].push_back(weight);
  }

  void flush(int rank) {
    while (!ranks_[rank].outstanding.empty()) run_weight(rank);
  }

  // Runs the rank until its list ends or the input of its next action has not been made.
  bool run_rank(int rank) {
    Rank& state = ranks_[rank];
    const std::size_t first = state.next;
    for (; state.next < state.order.size(); ++state.next) {
      const Action& action = state.order[state.next];
      const double there_s = ready_s(action);
      if (there_s == kPending) break;
      const StageCost& cost = costs_[action.stage];
      while (!state.outstanding.empty() &&
             state.now_s + costs_[state.outstanding.front().stage].backward_weight_s <= there_s) {
        run_weight(rank);
      }
      const bool forward = action.kind == ActionKind::forward;
      const bool turns = !forward && state.order[state.next - 1].kind == ActionKind::forward;
      if (turns) flush(rank);
      state.now_s = std::max(state.now_s, there_s) +
                    (forward ? cost.forward_s : cost.recompute_s + cost.backward_input_s);
      (forward ? forward_end_s_ : input_end_s_)[at(action.stage, action.unit)] = state.now_s;
      schedule_.actions[rank].push_back(action);
      if (!forward) {
        state.outstanding.emplace_back(ActionKind::backward_weight, action.stage, action.unit);
      }
    }
    return state.next > first;
  }

  Schedule& schedule_;
  const std::vector<StageCost> costs_;
  const double message_s_;
  const int units_;
  std::vector<double> forward_end_s_;  // [stage * units + unit]
  std::vector<double> input_end_s_;
  std::vector<Rank> ranks_;
};

}  // namespace

Schedule generate_zeropp(const ScheduleRequest& request) {
  Schedule schedule = empty_schedule("zeropp", request);
  Staggering(request, schedule).run();
  return schedule;
}

}  // namespace windtunnel
