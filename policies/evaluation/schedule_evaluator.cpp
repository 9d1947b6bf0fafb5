#include "policies/evaluation/schedule_evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "models/base/error.hpp"
#include "policies/evaluation/collective_streams.hpp"

namespace windtunnel {
namespace {

// Results are numbered: the activation of (stage, unit) is stage * units + unit; input gradients
// follow after all activations. -1: no result.
using ResultId = std::int64_t;
constexpr ResultId kNothing = -1;
constexpr ResultId kPartner = -2;  // waits for the partner to end the iteration
constexpr double kPending = -1;

// Bytes of activations that a rank keeps while its actions run.
struct KeptActivations {
  double now = 0;
  double peak = 0;

  void hold(double activation) {
    now += activation;
    peak = std::max(peak, now);
  }

  [[gnu::always_inline]] void end(ActionKind kind, const StageTimes& stage) {
    switch (kind) {
      case ActionKind::forward:
        return hold(stage.activation);
      case ActionKind::recompute:
        return hold(stage.recomputed);
      case ActionKind::backward:
        now -= stage.activation + stage.recomputed;
        return;
      case ActionKind::backward_input:
        // Recomputed data may be kept for the weight gradient, and may be larger than what the
        // forward kept.
        return hold(stage.weight_activation - stage.activation - stage.recomputed);
      case ActionKind::backward_weight:
        now -= stage.weight_activation;
        return;
      default:
        return;
    }
  }
};

// Returns the index of an action: stage * slices + slice.
std::size_t cell_of(const Action& action, std::int32_t slices) {
  if (slices == 1) return action.stage;
  return std::size_t(action.stage) * slices + action.unit % slices;
}

struct RankState {
  const Action* next = nullptr;
  const Action* last = nullptr;  // one past the end
  const Action* ends = nullptr;  // end of the current iteration; null after the last
  double now_s = 0;
  ResultId waits_for = kNothing;
  double busy_s = 0;
  double first_start_s = kPending;
  KeptActivations kept;
  double sent_s = 0;     // when its last message has left
  double through_s = 0;  // when all messages that its next action waits for have passed
  // Synchronous messages that the rank's next action waits for.
  std::array<ResultId, 2> outgoing = {kNothing, kNothing};
};

// What is evaluated besides compute. none: messages as pure delays; messages: they leave one after
// the other; collectives: also collectives and the ends of iterations; all: also messages that
// ranks wait for. The loop is compiled for each of the four.
enum class Side { none, messages, collectives, all };

// Runs each rank until it waits for another one, which wakes it when the awaited result is made.
// Every action is examined once, and once more if it had to wait.
template <Side kSide>
class Evaluator {
  static constexpr bool kCollectives = kSide >= Side::collectives;
  static constexpr bool kWaits = kSide == Side::all;

 public:
  Evaluator(const Schedule& schedule, const std::vector<StageCost>& costs,
            const SideStreams& beside, ScheduleSpans* spans)
      : schedule_(schedule),
        costs_(costs),
        stages_(stage_times(schedule, costs, beside.messages.times, beside.slowdown)),
        units_(schedule.units()),
        slices_(schedule.slices),
        gradients_(static_cast<ResultId>(schedule.stages()) * units_),
        there_s_(2 * gradients_, kPending),
        ranks_(schedule.ranks),
        iteration_end_s_(schedule.iterations, 0),
        spans_(spans),
        beside_(beside),
        sends_(beside.messages.sends),
        streams_(schedule, beside) {
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      const auto& actions = schedule.actions[rank];
      ranks_[rank].next = actions.data();
      ranks_[rank].last = actions.data() + actions.size();
      if (beside.end != nullptr) ranks_[rank].ends = streams_.end_of_iteration(rank);
    }
    if (spans_ != nullptr) {
      spans_->assign(schedule.ranks, {});
      for (int rank = 0; rank < schedule.ranks; ++rank) {
        (*spans_)[rank].reserve(schedule.actions[rank].size());
      }
    }
    if (kWaits && sends_ == Sends::synchronous) {
      offered_s_.assign(there_s_.size(), kPending);
      posted_s_ = offered_s_;
    }
  }

  ScheduleEvaluation run() {
    // Ranks are popped from the back, so rank 0, which can always start, stands last.
    ready_.reserve(schedule_.ranks);
    for (int rank = schedule_.ranks - 1; rank >= 0; --rank) ready_.push_back(rank);
    while (!ready_.empty()) {
      const int rank = ready_.back();
      ready_.pop_back();
      run_rank(rank);
    }
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      if (ranks_[rank].next != ranks_[rank].last || ranks_[rank].waits_for != kNothing) {
        fail_deadlock(rank);
      }
    }
    return result();
  }

  std::vector<double> ends_s() const { return streams_.ends_s(); }

 private:
  const StageTimes& stage_of(const Action& action) const {
    return stages_[cell_of(action, slices_)];
  }

  ResultId result_of(const Action& action) const {
    return static_cast<ResultId>(action.stage) * units_ + action.unit;
  }

  int iteration_of(const Action& action) const {
    if (schedule_.iterations == 1) return 0;
    return action.unit / (schedule_.microbatches * slices_);
  }

  // Returns a missing input of the action, or kNothing; raises `start_s` to the last one's arrival.
  template <bool kPair>
  ResultId missing_input(ActionKind kind, ResultId result, const StageTimes& stage,
                         double& start_s) const {
    ResultId input = kNothing;
    switch (kind) {
      case ActionKind::forward:
        if (stage.previous_rank < 0) return kNothing;
        input = result - units_;
        break;
      case ActionKind::backward:
      case ActionKind::backward_input:
        if (there_s_[result] < 0) return result;
        if (stage.next_rank < 0) return kNothing;
        input = gradients_ + result + units_;
        break;
      case ActionKind::backward_weight:
        return there_s_[gradients_ + result] < 0 ? gradients_ + result : kNothing;
      case ActionKind::recompute:
        return there_s_[result] < 0 ? result : kNothing;
      default:
        return kNothing;
    }
    const double arrived_s = there_s_[input];
    if (arrived_s < 0) return input;
    start_s = std::max(start_s, arrived_s);
    return kNothing;
  }

  // Runs the rank's actions until the list ends or one must wait. Most time is spent in this loop.
  // It is a separate function because otherwise its calls would not be inlined.
  [[gnu::noinline]] void run_rank(int rank) {
    RankState& state = ranks_[rank];
    state.waits_for = kNothing;
    const Action* next = state.next;  // these two stay in registers
    double now_s = state.now_s;
    ResultId missing = kNothing;
    while (true) {
      if constexpr (kCollectives) {
        if (state.ends != nullptr && next >= state.ends) {
          const double ended_s = end_iterations(rank, next, now_s, state);
          if (ended_s < 0) {
            missing = kPartner;
            break;
          }
          now_s = ended_s;
        }
      }
      if (next == state.last) break;
      missing = next->with_next ? run_action<true>(rank, next, now_s, state)
                                : run_action<false>(rank, next, now_s, state);
      if (missing != kNothing) break;
    }
    state.next = next;
    state.now_s = now_s;
    state.waits_for = missing;
  }

  // Runs the rank's next action (with kPair, the pair that it begins). Returns the result that it
  // still lacks, or kNothing. Two instances are compiled, so that actions without a pair run in one
  // loop.
  template <bool kPair>
  ResultId run_action(int rank, const Action*& next, double& now_s, RankState& state) {
    const Action& action = *next;
    if constexpr (kSide != Side::none) {
      if (!is_compute(action.kind)) {
        if constexpr (kCollectives) streams_.transfer_weights(action, rank, now_s);
        note_span(rank, now_s, now_s);
        ++next;
        return kNothing;
      }
    }
    const Action* const second = kPair ? next + 1 : nullptr;
    double start_s = now_s;
    if constexpr (kWaits) {
      if (sends_ != Sends::asynchronous) {
        const ResultId outgoing = wait_for_sends(action, second, rank, now_s, state);
        if (outgoing != kNothing) return outgoing;
        start_s = std::max(start_s, state.through_s);
      }
    }
    const StageTimes& stage = stage_of(action);
    const ResultId result = result_of(action);
    const ResultId missing = missing_input<kPair>(action.kind, result, stage, start_s);
    if (missing != kNothing) return missing;
    double duration_s = stage.of(action.kind);
    if constexpr (kPair) {
      const ResultId lacks =
          missing_input<kPair>(second->kind, result_of(*second), stage_of(*second), start_s);
      if (lacks != kNothing) return lacks;
      duration_s = pair_s(action, *second, rank);
    }
    if (state.first_start_s < 0 && is_compute(action.kind)) state.first_start_s = start_s;
    const double previous_s = std::exchange(now_s, start_s + duration_s);
    if constexpr (kWaits) {
      if (sends_ == Sends::synchronous) state.outgoing = {kNothing, kNothing};
    }
    if constexpr (kCollectives) {
      if (beside_.collectives != nullptr) {
        now_s = streams_.run(action, second, rank, start_s, previous_s);
      }
    }
    state.busy_s += duration_s;
    note_span(rank, start_s, now_s);
    finish<kPair>(action, result, stage, rank, now_s, state);
    if constexpr (kPair) {
      note_span(rank, start_s, now_s);
      finish<kPair>(*second, result_of(*second), stage_of(*second), rank, now_s, state);
    }
    next += kPair ? 2 : 1;
    return kNothing;
  }

  // Records the results of an action that ends now.
  template <bool kPair>
  void finish(const Action& action, ResultId made, const StageTimes& stage, int rank, double now_s,
              RankState& state) {
    int consumer = stage.next_rank;
    double delay_s = stage.delay_to_next_s;
    state.kept.end(action.kind, stage);
    switch (action.kind) {
      case ActionKind::forward:
      case ActionKind::backward:
      case ActionKind::backward_input:
        break;
      case ActionKind::backward_weight:
        return note_end(action, now_s);
      default:
        return;
    }
    if (action.kind != ActionKind::forward) {
      note_end(action, now_s);
      made += gradients_;
      consumer = stage.previous_rank;
      delay_s = stage.delay_to_previous_s;
    }
    deliver<kPair>(made, rank, consumer, now_s, delay_s, state);
  }

  // Notes the end of a backward pass: its iteration ends no earlier.
  void note_end(const Action& action, double now_s) {
    if (schedule_.iterations == 1) return;
    double& end_s = iteration_end_s_[iteration_of(action)];
    end_s = std::max(end_s, now_s);
  }

  void note_span(int rank, double start_s, double end_s) {
    if (kSide == Side::none && spans_ != nullptr) (*spans_)[rank].push_back({start_s, end_s});
  }

  const StageCost& cost_of(const Action& action) const {
    return costs_[schedule_.model_stage(action.stage) * slices_ + action.unit % slices_];
  }

  double pair_s(const Action& forward, const Action& backward, int rank) const {
    const double slow = beside_.slowdown.empty() ? 1 : beside_.slowdown[rank];
    return overlapped_s(cost_of(forward), cost_of(backward), !schedule_.explicit_recompute, slow);
  }

  // Sends a result of rank `maker` to rank `consumer`, and wakes `consumer`.
  template <bool kPair>
  void deliver(ResultId made, int maker, int consumer, double now_s, double delay_s,
               RankState& state) {
    double sent_s = now_s;
    if constexpr (kWaits) {
      if (sends_ == Sends::synchronous && consumer >= 0 && consumer != maker) {
        offered_s_[made] = now_s;
        state.outgoing[state.outgoing[0] != kNothing] = made;
        if (posted_s_[made] >= 0) pass(made, consumer, delay_s);
        return;
      }
    }
    if constexpr (kSide != Side::none) {
      if (delay_s > 0) {
        sent_s = std::max(sent_s, state.sent_s);
        state.sent_s = sent_s + std::max(0.0, delay_s - beside_.messages.times.latency_s);
      }
    }
    there_s_[made] = sent_s + delay_s;
    if (consumer >= 0 && consumer != maker) wake(consumer, made);
  }

  void wake(int rank, ResultId result) {
    if (ranks_[rank].waits_for != result) return;
    ranks_[rank].waits_for = kNothing;
    ready_.push_back(rank);
  }

  // ---- synchronous and blocking messages ----

  void pass(ResultId made, int waiting, double delay_s) {
    there_s_[made] = std::max(offered_s_[made], posted_s_[made]) + delay_s;
    wake(waiting, made);
  }

  // Notes that the rank has come to the action that uses `result`, made in stage `source`.
  void post(ResultId result, int source, int maker, int rank, double now_s, bool gradient) {
    if (maker < 0 || maker == rank || posted_s_[result] >= 0) return;
    posted_s_[result] = now_s;
    if (offered_s_[result] < 0) return;
    const std::size_t cell = std::size_t(source) * slices_ + result % units_ % slices_;
    pass(result, maker,
         gradient ? stages_[cell].delay_to_previous_s : stages_[cell].delay_to_next_s);
  }

  void post_receives(const Action& action, int rank, double now_s) {
    const StageTimes& stage = stage_of(action);
    const ResultId result = result_of(action);
    if (action.kind == ActionKind::forward) {
      post(result - units_, action.stage - 1, stage.previous_rank, rank, now_s, false);
    } else if (makes_input_gradient(action.kind)) {
      post(gradients_ + result + units_, action.stage + 1, stage.next_rank, rank, now_s, true);
    }
  }

  // Sets `through_s` if the rank waits for its messages. Returns a message that has not ended yet,
  // or kNothing.
  ResultId wait_for_sends(const Action& action, const Action* second, int rank, double now_s,
                          RankState& state) {
    const bool waits = sends_ == Sends::blocking && state.sent_s > 0;
    state.through_s = waits ? state.sent_s + beside_.messages.times.latency_s : 0;
    if (sends_ != Sends::synchronous) return kNothing;
    post_receives(action, rank, now_s);
    if (second != nullptr) post_receives(*second, rank, now_s);
    for (const ResultId made : state.outgoing) {
      if (made == kNothing) continue;
      if (there_s_[made] < 0) return made;
      state.through_s = std::max(state.through_s, there_s_[made]);
    }
    return kNothing;
  }

  // ---- the end of an iteration ----

  // Ends the iterations before the rank's position. Returns kPending if the rank has to wait for
  // its partner before it goes on.
  double end_iterations(int rank, const Action* next, double now_s, RankState& state) {
    while (state.ends != nullptr && next >= state.ends) {
      const int iteration = streams_.iteration(rank);
      const int partner = beside_.end->partner[rank];
      if (streams_.arrive(rank, now_s) && partner != rank) wake(partner, kPartner);
      const double ended_s = streams_.end_iteration(rank);
      if (ended_s < 0) return kPending;
      const bool last = iteration + 1 == schedule_.iterations;
      state.ends = last ? nullptr : streams_.end_of_iteration(rank);
      if (schedule_.iterations == 1) continue;  // the norm comes before the optimizer: see result()
      now_s = ended_s;
      double& end_s = iteration_end_s_[iteration];
      end_s = std::max(end_s, now_s);
    }
    return now_s;
  }

  [[noreturn]] void fail_deadlock(int rank) const {
    const RankState& state = ranks_[rank];
    std::string what = "the other rank that holds its weights";
    if (state.waits_for >= 0) {
      const bool is_gradient = state.waits_for >= gradients_;
      const ResultId cell = state.waits_for - (is_gradient ? gradients_ : 0);
      const auto stage = static_cast<std::int32_t>(cell / units_);
      const bool own = schedule_.rank_of_stage[stage] == rank;
      what = fmt::format("the {} of stage {}, micro-batch {} {}",
                         is_gradient ? "input gradient" : "activation", stage, cell % units_,
                         own && !offered_s_.empty() && offered_s_[state.waits_for] >= 0
                             ? "to be received"
                             : fmt::format("from rank {}", schedule_.rank_of_stage[stage]));
    }
    const auto position = state.next - schedule_.actions[rank].data();
    throw Error::about({"schedule"},
                       "schedule '{}' deadlocks: rank {} waits at its action {}{} for {}",
                       schedule_.name, rank, position + 1,
                       state.next == state.last ? "" : " (" + to_string(*state.next) + ")", what);
  }

  ScheduleEvaluation result() const {
    ScheduleEvaluation evaluation;
    for (const RankState& state : ranks_) {
      evaluation.makespan_s = std::max(evaluation.makespan_s, state.now_s);
      evaluation.longest_stage_s =
          std::max(evaluation.longest_stage_s, state.now_s - std::max(0.0, state.first_start_s));
      evaluation.busy_s.push_back(state.busy_s);
      evaluation.peak_activation.push_back(state.kept.peak);
    }
    if (schedule_.iterations > 1) {
      const SteadyWindow window = steady_window(schedule_);
      const double period_s = (iteration_end_s_[window.last] - iteration_end_s_[window.first]) /
                              (window.last - window.first);
      evaluation.makespan_s = evaluation.longest_stage_s = period_s;
      for (double& busy_s : evaluation.busy_s) busy_s /= schedule_.iterations;
    } else if (kCollectives && beside_.end != nullptr) {
      const std::vector<double> ends = streams_.ends_s();
      evaluation.makespan_s = *std::ranges::max_element(ends) + beside_.end->norm_s +
                              *std::ranges::max_element(beside_.end->optimizer_s);
    }
    return evaluation;
  }

  const Schedule& schedule_;
  const std::vector<StageCost>& costs_;
  const std::vector<StageTimes> stages_;
  const ResultId units_;
  const std::int32_t slices_;
  const ResultId gradients_;     // number of the first input gradient
  std::vector<double> there_s_;  // [result] when its consumer can use it
  std::vector<RankState> ranks_;
  std::vector<double> iteration_end_s_;
  std::vector<int> ready_;
  ScheduleSpans* spans_;

  const SideStreams& beside_;
  const Sends sends_;
  CollectiveStreams streams_;
  std::vector<double> offered_s_;  // [result] when its synchronous message can be sent
  std::vector<double> posted_s_;   // [result] when its receiver is ready
};

void check_costs(const Schedule& schedule, const std::vector<StageCost>& stages,
                 const MessageTimes& messages) {
  CHECK(static_cast<int>(stages.size()) == schedule.model_stages() * schedule.slices,
        "{} stage costs for {} stages of {} slices", stages.size(), schedule.model_stages(),
        schedule.slices);
  for (const auto* times : {&messages.forward_s, &messages.backward_s}) {
    CHECK(times->size() == 1 ||
              static_cast<int>(times->size()) == schedule.stages() * schedule.slices,
          "{} message times for {} stages", times->size(), schedule.stages());
  }
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

std::vector<double> peak_activations(const Schedule& schedule,
                                     const std::vector<StageCost>& costs) {
  check_costs(schedule, costs, {{0}, {0}});
  const std::vector<StageTimes> stages = stage_times(schedule, costs, {{0}, {0}}, {});
  std::vector<double> peaks;
  for (const std::vector<Action>& actions : schedule.actions) {
    KeptActivations kept;
    for (const Action& action : actions) {
      if (is_compute(action.kind)) kept.end(action.kind, stages[cell_of(action, schedule.slices)]);
    }
    peaks.push_back(kept.peak);
  }
  return peaks;
}

ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     double message_s, ScheduleSpans* spans) {
  CHECK(message_s >= 0, "a message of {} s", message_s);
  const SideStreams beside{.messages = {{{message_s}, {message_s}}}};
  check_costs(schedule, stages, beside.messages.times);
  return Evaluator<Side::none>(schedule, stages, beside, spans).run();
}

ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     const SideStreams& beside, std::vector<double>* ends_s) {
  check_costs(schedule, stages, beside.messages.times);
  CHECK(ends_s == nullptr || beside.end != nullptr,
        "an evaluation without ends was asked for them");
  const auto evaluate = [&]<Side kSide>() {
    Evaluator<kSide> evaluation(schedule, stages, beside, nullptr);
    ScheduleEvaluation result = evaluation.run();
    if (ends_s != nullptr) *ends_s = evaluation.ends_s();
    return result;
  };
  if (beside.messages.sends != Sends::asynchronous) return evaluate.operator()<Side::all>();
  const bool alone = beside.collectives == nullptr && beside.end == nullptr;
  return alone ? evaluate.operator()<Side::messages>() : evaluate.operator()<Side::collectives>();
}

}  // namespace windtunnel
