#include "policies/schedule_evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// Results are numbered: the activation of (stage, micro-batch) is stage * m + micro-batch, its
// input gradient stands behind all activations. -1 = nothing.
using ResultId = std::int64_t;
constexpr double kPending = -1;

// A stage as the inner loop reads it: [stage * slices + slice].
struct Stage {
  double forward_s;
  double backward_s;
  double backward_input_s;
  double backward_weight_s;
  double recompute_s;
  double activation;
  double weight_activation;
  double recomputed;
  double delay_to_previous_s;  // of a message between ranks, 0 within one
  double delay_to_next_s;
  std::int32_t previous_rank;  // -1 at the ends
  std::int32_t next_rank;
};

// Stages that have recompute actions.
std::vector<bool> recomputing_stages(const Schedule& schedule) {
  std::vector<bool> recomputes(schedule.stages(), false);
  for (const auto& actions : schedule.actions) {
    for (const Action& action : actions) {
      if (action.kind == ActionKind::recompute) recomputes[action.stage] = true;
    }
  }
  return recomputes;
}

// `boundaries`: see Boundaries.
std::vector<Stage> prepare_stages(const Schedule& schedule, const std::vector<StageCost>& costs,
                                  const Boundaries& boundaries) {
  const auto delay_s = [&](int from, int to) {
    if (from == to || to < 0) return 0.0;
    return boundaries.message_s[to == (from + 1) % schedule.ranks ? from : to];
  };
  const int of_replica = schedule.model_stages();
  const std::vector<bool> recomputes =
      schedule.explicit_recompute ? recomputing_stages(schedule) : std::vector<bool>();
  std::vector<Stage> stages;
  stages.reserve(static_cast<std::size_t>(schedule.stages()) * schedule.slices);
  for (int s = 0; s < schedule.stages(); ++s) {
    const int at = schedule.model_stage(s);
    const int rank = schedule.rank_of_stage[s];
    const int previous = at > 0 ? schedule.rank_of_stage[s - 1] : -1;
    const int next = at + 1 < of_replica ? schedule.rank_of_stage[s + 1] : -1;
    for (int slice = 0; slice < schedule.slices; ++slice) {
      const StageCost& cost = costs[at * schedule.slices + slice];
      // A negative end would read as "pending".
      CHECK(cost.forward_s >= 0 && cost.backward_input_s >= 0 && cost.backward_weight_s >= 0 &&
                cost.recompute_s >= 0,
            "stage {} has a negative duration", s);
      const bool within = !schedule.explicit_recompute;
      const bool keeps = schedule.explicit_recompute && !recomputes[s];
      const double input_s = cost.backward_input_s + (within ? cost.recompute_s : 0);
      stages.push_back({.forward_s = cost.forward_s,
                        .backward_s = input_s + cost.backward_weight_s,
                        .backward_input_s = input_s,
                        .backward_weight_s = cost.backward_weight_s,
                        .recompute_s = cost.recompute_s,
                        .activation = cost.activation + (keeps ? cost.recomputed : 0),
                        .weight_activation = cost.weight_activation,
                        .recomputed = within || keeps ? 0 : cost.recomputed,
                        .delay_to_previous_s = delay_s(rank, previous),
                        .delay_to_next_s = delay_s(rank, next),
                        .previous_rank = previous,
                        .next_rank = next});
    }
  }
  return stages;
}

struct RankState {
  const Action* next = nullptr;
  const Action* last = nullptr;  // one past the end
  ResultId waits_for = -1;
  double first_start_s = 0;
  double now_s = 0;
  double busy_s = 0;
  double activation = 0;
  double peak_activation = 0;
};

// The streams of a rank beside its compute stream.
struct SideStreams {
  double before_s = 0;   // end of the last piece but one
  double channel_s = 0;  // end of the last collective that was issued
  double reduce_s = 0;   // of the reduction that is to be issued next
  double sent_s = 0;     // end of the last message
};

// Which actions of a stage are special: positions in the list of its rank.
struct SpecialActions {
  const Action* first_forward = nullptr;
  const Action* last_backward = nullptr;
};

// Looks from both ends of the lists, no further than it must.
std::vector<SpecialActions> special_actions(const Schedule& schedule) {
  std::vector<SpecialActions> special(schedule.stages());
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    const auto& actions = schedule.actions[rank];
    const auto stages = std::ranges::count(schedule.rank_of_stage, rank);
    auto missing = stages;
    for (auto at = actions.begin(); at != actions.end() && missing > 0; ++at) {
      const Action*& first = special[at->stage].first_forward;
      if (at->kind != ActionKind::forward || first != nullptr) continue;
      first = &*at;
      --missing;
    }
    missing = stages;
    for (auto at = actions.rbegin(); at != actions.rend() && missing > 0; ++at) {
      const bool completes =
          at->kind == ActionKind::backward || at->kind == ActionKind::backward_weight;
      const Action*& last = special[at->stage].last_backward;
      if (!completes || last != nullptr) continue;
      last = &*at;
      --missing;
    }
  }
  return special;
}

// Runs each rank until it waits for another rank's result; the action that makes the result wakes
// it. Every action is looked at once, and once more if it had to wait. `kSide`: with the streams
// beside the compute stream.
template <bool kSide>
class Evaluation {
 public:
  Evaluation(const Schedule& schedule, const std::vector<StageCost>& costs,
             const Boundaries& boundaries, ScheduleSpans* spans,
             const CollectivesBeside* collectives = nullptr)
      : schedule_(schedule),
        stages_(prepare_stages(schedule, costs, boundaries)),
        blocking_(boundaries.blocking),
        costs_(costs),
        units_(schedule.units()),
        slices_(schedule.slices),
        gradients_(static_cast<ResultId>(schedule.stages()) * units_),
        there_s_(2 * gradients_, kPending),
        ranks_(schedule.ranks),
        iteration_end_s_(schedule.iterations, 0),
        spans_(spans),
        collectives_(collectives) {
    if constexpr (kSide) {
      side_.resize(schedule.ranks);
      if (collectives_ != nullptr) {
        special_ = special_actions(schedule);
        for (int rank = 0; rank < schedule.ranks; ++rank) {
          side_[rank].channel_s = collectives_->channel_s[rank];
        }
      }
    }
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      const auto& actions = schedule.actions[rank];
      ranks_[rank].next = actions.data();
      ranks_[rank].last = actions.data() + actions.size();
    }
    if (spans_ != nullptr) {
      spans_->assign(schedule.ranks, {});
      for (int rank = 0; rank < schedule.ranks; ++rank) {
        (*spans_)[rank].reserve(schedule.actions[rank].size());
      }
    }
  }

  ScheduleEvaluation run() {
    // Popped from the back: rank 0, which can always start, first.
    ready_.reserve(schedule_.ranks);
    for (int rank = schedule_.ranks - 1; rank >= 0; --rank) ready_.push_back(rank);
    while (!ready_.empty()) {
      const int rank = ready_.back();
      ready_.pop_back();
      run_rank(rank);
    }
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      if (ranks_[rank].next != ranks_[rank].last) fail_deadlock(rank);
    }
    return result();
  }

  // [rank] the end of its last action and of the collectives behind it.
  std::vector<double> ends_s() const {
    std::vector<double> ends_s;
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      const double computed_s = ranks_[rank].now_s;
      const SideStreams& side = side_[rank];
      ends_s.push_back(std::max(computed_s, side.channel_s));
      if (side.reduce_s > 0) ends_s.back() += side.reduce_s;
    }
    return ends_s;
  }

 private:
  const Stage& stage_of(const Action& action) const {
    if (slices_ == 1) return stages_[action.stage];
    return stages_[action.stage * slices_ + action.unit % slices_];
  }

  ResultId result_of(const Action& action) const {
    return static_cast<ResultId>(action.stage) * units_ + action.unit;
  }

  // What the action lacks, -1 if nothing; moves `start_s` to where the last of its inputs is there.
  ResultId missing_input(const Action& action, const Stage& stage, double& start_s) const {
    const ResultId result = result_of(action);
    switch (action.kind) {
      case ActionKind::forward:
        if (stage.previous_rank >= 0) {
          const double arrived_s = there_s_[result - units_];
          if (arrived_s < 0) return result - units_;
          start_s = std::max(start_s, arrived_s);
        }
        return -1;
      case ActionKind::backward:
      case ActionKind::backward_input:
        if (there_s_[result] < 0) return result;
        if (stage.next_rank >= 0) {
          const ResultId gradient = gradients_ + result + units_;
          const double arrived_s = there_s_[gradient];
          if (arrived_s < 0) return gradient;
          start_s = std::max(start_s, arrived_s);
        }
        return -1;
      case ActionKind::backward_weight:
        return there_s_[gradients_ + result] < 0 ? gradients_ + result : -1;
      case ActionKind::recompute:
        return there_s_[result] < 0 ? result : -1;
      default:
        return -1;
    }
  }

  static double duration_of(const Action& action, const Stage& stage) {
    switch (action.kind) {
      case ActionKind::forward:
        return stage.forward_s;
      case ActionKind::backward:
        return stage.backward_s;
      case ActionKind::backward_input:
        return stage.backward_input_s;
      case ActionKind::backward_weight:
        return stage.backward_weight_s;
      case ActionKind::recompute:
        return stage.recompute_s;
      default:
        return 0;
    }
  }

  static void allocate(const Action& action, const Stage& stage, RankState& state) {
    if (action.kind == ActionKind::forward) {
      state.activation += stage.activation;
    } else if (action.kind == ActionKind::recompute) {
      state.activation += stage.recomputed;
    } else {
      return;
    }
    state.peak_activation = std::max(state.peak_activation, state.activation);
  }

  // What the action leaves behind when it ends.
  void finish(const Action& action, const Stage& stage, int rank, RankState& state) {
    const ResultId result = result_of(action);
    switch (action.kind) {
      case ActionKind::forward:
        deliver(result, rank, stage.next_rank, state.now_s, stage.delay_to_next_s);
        return;
      case ActionKind::backward:
        state.activation -= stage.activation + stage.recomputed;
        break;
      case ActionKind::backward_input:
        state.activation -= stage.activation + stage.recomputed - stage.weight_activation;
        break;
      case ActionKind::backward_weight:
        state.activation -= stage.weight_activation;
        break;
      default:
        return;
    }
    if (schedule_.iterations > 1) {
      double& end_s = iteration_end_s_[action.unit / (schedule_.microbatches * slices_)];
      end_s = std::max(end_s, state.now_s);
    }
    if (action.kind == ActionKind::backward_weight) return;
    deliver(gradients_ + result, rank, stage.previous_rank, state.now_s, stage.delay_to_previous_s);
  }

  // Runs the rank's actions until the list ends or one must wait.
  void run_rank(int rank) {
    RankState state = ranks_[rank];
    state.waits_for = -1;
    while (state.next != state.last) {
      const Action& action = *state.next;
      const Stage& stage = stage_of(action);
      const double previous_s = state.now_s;
      double start_s = previous_s;
      if constexpr (kSide) {
        if (blocking_) start_s = std::max(start_s, side_[rank].sent_s);
      }
      const ResultId missing = missing_input(action, stage, start_s);
      if (missing >= 0) return wait(rank, state, missing);
      const Action* const second = action.with_next ? state.next + 1 : nullptr;
      double duration_s = duration_of(action, stage);
      if (second != nullptr) {
        const Stage& other = stage_of(*second);
        const ResultId missing_too = missing_input(*second, other, start_s);
        if (missing_too >= 0) return wait(rank, state, missing_too);
        duration_s = overlapped_s(cost_of(action), cost_of(*second), other.backward_s);
      }
      if (state.next == schedule_.actions[rank].data()) state.first_start_s = start_s;
      state.now_s = start_s + duration_s;
      if constexpr (kSide) {
        if (collectives_ != nullptr) {
          state.now_s = run_beside(side_[rank], action_map(action), start_s, previous_s);
        }
      }
      state.busy_s += duration_s;
      if (spans_ != nullptr) (*spans_)[rank].push_back({start_s, state.now_s});
      allocate(action, stage, state);
      finish(action, stage, rank, state);
      if (second != nullptr) {
        if (spans_ != nullptr) (*spans_)[rank].push_back({start_s, state.now_s});
        finish(*second, stage_of(*second), rank, state);
        ++state.next;
      }
      ++state.next;
    }
    ranks_[rank] = state;
  }

  const StageCost& cost_of(const Action& action) const {
    return costs_[schedule_.model_stage(action.stage) * slices_ + action.unit % slices_];
  }

  // A result that rank `maker` has at `made_s` goes to `consumer`, which it wakes.
  void deliver(ResultId made, int maker, int consumer, double made_s, double delay_s) {
    double sent_s = made_s;
    if constexpr (kSide) {
      if (delay_s > 0) {
        sent_s = std::max(sent_s, side_[maker].sent_s);
        side_[maker].sent_s = sent_s + delay_s;
      }
    }
    there_s_[made] = sent_s + delay_s;
    if (consumer >= 0 && consumer != maker && ranks_[consumer].waits_for == made) {
      ranks_[consumer].waits_for = -1;
      ready_.push_back(consumer);
    }
  }

  const ActionMap& action_map(const Action& action) const {
    const StageMaps& maps = *collectives_->stages[action.stage];
    const SpecialActions& special = special_[action.stage];
    return maps.of(action.kind, special.first_forward == &action, special.last_backward == &action);
  }

  // The end of an action that could start at `start_s`; the one before it ended at `previous_s`.
  double run_beside(SideStreams& side, const ActionMap& map, double start_s,
                    double previous_s) const {
    const auto reduce = [&] {
      if (side.reduce_s > 0) side.channel_s = std::max(side.channel_s, previous_s) + side.reduce_s;
    };
    if (collectives_->overlap) {
      if (map.gather_s > 0) {
        side.channel_s = std::max(side.channel_s, side.before_s) + map.gather_s;
        start_s = std::max(start_s, side.channel_s);
      }
      reduce();
    } else {
      reduce();
      if (map.gather_s > 0) side.channel_s = std::max(side.channel_s, previous_s) + map.gather_s;
      start_s = std::max(start_s, side.channel_s);
    }
    std::array<double, 3> later_s;
    for (int out = 0; out < 3; ++out) {
      const auto& row = map.later_s[out];
      later_s[out] = std::max(
          std::max(row[ActionMap::kBefore] + previous_s, row[ActionMap::kCompute] + start_s),
          std::max(row[ActionMap::kChannel] + side.channel_s, row[ActionMap::kFixed]));
    }
    side.before_s = later_s[ActionMap::kBefore];
    side.channel_s = later_s[ActionMap::kChannel];
    side.reduce_s = map.reduce_s;
    return later_s[ActionMap::kCompute];
  }

  void wait(int rank, RankState& state, ResultId result) {
    state.waits_for = result;
    ranks_[rank] = state;
  }

  [[noreturn]] void fail_deadlock(int rank) const {
    const RankState& state = ranks_[rank];
    const bool is_gradient = state.waits_for >= gradients_;
    const ResultId cell = state.waits_for - (is_gradient ? gradients_ : 0);
    const auto stage = static_cast<std::int32_t>(cell / units_);
    throw Error(fmt::format(
        "schedule '{}' deadlocks: rank {} waits at its action {} ({}) for the {} of stage {}, "
        "micro-batch {} from rank {}",
        schedule_.name, rank, state.next - schedule_.actions[rank].data() + 1,
        to_string(*state.next), is_gradient ? "input gradient" : "activation", stage, cell % units_,
        schedule_.rank_of_stage[stage]));
  }

  ScheduleEvaluation result() const {
    ScheduleEvaluation evaluation;
    for (const RankState& state : ranks_) {
      evaluation.makespan_s = std::max(evaluation.makespan_s, state.now_s);
      evaluation.longest_stage_s =
          std::max(evaluation.longest_stage_s, state.now_s - state.first_start_s);
      evaluation.busy_s.push_back(state.busy_s);
      evaluation.peak_activation.push_back(state.peak_activation);
    }
    if (schedule_.iterations > 1) {
      const SteadyWindow window = steady_window(schedule_);
      const double period_s = (iteration_end_s_[window.last] - iteration_end_s_[window.first]) /
                              (window.last - window.first);
      evaluation.makespan_s = evaluation.longest_stage_s = period_s;
      for (double& busy_s : evaluation.busy_s) busy_s /= schedule_.iterations;
    }
    return evaluation;
  }

  const Schedule& schedule_;
  const std::vector<Stage> stages_;
  const bool blocking_;
  const std::vector<StageCost>& costs_;
  const ResultId units_;
  const std::int32_t slices_;
  const ResultId gradients_;     // first gradient
  std::vector<double> there_s_;  // [result] where its consumer can use it
  std::vector<RankState> ranks_;
  std::vector<double> iteration_end_s_;
  std::vector<int> ready_;
  ScheduleSpans* spans_;
  const CollectivesBeside* collectives_;
  std::vector<SpecialActions> special_;  // [stage]
  std::vector<SideStreams> side_;        // [rank]
};

void check_costs(const Schedule& schedule, const std::vector<StageCost>& stages,
                 const Boundaries& boundaries) {
  CHECK(static_cast<int>(stages.size()) == schedule.model_stages() * schedule.slices,
        "{} stage costs for {} stages of {} slices", stages.size(), schedule.model_stages(),
        schedule.slices);
  CHECK(static_cast<int>(boundaries.message_s.size()) == schedule.ranks,
        "{} boundaries for {} ranks", boundaries.message_s.size(), schedule.ranks);
  for (const double message_s : boundaries.message_s)
    CHECK(message_s >= 0, "a message of {} s", message_s);
}

}  // namespace

double ScheduleEvaluation::max_busy_s() const {
  return *std::max_element(busy_s.begin(), busy_s.end());
}

double ScheduleEvaluation::bubble_makespan_s() const {
  return makespan_s - max_busy_s();
}

double ScheduleEvaluation::bubble_longest_stage_s() const {
  return longest_stage_s - max_busy_s();
}

double ScheduleEvaluation::bubble_longest_stage_rate() const {
  return longest_stage_s > 0 ? bubble_longest_stage_s() / longest_stage_s : 0;
}

double ScheduleEvaluation::bubble_idle() const {
  if (makespan_s <= 0) return 0;  // no work at all
  double idle = 0;
  for (const double busy : busy_s) idle += 1 - busy / makespan_s;
  return idle / static_cast<double>(busy_s.size());
}

ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     double message_s, ScheduleSpans* spans) {
  const Boundaries boundaries{std::vector<double>(schedule.ranks, message_s)};
  check_costs(schedule, stages, boundaries);
  return Evaluation<false>(schedule, stages, boundaries, spans).run();
}

ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     const Boundaries& boundaries,
                                     const CollectivesBeside* collectives,
                                     std::vector<double>* ends_s) {
  check_costs(schedule, stages, boundaries);
  Evaluation<true> evaluation(schedule, stages, boundaries, nullptr, collectives);
  ScheduleEvaluation result = evaluation.run();
  if (ends_s != nullptr) *ends_s = evaluation.ends_s();
  return result;
}

}  // namespace windtunnel
