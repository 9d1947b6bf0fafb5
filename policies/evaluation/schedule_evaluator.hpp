// Makespan and memory of a schedule, without a network: each rank runs its actions in order, and a
// message between ranks is a pure delay. Searches use this form (100 million actions/s), and the
// engine is checked against it. A second form, ten times slower, includes collectives that overlap
// actions.
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

// Results for an iteration. For an asynchronous schedule, makespan and longest stage are the period
// in steady state (steady_window()), and busy times are those of a period.
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
// slices + slice]; `message_s`: per unit; `spans` is filled if given, with two equal entries for an
// overlapped pair. Unshard, reshard and reduce take no time. Throws Error naming rank and action if
// the order deadlocks.
ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     double message_s, ScheduleSpans* spans = nullptr);

// ScheduleEvaluation::peak_activation alone: the order of a rank decides it, and no time does. A
// tenth of the work, and a deadlock goes unnoticed.
std::vector<double> peak_activations(const Schedule& schedule, const std::vector<StageCost>& costs);

// Messages between ranks. A rank's messages leave one after the other, except synchronous ones:
// these pass `message time` after both ends are ready. The receiver is ready when it has ended the
// action before the one that uses the message, and the sender computes again when its messages have
// passed. A receive can be posted regardless of the rank's own messages, so neighbours that send to
// each other do not deadlock.
struct Messages {
  MessageTimes times;
  Sends sends = Sends::asynchronous;
};

// External view of an action that is cut into segments, with collectives in parallel. Segments run
// one after another on the compute stream and collectives on their own stream, so every time is a
// maximum of sums: in max-plus algebra (Baccelli et al. 1992, "Synchronization and Linearity") the
// action is a matrix, regardless of the number of segments.
struct ActionMap {
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  // All of these are inputs, and all except kFixed are also outputs.
  enum Time {
    kBefore,   // in: end of the last segment before the action; out: of its second to last segment
    kCompute,  // in: start of its first segment; out: end of its last
    kChannel,  // end of the most recently issued collective
    kFixed,    // in: when the iteration's gathers were issued
  };
  double gather_s = 0;                             // before the first segment
  std::array<std::array<double, 4>, 3> later_s{};  // [out][in]
  double reduce_s = 0;                             // after the last segment
  // One segment without collectives: only the end of the compute changes.
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

// A forward and a backward that run as one.
struct PairMaps {
  // [first forward][last backward]
  std::array<std::array<ActionMap, 2>, 2> maps;
};

struct CollectivesBeside {
  std::vector<const StageMaps*> stages;           // [stage * slices + slice]
  std::vector<ActionMap> first_forwards;          // [stage * slices + slice]
  std::map<std::pair<int, int>, PairMaps> pairs;  // by indices of forward and backward
  // [rank] Duration of the gathers that it issues at the start of an iteration.
  std::vector<double> gathers_s;
  // true: a gather waits for the second to last segment and goes before the last segment's
  // reduction. false: both wait for the last segment, and the next segment waits for both.
  bool overlap = true;
  // [stage] Durations of unshard and reduce_grad actions. They start when earlier compute in the
  // list has ended, and later actions of the stage wait for the unshard. Empty: they take no time.
  std::vector<double> unshard_s = {};
  std::vector<double> reduce_grad_s = {};
};

// What a rank does after the last backward of an iteration and its overlapped collectives.
struct IterationEnd {
  std::vector<double> reductions_s;  // [rank]
  std::vector<int> partner;       // [rank] the rank with which it then sums gradients; itself: none
  std::vector<double> partner_s;  // [rank] duration of that once both have arrived
  std::vector<double> optimizer_s;  // [rank]
  // All-reduce of the norm over all ranks, before the optimizer; unused if iterations follow one
  // another without a flush, since no rank then waits for all others.
  double norm_s = 0;
};

struct SideStreams {
  Messages messages;
  std::vector<double> slowdown = {};               // [rank] of its kernels; empty: none
  const CollectivesBeside* collectives = nullptr;  // null: none
  const IterationEnd* end = nullptr;               // null: none
};

// Includes side streams. `busy_s` counts the actions' costs; `ends_s`, if given, gets for each rank
// the time at which its share of the iteration's gradients is ready, before the norm.
ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     const SideStreams& beside,
                                     std::vector<double>* ends_s = nullptr);

}  // namespace windtunnel
