#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/report/api/small_case.hpp"

namespace windtunnel {
namespace {

Case case_with(ScheduleGenerator generate, int chunks = 1) {
  Case the_case = small_case();
  the_case.add_schedule("mine", std::move(generate), chunks).set("schedule", "mine");
  return the_case;
}

std::string fault_of(ScheduleGenerator generate) {
  return error_of([&] { case_with(std::move(generate)).check(); }).what();
}

TEST(PublicSchedule, OwnOrderIsAsGoodAsTheLibrarys) {
  const Result own = simulate(case_with(one_forward_one_backward));
  const Result library = simulate(small_case());
  for (const Figure& figure : library.figures()) {
    EXPECT_EQ(own[figure.key], figure.value) << figure.key;
  }
}

TEST(PublicSchedule, RequestHoldsTheJob) {
  ScheduleRequest seen;
  Case the_case = case_with([&](const ScheduleRequest& request) {
    seen = request;
    return one_forward_one_backward(request);
  });
  the_case.set("schedule.group", "4").check();
  EXPECT_EQ(seen.ranks, 2);
  EXPECT_EQ(seen.microbatches, 16);
  EXPECT_EQ(seen.chunks, 1);
  EXPECT_EQ(seen.group, 4);
  EXPECT_GT(seen.memory_limit, 1e9);
  EXPECT_GT(seen.message_s, 0);
  ASSERT_EQ(seen.stages.size(), 2u);
  EXPECT_GT(seen.stages[1].forward_s, seen.stages[0].forward_s);  // it has the loss
  EXPECT_GT(seen.stages[0].activation_bytes, 0);
}

// The stages run over the ranks and back, with split backward passes.
TEST(PublicSchedule, StagesMayLieInAVee) {
  const auto vee = [](const ScheduleRequest& request) {
    Schedule schedule;
    schedule.actions.resize(request.ranks);
    const int stages = request.ranks * request.chunks;
    for (int stage = 0; stage < stages; ++stage) {
      schedule.rank_of_stage.push_back(std::min(stage, stages - 1 - stage));
    }
    for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
      for (int i = 0; i < request.microbatches; ++i) {
        for (int at = 0; at < stages; ++at) {
          const int stage = pass == Pass::forward ? at : stages - 1 - at;
          schedule.actions[schedule.rank_of_stage[stage]].push_back({pass, stage, i});
        }
      }
    }
    return schedule;
  };
  SimulateOptions options;
  options.allow_oom = true;  // all forwards are alive before the first backward
  EXPECT_GT(simulate(case_with(vee, 2), options)["iteration.time_s"], 0);
}

TEST(PublicSchedule, FaultsNameRankAndAction) {
  const auto changed = [](auto change) {
    return [change](const ScheduleRequest& request) {
      Schedule schedule = one_forward_one_backward(request);
      change(schedule);
      return schedule;
    };
  };
  EXPECT_THAT(fault_of(changed([](Schedule& s) { s.actions[1].pop_back(); })),
              ::testing::HasSubstr("schedule 'mine', rank 1, action 1B15: is missing"));
  EXPECT_THAT(fault_of(changed([](Schedule& s) { s.actions[0][0].stage = 1; })),
              ::testing::HasSubstr("the stage is on rank 1"));
  EXPECT_THAT(fault_of(changed([](Schedule& s) { s.actions.pop_back(); })),
              ::testing::HasSubstr("schedule 'mine'"));
  EXPECT_THAT(fault_of(changed([](Schedule& s) {
                s.rank_of_stage = {0, 7};
              })),
              ::testing::HasSubstr("schedule 'mine'"));
  EXPECT_THAT(fault_of(changed([](Schedule& s) {
                std::ranges::reverse(s.actions[1]);
                for (Action& action : s.actions[1]) {
                  action.pass = action.pass == Pass::forward ? Pass::backward : Pass::forward;
                }
              })),
              ::testing::HasSubstr("deadlocks"));
}

TEST(PublicSchedule, WhatTheCallerThrowsPassesThrough) {
  const Case the_case = case_with(
      [](const ScheduleRequest&) -> Schedule { throw std::domain_error("no such order"); });
  EXPECT_THROW(the_case.check(), std::domain_error);
}

}  // namespace
}  // namespace windtunnel
