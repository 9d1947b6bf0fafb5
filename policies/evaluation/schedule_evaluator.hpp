// Makespan and memory of a schedule, without a network: each rank runs its actions in order, and a
// message between ranks is a pure delay. Searches use this evaluation (100 million actions/s), and
// the engine is checked against it. Another function, ten times slower, includes collectives that
// overlap actions.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "models/plan/schedule.hpp"
#include "models/workload/software.hpp"
#include "policies/evaluation/schedule_stages.hpp"
#include "policies/evaluation/stage_cost.hpp"

namespace windtunnel {

// Results for one iteration. If the schedule is asynchronous, makespan and longest stage are the
// period in steady state (steady_window()), and busy times are those of a period.
struct ScheduleEvaluation {
  double makespan_s = 0;
  double longest_stage_s = 0;           // max over ranks of last end - first start
  std::vector<double> busy_s;           // [rank]
  std::vector<double> peak_activation;  // [rank]

  double max_busy_s() const;
  // Bubbles by the three definitions of models/results/iteration_report.hpp; 0 without work.
  double bubble_makespan_s() const;          // makespan - max busy
  double bubble_longest_stage_s() const;     // longest stage - max busy
  double bubble_longest_stage_rate() const;  // bubble_longest_stage_s() / longest stage
};

// When one action ran.
struct ActionSpan {
  double start_s = 0;
  double end_s = 0;
};
using ScheduleSpans = std::vector<std::vector<ActionSpan>>;  // [rank][position in its list]

// The schedule must pass validate_schedule and contain no messages. `stages`: [stage of the model *
// slices + slice]; `message_s`: for each unit; `spans`, if given, is filled, with two equal entries
// for an overlapped pair. Unshard, reshard and reduce_grad take no time. Throws Error that names
// rank and action if the order deadlocks.
ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     double message_s, ScheduleSpans* spans = nullptr);

// Returns ScheduleEvaluation::peak_activation alone: it depends on the order of each rank's
// actions, and on no time. It takes a tenth of the work, and does not notice a deadlock.
std::vector<double> peak_activations(const Schedule& schedule, const std::vector<StageCost>& costs);

// Messages between ranks. Asynchronous and blocking messages of a rank leave one after the other. A
// synchronous one takes its time from when both ends are ready: the receiver has ended the action
// before the one that uses the message, and the sender has made the result. The sender computes
// again when its messages have passed. A rank can post a receive while its own messages wait, so
// neighbours that send to each other do not deadlock.
struct Messages {
  MessageTimes times;
  Sends sends = Sends::asynchronous;
};

// The ends of an action that is cut into segments, with collectives in parallel, as functions of
// the times before it. Segments run one after another on the compute stream and collectives on
// another stream, so every time is a maximum of sums: in max-plus algebra (Baccelli et al. 1992,
// "Synchronization and Linearity") the action is a matrix, however many segments it has.
struct ActionMap {
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  // Each of these is an input, and each but kFixed is also an output.
  enum Time {
    kBefore,   // in: end of the segment before the action; out: end of its second to last segment
    kCompute,  // in: start of its first segment; out: end of its last segment
    kChannel,  // end of the most recently issued collective
    kFixed,    // in: when the gathers of the iteration were issued
  };
  double gather_s = 0;                             // seconds of the gather before all segments
  std::array<std::array<double, 4>, 3> later_s{};  // [out][in] seconds from `in` to `out`
  double reduce_s = 0;                             // seconds of the reduction behind them
  // The action is one segment without collectives, so only kCompute changes.
  bool whole = false;
};

struct StageMaps {
  ActionMap forward;
  ActionMap backward;
  ActionMap backward_input;
  ActionMap backward_weight;
  ActionMap last_backward;
  ActionMap last_backward_weight;
  ActionMap recompute;
};

// The maps of a forward and a backward that run as one.
struct PairMaps {
  // [the forward is the stage's first of the iteration][the backward is its last]
  std::array<std::array<ActionMap, 2>, 2> maps;
};

struct CollectivesBeside {
  std::vector<const StageMaps*> stages;           // [stage * slices + slice]
  std::vector<ActionMap> first_forwards;          // [stage * slices + slice]
  std::map<std::pair<int, int>, PairMaps> pairs;  // by {index of forward, index of backward}
  // [rank] Duration of the gathers that the rank issues at the start of an iteration.
  std::vector<double> gathers_s;
  // true: a gather waits for the second to last segment and is issued before the last segment's
  // reduction. false: both wait for the last segment, and the next segment waits for both.
  bool overlap = true;
  // With overlap, compute waits for each reduction that was issued before the last one:
  // Software::one_queue.
  bool one_queue = false;
  // [stage] Durations of unshard and reduce_grad actions. They start when the compute before them
  // in the list has ended; later actions of the stage wait for unshards. Empty: no time.
  std::vector<double> unshard_s = {};
  std::vector<double> reduce_grad_s = {};
};

// What a rank does after the last backward of an iteration and its overlapped collectives.
struct IterationEnd {
  std::vector<double> reductions_s;  // [rank]
  std::vector<int> partner;       // [rank] the rank with which it then sums gradients; itself: none
  std::vector<double> partner_s;  // [rank] seconds of this sum, after both have arrived
  std::vector<double> optimizer_s;  // [rank]
  // All-reduce of the norm over all ranks, before the optimizer. Unused if iterations follow one
  // another without a flush, because then no rank waits for all others.
  double norm_s = 0;
};

struct SideStreams {
  Messages messages;
  std::vector<double> slowdown = {};               // [rank] factor of its kernels' times; empty: 1
  const CollectivesBeside* collectives = nullptr;  // null: none
  const IterationEnd* end = nullptr;               // null: none
};

// Includes collectives, messages and the end of iterations. `busy_s` counts the actions' costs.
// `ends_s`, if given, gets [rank] the time at which its gradients are ready, before the norm.
ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     const SideStreams& beside,
                                     std::vector<double>* ends_s = nullptr);

}  // namespace windtunnel
