#include "policies/schedules.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/error.hpp"
#include "policies/schedule_validator.hpp"

namespace windtunnel {
namespace {

std::string listing(const Schedule& schedule, int rank) {
  std::string text;
  for (const Action& action : schedule.actions[rank]) {
    if (!text.empty()) text += ' ';
    text += to_string(action);
  }
  return text;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Schedules, GpipeByHand) {
  const Schedule schedule = generate_schedule("gpipe", 2, 3, 1);
  EXPECT_EQ(listing(schedule, 0), "0F0 0F1 0F2 0B2 0B1 0B0");
  EXPECT_EQ(listing(schedule, 1), "1F0 1F1 1F2 1B2 1B1 1B0");
}

TEST(Schedules, OneForwardOneBackwardByHand) {
  const Schedule schedule = generate_schedule("1f1b", 3, 4, 1);
  EXPECT_EQ(listing(schedule, 0), "0F0 0F1 0F2 0B0 0F3 0B1 0B2 0B3");
  EXPECT_EQ(listing(schedule, 1), "1F0 1F1 1B0 1F2 1B1 1F3 1B2 1B3");
  EXPECT_EQ(listing(schedule, 2), "2F0 2B0 2F1 2B1 2F2 2B2 2F3 2B3");
}

// Figure 4 of the SC'21 paper, two ranks of two chunks: rank 1 starts its steady state earlier.
TEST(Schedules, InterleavedByHand) {
  const Schedule schedule = generate_schedule("interleaved-1f1b", 2, 4, 2);
  EXPECT_EQ(schedule.rank_of_stage, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(listing(schedule, 0),
            "0F0 0F1 2F0 2F1 0F2 2B0 0F3 2B1 2F2 0B0 2F3 0B1 2B2 2B3 0B2 0B3");
  EXPECT_EQ(listing(schedule, 1),
            "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 1F3 1B1 3F2 3B2 3F3 3B3 1B2 1B3");
}

TEST(Schedules, InterleavedWithAShortLastGroup) {
  const Schedule schedule = generate_schedule("interleaved-1f1b", 2, 3, 2);
  EXPECT_EQ(listing(schedule, 1), "1F0 1F1 3F0 3B0 3F1 3B1 1F2 1B0 3F2 1B1 3B2 1B2");
}

TEST(Schedules, EveryKindNamesItsSource) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    EXPECT_THAT(std::string(kind.source), testing::HasSubstr("arXiv")) << kind.name;
    EXPECT_FALSE(kind.help.empty());
  }
}

TEST(Schedules, SaysWhyWhenItCannot) {
  EXPECT_EQ(error_of([] { generate_schedule("1f1", 2, 2, 1); }),
            "unknown schedule '1f1'; did you mean '1f1b'?");
  EXPECT_THAT(error_of([] { generate_schedule("1f1b", 2, 2, 2); }),
              testing::HasSubstr("one model chunk per rank, not 2"));
  EXPECT_THAT(error_of([] { generate_schedule("gpipe", 2, 2, 3); }),
              testing::HasSubstr("one model chunk per rank, not 3"));
  EXPECT_THAT(error_of([] { generate_schedule("interleaved-1f1b", 2, 2, 1); }),
              testing::HasSubstr("at least 2 model chunks"));
  EXPECT_THAT(error_of([] { generate_schedule("interleaved-1f1b", 4, 5, 3); }),
              testing::HasSubstr("deadlocks with 5 micro-batches on 4 pipeline ranks of 3 chunks: "
                                 "the last group holds 1 micro-batches where 4 are needed"));
  EXPECT_THAT(error_of([] { generate_schedule("1f1b", 0, 2, 1); }),
              testing::HasSubstr("at least 1 rank"));
  EXPECT_THAT(error_of([] { generate_schedule("1f1b", 2000000000, 2000000000, 1); }),
              testing::HasSubstr("too large"));
}

TEST(ValidateSchedule, NamesRankAndAction) {
  const auto error_after = [](const std::function<void(Schedule&)>& change) {
    Schedule schedule = generate_schedule("1f1b", 2, 2, 1);
    change(schedule);
    return error_of([&] { validate_schedule(schedule); });
  };
  EXPECT_EQ(error_after([](Schedule&) {}), "no error");
  EXPECT_EQ(error_after([](Schedule& schedule) { schedule.actions[1].pop_back(); }),
            "schedule '1f1b', rank 1, action 1B1: is missing");
  EXPECT_EQ(error_after([](Schedule& schedule) { schedule.actions[0][1].unit = 0; }),
            "schedule '1f1b', rank 0, action 0F0: done twice");
  EXPECT_EQ(error_after([](Schedule& schedule) { schedule.actions[1][0].unit = 7; }),
            "schedule '1f1b', rank 1, action 1F7: there are 2 micro-batches");
  EXPECT_EQ(error_after([](Schedule& schedule) { schedule.actions[1][0].stage = 4; }),
            "schedule '1f1b', rank 1, action 4F0: there are 2 stages");
  EXPECT_EQ(error_after([](Schedule& schedule) { schedule.actions[1][0].stage = 0; }),
            "schedule '1f1b', rank 1, action 0F0: the stage lies on rank 0");
  EXPECT_EQ(error_after([](Schedule& schedule) {
              std::swap(schedule.actions[1][0], schedule.actions[1][1]);
            }),
            "schedule '1f1b', rank 1, action 1B0: comes before its forward");
  EXPECT_EQ(error_after([](Schedule& schedule) {
              schedule.actions[1][1].kind = ActionKind::backward_weight;
            }),
            "schedule '1f1b', rank 1, action 1W0: comes before its input gradient");
  EXPECT_EQ(error_after([](Schedule& schedule) {
              schedule.actions[1][1].kind = ActionKind::backward_input;
            }),
            "schedule '1f1b', rank 1, action 1W0: is missing");
  EXPECT_THAT(error_after([](Schedule& schedule) { schedule.rank_of_stage.pop_back(); }),
              testing::HasSubstr("1 stages have a rank, not 2"));
  EXPECT_THAT(error_after([](Schedule& schedule) { schedule.actions.pop_back(); }),
              testing::HasSubstr("1 ranks have actions, not 2"));
}

TEST(ValidateSchedule, TakesSplitBackwards) {
  Schedule schedule = generate_schedule("1f1b", 1, 1, 1);
  schedule.actions[0][1].kind = ActionKind::backward_input;
  schedule.actions[0].push_back({ActionKind::backward_weight, 0, 0});
  EXPECT_NO_THROW(validate_schedule(schedule));
  schedule.actions[0].push_back({ActionKind::backward_weight, 0, 0});
  EXPECT_THROW(validate_schedule(schedule), Error);
}

}  // namespace
}  // namespace windtunnel
