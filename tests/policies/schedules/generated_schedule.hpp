// Functions that the tests of schedule generators share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/base/random.hpp"
#include "policies/evaluation/schedule_evaluator.hpp"
#include "policies/evaluation/schedule_validator.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {

inline constexpr double kTolerance = 1e-8;
inline constexpr StageCost kSame{1, 0.5, 0.5, 1, 0.5};  // backward as long as forward
inline constexpr StageCost kUsual{1, 1, 1, 1, 0.5};     // backward twice as long

inline double worst(const std::vector<double>& peaks) {
  return *std::ranges::max_element(peaks);
}
inline double least(const std::vector<double>& peaks) {
  return *std::ranges::min_element(peaks);
}

inline std::string listing(const Schedule& schedule, int rank) {
  std::string text;
  for (const Action& action : schedule.actions[rank]) {
    if (!text.empty()) text += ' ';
    text += to_string(action);
  }
  return text;
}

// Evaluates a schedule with equal chunks; `share` is a rank's whole share of one replica.
inline ScheduleEvaluation evaluate_equal(const Schedule& schedule, StageCost share,
                                         double message_s = 0) {
  const int chunks = schedule.chunks / schedule.directions;
  for (double* const part :
       {&share.forward_s, &share.backward_input_s, &share.backward_weight_s, &share.activation,
        &share.weight_activation, &share.forward_hideable_s, &share.backward_hideable_s}) {
    *part /= chunks;
  }
  return evaluate_schedule(schedule, std::vector<StageCost>(schedule.model_stages(), share),
                           message_s);
}

// Counts one micro-batch's messages between ranks, forward and backward.
inline int crossings(const Schedule& schedule) {
  int crossings = 0;
  for (int stage = 1; stage < schedule.model_stages(); ++stage) {
    if (schedule.rank_of_stage[stage - 1] != schedule.rank_of_stage[stage]) crossings += 2;
  }
  return crossings;
}

// Expects that the schedule is valid and runs to its end, with any costs of stages and messages.
inline void expect_sound(const Schedule& schedule, int sample) {
  SCOPED_TRACE(schedule.name + " " + std::to_string(schedule.ranks) + " " +
               std::to_string(schedule.microbatches));
  EXPECT_NO_THROW(validate_schedule(schedule));
  RandomStream random(1, RandomPurpose::test, sample);
  std::vector<StageCost> costs;
  for (int stage = 0; stage < schedule.model_stages(); ++stage) {
    costs.push_back({random.uniform(), random.uniform(), random.uniform(), 1, random.uniform()});
  }
  std::vector<double> work_s(schedule.ranks, 0);
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    const StageCost& cost = costs[schedule.model_stage(stage)];
    const int units = schedule.microbatches / schedule.directions;
    work_s[schedule.rank_of_stage[stage]] += units * (cost.forward_s + cost.backward_s());
  }
  const double message_s = random.uniform();
  const ScheduleEvaluation delayed = evaluate_schedule(schedule, costs, message_s);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    EXPECT_NEAR(delayed.busy_s[rank], work_s[rank], 1e-9 * schedule.microbatches);
    EXPECT_LE(work_s[rank], delayed.makespan_s + 1e-9);
  }
  const SideStreams blocking{.messages = {{{message_s}, {message_s}}, Sends::blocking}};
  EXPECT_GE(evaluate_schedule(schedule, costs, blocking).makespan_s, delayed.makespan_s - 1e-9);
}

struct ScheduleSize {
  int ranks;
  int microbatches;
};

// Returns corner cases, and random sizes between them.
inline std::vector<ScheduleSize> schedule_sizes() {
  std::vector<ScheduleSize> sizes = {{1, 1},   {1, 2},    {1, 512},  {2, 1},    {2, 4},   {2, 512},
                                     {3, 5},   {3, 6},    {4, 8},    {8, 1},    {64, 1},  {64, 63},
                                     {64, 64}, {64, 127}, {64, 128}, {64, 512}, {63, 512}};
  RandomStream random(2, RandomPurpose::test, 0);
  for (int i = 0; i < 40; ++i) {
    sizes.push_back(
        {1 + static_cast<int>(random.below(64)), 1 + static_cast<int>(random.below(512))});
  }
  return sizes;
}

// Rounds numbers of ranks up to even ones, and micro-batches to even ones or, with `whole`, to a
// multiple of the ranks.
inline std::vector<ScheduleSize> even_sizes(bool whole) {
  std::vector<ScheduleSize> sizes;
  for (const auto& [p, m] : schedule_sizes()) {
    const int ranks = p + p % 2;
    const int step = whole ? ranks : 2;
    sizes.push_back({ranks, std::max(m / step, 1) * step});
  }
  return sizes;
}

}  // namespace windtunnel
