// Properties that all schedules with two pipelines in opposite directions share.
#include <gmock/gmock.h>

#include "tests/policies/schedules/generated_schedule.hpp"

namespace windtunnel {
namespace {

TEST(Bidirectional, CrossingsAndCopies) {
  for (const int p : {2, 4, 64}) {
    for (const char* const name : {"chimera", "dualpipe", "bitpipe"}) {
      const bool vee = std::string(name) == "bitpipe";
      const Schedule schedule = generate_schedule(name, p, 2 * p, vee ? 2 : 1);
      EXPECT_EQ(crossings(schedule), (vee ? 4 : 2) * (p - 1)) << name;
      EXPECT_EQ(schedule.directions, 2);
      // Every rank also holds the stages of the mirrored rank.
      for (int stage = 0; stage < schedule.model_stages(); ++stage) {
        EXPECT_EQ(
            schedule.rank_of_stage[stage] + schedule.rank_of_stage[schedule.model_stages() + stage],
            p - 1);
      }
    }
  }
}

TEST(Bidirectional, SoundWithAnyCosts) {
  int sample = 0;
  for (const auto& [p, m] : even_sizes(false)) {
    for (const int group : {1, 2, 3}) {
      const ScheduleRequest request{.ranks = p, .microbatches = m, .chunks = 1, .group = group};
      expect_sound(generate_schedule("chimera", request), ++sample);
    }
    if (m >= 2 * p) expect_sound(generate_schedule("dualpipe", p, m, 1), ++sample);
  }
  for (const auto& [p, m] : even_sizes(true)) {
    expect_sound(generate_schedule("bitpipe", p, m, 2), ++sample);
  }
}

TEST(Bidirectional, SaysWhyWhenItCannot) {
  for (const char* const name : {"chimera", "dualpipe"}) {
    EXPECT_THAT(error_of([&] { generate_schedule(name, 3, 6, 1); }),
                ::testing::HasSubstr("even number of pipeline ranks, not 3"));
    EXPECT_THAT(error_of([&] { generate_schedule(name, 2, 5, 1); }),
                ::testing::HasSubstr("even number of micro-batches"));
  }
  EXPECT_THAT(error_of([] { generate_schedule("dualpipe", 4, 6, 1); }),
              ::testing::HasSubstr("4 ranks need 8 or more, not 6"));
  EXPECT_THAT(error_of([] { generate_schedule("bitpipe", 3, 6, 2); }),
              ::testing::HasSubstr("even number of pipeline ranks, not 3"));
  EXPECT_THAT(error_of([] { generate_schedule("bitpipe", 4, 6, 2); }),
              ::testing::HasSubstr("6 is no multiple of 4"));
  EXPECT_THAT(error_of([] { generate_schedule("bitpipe", 4, 8, 4); }),
              ::testing::HasSubstr("2 model chunks per rank, not 4"));
}

}  // namespace
}  // namespace windtunnel
