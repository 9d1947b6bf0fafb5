#include "policies/schedules.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/base/error.hpp"

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

}  // namespace
}  // namespace windtunnel
