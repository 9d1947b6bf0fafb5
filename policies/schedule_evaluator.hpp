// List order to makespan and memory, without a network: each rank runs its actions in order, a
// message between different ranks is a pure delay. The form that searches use (100 million
// actions/s) and against which the engine is checked. A second form, an order slower, knows the
// collectives beside the actions.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "models/schedule.hpp"
#include "policies/stage_cost.hpp"

namespace windtunnel {

// Of an iteration; under an asynchronous schedule makespan and longest stage are the period of its
// steady state, and the busy times those of a period.
struct ScheduleEvaluation {
  double makespan_s = 0;
  double longest_stage_s = 0;           // max over ranks of last end - first start
  std::vector<double> busy_s;           // [rank]
  std::vector<double> peak_activation;  // [rank]

  double max_busy_s() const;
  // The bubbles of the three definitions, see models/iteration_report.hpp; 0 where there is no
  // work.
  double bubble_makespan_s() const;          // makespan - max busy
  double bubble_longest_stage_s() const;     // longest stage - max busy
  double bubble_longest_stage_rate() const;  // the same / longest stage
  double bubble_idle() const;                // mean over ranks of 1 - busy / makespan
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

// Messages by the way they go: [r] between pipeline ranks r and r + 1, the last one back to 0.
// Those that one rank sends leave one after the other. `blocking`: the rank computes on only when
// its message is through.
struct Boundaries {
  std::vector<double> message_s;
  bool blocking = false;
};

// An action that is cut into pieces with collectives beside them, seen from outside. The pieces run
// one after another on the compute stream and the collectives on one stream of theirs, so every
// time in it is a maximum of sums: in max-plus algebra (Baccelli et al. 1992, "Synchronization and
// Linearity") the action is a matrix, whatever the number of its pieces.
struct ActionMap {
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  // What goes in and, except for kFixed, comes out.
  enum Time {
    kBefore,   // in: end of the last piece before the action; out: of its last piece but one
    kCompute,  // in: start of its first piece; out: end of its last
    kChannel,  // end of the last collective that was issued
    kFixed,    // in: 0, for what does not depend on when the action starts
  };
  double gather_s = 0;                             // before the first piece
  std::array<std::array<double, 4>, 3> later_s{};  // [out][in]
  double reduce_s = 0;                             // behind the last piece
};

using StageMaps = ByAction<ActionMap>;

struct CollectivesBeside {
  std::vector<const StageMaps*> stages;
  std::vector<double> channel_s;  // [rank]: when what was issued at the start is through
  // A gather waits for the last piece but one and goes before the reduction of the last piece;
  // otherwise both wait for the last piece and the next one for them.
  bool overlap = true;
};

// The same with side streams. `collectives` may be null. `busy_s` counts the stages' costs;
// `ends_s` is filled if given: [rank] the end of its last action and of the collectives behind it.
ScheduleEvaluation evaluate_schedule(const Schedule& schedule, const std::vector<StageCost>& stages,
                                     const Boundaries& boundaries,
                                     const CollectivesBeside* collectives,
                                     std::vector<double>* ends_s = nullptr);

}  // namespace windtunnel
