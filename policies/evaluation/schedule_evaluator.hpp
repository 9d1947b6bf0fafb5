// List order to makespan and memory, without a network: each rank runs its actions in order, a
// message between different ranks is a pure delay. The form that searches use (100 million
// actions/s) and against which the engine is checked. A second form, an order slower, knows the
// collectives beside the actions.
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

// Of an iteration; under an asynchronous schedule makespan and longest stage are the period of its
// steady state (steady_window()), and the busy times those of a period.
struct ScheduleEvaluation {
  double makespan_s = 0;
  double longest_stage_s = 0;           // max over ranks of last end - first start
  std::vector<double> busy_s;           // [rank]
  std::vector<double> peak_activation;  // [rank]

  double max_busy_s() const;
  // The bubbles of the three definitions, see models/results/iteration_report.hpp; 0 where there is
  // no work.
  double bubble_makespan_s() const;          // makespan - max busy
  double bubble_longest_stage_s() const;     // longest stage - max busy
  double bubble_longest_stage_rate() const;  // the same / longest stage
};

// When one action ran.
struct ActionSpan {
  double start_s = 0;
  double end_s = 0;
};
using ScheduleSpans = std::vector<std::vector<ActionSpan>>;  // [rank][position in its list]

// Of a schedule that passes validate_schedule and holds no messages. `stages`: [stage of the model
// * slices + slice]; `message_s`: of one unit; `spans` is filled if given, an overlapped pair gives
// two equal ones. Unshard, reshard and reduce take no time. Throws Error naming rank and action
// when the order deadlocks.
ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     double message_s, ScheduleSpans* spans = nullptr);

// Messages between ranks. Those that one rank sends leave one after the other, except synchronous
// ones: these are through `message time` after both ends are ready, the receiver when it has ended
// the action before the one that uses the message, and the sender computes on when they are.
// Posting a receive does not wait for the rank's own messages, so neighbours that send to each
// other do not block each other.
struct Messages {
  MessageTimes times;
  Sends sends = Sends::asynchronous;
};

// An action that is cut into segments with collectives beside them, seen from outside. The segments
// run one after another on the compute stream and the collectives on one stream of theirs, so every
// time in it is a maximum of sums: in max-plus algebra (Baccelli et al. 1992, "Synchronization and
// Linearity") the action is a matrix, whatever the number of its segments.
struct ActionMap {
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  // What goes in and, except for kFixed, comes out.
  enum Time {
    kBefore,   // in: end of the last segment before the action; out: of its last segment but one
    kCompute,  // in: start of its first segment; out: end of its last
    kChannel,  // end of the last collective that was issued
    kFixed,    // in: when the gathers of the iteration were issued
  };
  double gather_s = 0;                             // before the first segment
  std::array<std::array<double, 4>, 3> later_s{};  // [out][in]
  double reduce_s = 0;                             // behind the last segment
  // One segment: nothing but the end of the compute is later, and by that alone.
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

// A forward and a backward as one.
struct PairMaps {
  // [first forward][last backward]
  std::array<std::array<ActionMap, 2>, 2> maps;
};

struct CollectivesBeside {
  std::vector<const StageMaps*> stages;           // [stage * slices + slice]
  std::vector<ActionMap> first_forwards;          // the same
  std::map<std::pair<int, int>, PairMaps> pairs;  // by the indices of forward and backward
  // [rank] How long the gathers take that it issues when an iteration starts.
  std::vector<double> gathers_s;
  // A gather waits for the last segment but one and goes before the reduction of the last segment;
  // otherwise both wait for the last segment and the next one for them.
  bool overlap = true;
  // [stage] Of unshard and reduce_grad actions: they start when what computes before them in the
  // list has ended, and the stage's later actions wait for the unshard. Empty: they take no time.
  std::vector<double> unshard_s = {};
  std::vector<double> reduce_grad_s = {};
};

// What a rank does behind the last backward of an iteration and the collectives beside it.
struct IterationEnd {
  std::vector<double> reductions_s;  // [rank]
  std::vector<int> partner;          // [rank] with which it then sums gradients; itself: none
  std::vector<double> partner_s;     // [rank] how long that takes from when both are there
  std::vector<double> optimizer_s;   // [rank]
  // Of all ranks, before the optimizer; where iterations follow one another without a flush, no
  // rank waits for all others.
  double norm_s = 0;
};

struct SideStreams {
  Messages messages;
  std::vector<double> slowdown = {};               // [rank], of its kernels; empty: none
  const CollectivesBeside* collectives = nullptr;  // null: none
  const IterationEnd* end = nullptr;               // null: nothing
};

// The same with side streams. `busy_s` counts the actions' costs; `ends_s` is filled if given:
// [rank] where its share of the iteration's gradients is there, before the norm.
ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     const SideStreams& beside,
                                     std::vector<double>* ends_s = nullptr);

}  // namespace windtunnel
