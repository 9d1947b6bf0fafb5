#include "policies/search/periodic_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "policies/schedules/generators.hpp"
#include "policies/search/split_order.hpp"

namespace windtunnel {
namespace {

// How many micro-batches are in flight depends on the delay of the last rank's first backward.
// Delays of up to this many periods are searched separately.
constexpr int kLanes = 6;
// Number of partial patterns that the dynamic program keeps for each rank and lane.
constexpr size_t kMostStates = 16;
// Weight of a stage's activations relative to a period of room. Smaller and larger weights lose
// patterns (tested up to p = 16).
constexpr double kMemoryWeight = 0.1;
// Periods relative to the busiest rank's time, tried in turn until the memory limit is met.
constexpr double kPeriods[] = {1, 1.01, 1.03, 1.06, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.75, 2};

// Chunk A is the rank's stage on the way down, chunk B the one on the way back. With one chunk per
// rank there is no B.
enum Op { kForwardA, kForwardB, kInputB, kInputA, kWeightB, kWeightA, kOps };

// When a rank starts each op of one unit, from the start of the unit's forward of A.
using Starts = std::array<double, kOps>;

struct RankTimes {
  int rank = 0;
  std::array<double, kOps> duration_s{};
  double activation_a = 0;
  double activation_b = 0;
  double weight_activation_a = 0;
  double weight_activation_b = 0;
  std::vector<int> ops;  // the ops that the rank has

  double work_s() const { return std::accumulate(duration_s.begin(), duration_s.end(), 0.0); }
};

// Places ops in a given order within the period. Each starts at its offset from the start of the
// forward of A, plus a delay, plus whole periods. The delay never decreases from op to op and is at
// most the rank's spare time.
class OpPlacer {
 public:
  OpPlacer(const Starts& offsets, double spare_s, double period_s)
      : offsets_(offsets), spare_s_(spare_s), period_s_(period_s) {
    delays_s_.fill(-1);
  }

  // Returns the first start from `least_s` on that fits between the ops placed earlier.
  double place(Op op, double least_s) {
    double low_s = 0;
    double high_s = spare_s_;
    for (int other = 0; other < kOps; ++other) {
      if (delays_s_[other] < 0) continue;
      if (offsets_[other] <= offsets_[op]) {
        low_s = std::max(low_s, delays_s_[other]);
      } else {
        high_s = std::min(high_s, delays_s_[other]);
      }
    }
    const double turns = std::floor((least_s - offsets_[op]) / period_s_ + kSlack);
    double delay_s = std::max(least_s - offsets_[op] - turns * period_s_, low_s);
    double start_s = offsets_[op] + turns * period_s_;
    if (delay_s > high_s + kSlack * period_s_) {
      delay_s = low_s;
      start_s += period_s_;
    }
    delays_s_[op] = delay_s;
    return start_s + delay_s;
  }

 private:
  const Starts& offsets_;
  double spare_s_;
  double period_s_;
  std::array<double, kOps> delays_s_{};  // -1: not placed yet
};

// Returns how many of the intervals [start, end), repeated with the period, contain the time t.
double alive(double start_s, double end_s, double t, double period_s) {
  return std::floor((t - start_s) / period_s + kSlack) -
         std::floor((t - end_s) / period_s + kSlack);
}

double peak_of(const RankTimes& rank, const Starts& starts, double period_s) {
  const auto end_s = [&](Op op) { return starts[op] + rank.duration_s[op]; };
  const auto at = [&](double t) {
    double total = rank.activation_a * alive(starts[kForwardA], end_s(kInputA), t, period_s) +
                   rank.weight_activation_a * alive(end_s(kInputA), end_s(kWeightA), t, period_s);
    if (rank.activation_b > 0) {
      total += rank.activation_b * alive(starts[kForwardB], end_s(kInputB), t, period_s) +
               rank.weight_activation_b * alive(end_s(kInputB), end_s(kWeightB), t, period_s);
    }
    return total;
  };
  return std::max(at(starts[kForwardA]), at(starts[kForwardB]));
}

// A pattern of this rank and all later ones. In every member except starts[kInputB] smaller is
// better.
struct State {
  Starts starts{};
  double peak = 0;
  int from = -1;  // index of the next rank's state that it extends

  bool dominates(const State& other) const {
    return starts[kForwardB] <= other.starts[kForwardB] + kSlack &&
           starts[kInputB] >= other.starts[kInputB] - kSlack &&
           starts[kInputA] <= other.starts[kInputA] + kSlack && peak <= other.peak + kSlack;
  }
};

class Pattern {
 public:
  Pattern(const ScheduleRequest& request, double period_factor)
      : request_(request), vee_(request.chunks == 2) {
    const std::vector<StageCost> costs = costs_of(request);
    for (int rank = 0; rank < request.ranks; ++rank) {
      const StageCost& a = costs[rank];
      const StageCost b = vee_ ? costs[2 * request.ranks - 1 - rank] : StageCost{};
      RankTimes& at = ranks_.emplace_back();
      at.rank = rank;
      at.duration_s = {a.forward_s,
                       b.forward_s,
                       b.backward_input_s + b.recompute_s,
                       a.backward_input_s + a.recompute_s,
                       b.backward_weight_s,
                       a.backward_weight_s};
      at.activation_a = a.activation;
      at.activation_b = b.activation;
      at.weight_activation_a = a.weight_activation;
      at.weight_activation_b = b.weight_activation;
      at.ops = vee_ ? std::vector<int>{kForwardB, kInputB, kInputA, kWeightB, kWeightA}
                    : std::vector<int>{kInputA, kWeightA};
      period_s_ = std::max(period_s_, at.work_s() * period_factor);
    }
  }

  // Returns the best pattern of each lane that has any.
  std::vector<PeriodicOrder> solve() {
    std::vector<std::vector<Starts>> offsets;
    for (const RankTimes& rank : ranks_) offsets.push_back(cyclic_orders(rank));
    std::vector<PeriodicOrder> orders;
    const int lanes = vee_ ? kLanes : 1;
    for (int lane = 0; lane < lanes; ++lane) {
      least_turn_s_ = lane * period_s_;
      levels_.assign(ranks_.size(), {});
      for (int rank = request_.ranks - 1; rank >= 0; --rank) {
        for (const Starts& each : offsets[rank]) extend(rank, each);
        prune(rank);
        if (levels_[rank].empty()) break;
      }
      if (!levels_.front().empty()) orders.push_back(unrolled(levels_.front().front()));
    }
    return orders;
  }

  double period_s() const { return period_s_; }

 private:
  // Returns every order of the ops after the forward of A; each starts when the one before ends.
  static std::vector<Starts> cyclic_orders(const RankTimes& rank) {
    std::vector<Starts> orders;
    std::vector<int> ops = rank.ops;
    std::ranges::sort(ops);
    do {
      Starts starts{};
      double now_s = rank.duration_s[kForwardA];
      for (const int op : ops) {
        starts[op] = now_s;
        now_s += rank.duration_s[op];
      }
      orders.push_back(starts);
    } while (std::ranges::next_permutation(ops).found);
    return orders;
  }

  // Extends every state of the next rank by `rank` with these offsets.
  void extend(int rank, const Starts& offsets) {
    if (rank + 1 == request_.ranks) {
      extend_from(rank, offsets, nullptr, -1);
      return;
    }
    const auto& behind = levels_[rank + 1];
    for (int i = 0; i < static_cast<int>(behind.size()); ++i) {
      extend_from(rank, offsets, &behind[i], i);
    }
  }

  void extend_from(int rank, const Starts& offsets, const State* behind, int from) {
    const RankTimes& at = ranks_[rank];
    const auto& own_s = at.duration_s;
    const double message_s = request_.message_s;
    State state;
    state.from = from;
    if (!vee_) {
      double least_s = own_s[kForwardA];
      if (behind != nullptr) {
        least_s += 2 * message_s + behind->starts[kInputA] + ranks_[rank + 1].duration_s[kInputA];
      }
      OpPlacer placer(offsets, period_s_ - at.work_s(), period_s_);
      state.starts[kInputA] = placer.place(kInputA, least_s);
      finish(at, placer, state);
      return;
    }
    double forward_s = own_s[kForwardA];
    double input_s = 0;
    double most_s = 0;
    if (behind != nullptr) {
      const auto& next_s = ranks_[rank + 1].duration_s;
      forward_s += 2 * message_s + behind->starts[kForwardB] + next_s[kForwardB];
      input_s = own_s[kForwardA] + 2 * message_s + behind->starts[kInputA] + next_s[kInputA];
      most_s = behind->starts[kInputB] + own_s[kForwardA] - own_s[kInputB];
    }
    OpPlacer placer(offsets, period_s_ - at.work_s(), period_s_);
    state.starts[kForwardB] = placer.place(kForwardB, forward_s);
    const double turn_s = state.starts[kForwardB] + turn_above_s(rank);
    double least_s = turn_s;
    if (behind == nullptr) {
      least_s = turn_s + least_turn_s_;
      most_s = least_s + period_s_;
    }
    for (double b_s = placer.place(kInputB, least_s); b_s <= most_s * (1 + kSlack);
         b_s += period_s_) {
      State next = state;
      OpPlacer rest = placer;
      next.starts[kInputB] = b_s;
      next.starts[kInputA] = rest.place(kInputA, std::max(input_s, b_s + own_s[kInputB]));
      finish(at, rest, next);
    }
  }

  // Returns the shortest time from the start of the forward of B on this rank to that of its input
  // gradient there, through all earlier ranks and back.
  double turn_above_s(int rank) const {
    double turn_s = ranks_[0].duration_s[kForwardB];
    for (int r = 0; r < rank; ++r) {
      turn_s += ranks_[r].duration_s[kInputB] + ranks_[r + 1].duration_s[kForwardB] +
                2 * request_.message_s;
    }
    return turn_s;
  }

  void finish(const RankTimes& at, OpPlacer& placer, State state) {
    auto& starts = state.starts;
    if (vee_) starts[kWeightB] = placer.place(kWeightB, starts[kInputB] + at.duration_s[kInputB]);
    starts[kWeightA] = placer.place(kWeightA, starts[kInputA] + at.duration_s[kInputA]);
    state.peak = peak_of(at, starts, period_s_);
    if (state.from >= 0) state.peak = std::max(state.peak, levels_[at.rank + 1][state.from].peak);
    if (request_.memory_limit > 0 && state.peak > request_.memory_limit * (1 + kSlack)) return;
    levels_[at.rank].push_back(state);
  }

  // Keeps the states that no other state beats in every member. If there are too many, keeps those
  // that leave most room to the ranks that come next, weighed against memory.
  void prune(int rank) {
    const RankTimes& at = ranks_[rank];
    const double activation = std::max(at.activation_a + at.activation_b, 1e-300);
    const auto promise = [&](const State& state) {
      const double way_s = state.starts[kForwardB] + state.starts[kInputA] - state.starts[kInputB];
      return way_s / period_s_ + kMemoryWeight * state.peak / activation;
    };
    std::vector<State>& states = levels_[rank];
    std::ranges::stable_sort(states, {}, promise);
    std::vector<State> kept;
    for (const State& state : states) {
      if (kept.size() == kMostStates) break;
      if (std::ranges::none_of(kept, [&](const State& k) { return k.dominates(state); })) {
        kept.push_back(state);
      }
    }
    states = std::move(kept);
    if (rank == 0) std::ranges::stable_sort(states, {}, &State::peak);
  }

  // Returns the activations that one micro-batch keeps on a rank, averaged over ranks.
  double activation_of_one() const {
    double sum = 0;
    for (const StageCost& cost : costs_of(request_)) sum += cost.activation;
    return sum > 0 ? sum / request_.ranks : 1;
  }

  PeriodicOrder unrolled(const State& first) const {
    PeriodicOrder order{
        fmt::format("periodic, {:.3g} micro-batches in memory", first.peak / activation_of_one()),
        period_s_, first.peak,
        empty_schedule("periodic", request_, vee_ ? Placement::vee : Placement::looped)};
    struct Timed {
      double start_s;
      Action action;
    };
    const State* state = &first;
    for (const RankTimes& at : ranks_) {
      std::vector<Timed> timed;
      const int a = at.rank;
      const int b = 2 * request_.ranks - 1 - at.rank;
      for (int unit = 0; unit < request_.microbatches; ++unit) {
        const auto add = [&](Op op, ActionKind kind, int stage) {
          timed.push_back({state->starts[op] + unit * period_s_, {kind, stage, unit}});
        };
        add(kForwardA, ActionKind::forward, a);
        if (vee_) add(kForwardB, ActionKind::forward, b);
        if (vee_) add(kInputB, ActionKind::backward_input, b);
        add(kInputA, ActionKind::backward_input, a);
        if (vee_) add(kWeightB, ActionKind::backward_weight, b);
        add(kWeightA, ActionKind::backward_weight, a);
      }
      std::ranges::stable_sort(timed, {}, &Timed::start_s);
      for (const Timed& each : timed) order.schedule.actions[at.rank].push_back(each.action);
      if (state->from >= 0) state = &levels_[at.rank + 1][state->from];
    }
    return order;
  }

  const ScheduleRequest& request_;
  const bool vee_;
  std::vector<RankTimes> ranks_;
  double period_s_ = 0;
  // the least delay of the last rank's first backward in this lane
  double least_turn_s_ = 0;
  std::vector<std::vector<State>> levels_;  // [rank]
};

}  // namespace

std::vector<PeriodicOrder> periodic_orders(const ScheduleRequest& request) {
  if (request.chunks > 2) return {};
  for (const double factor : kPeriods) {
    Pattern pattern(request, factor);
    if (pattern.period_s() <= 0) return {};
    std::vector<PeriodicOrder> orders = pattern.solve();
    if (!orders.empty()) return orders;
  }
  return {};
}

}  // namespace windtunnel
