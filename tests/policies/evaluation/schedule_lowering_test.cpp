#include "policies/evaluation/schedule_lowering.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "models/base/error.hpp"
#include "policies/evaluation/message_validator.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/error_of.hpp"
#include "traces/torch/torch_schedule.hpp"

namespace windtunnel {
namespace {

Schedule schedule_of(const std::string& text) {
  return parse_torch_schedule(text, "test.csv").schedule;
}

std::string text_of(const std::vector<Action>& actions) {
  std::string text;
  for (const Action& action : actions) text += (text.empty() ? "" : ",") + to_string(action);
  return text;
}

std::string data_file(const std::string& name) {
  return fmt::format("{}/tests/data/{}.csv", WINDTUNNEL_SOURCE_DIR, name);
}

// The expectations are those of torch's own test of this pass (test_schedule.py,
// TestScheduleLowering).
TEST(Lowering, GathersAndDropsWeightsAsTorchsTestsExpect) {
  EXPECT_EQ(text_of(with_unshards(schedule_of("0F0,0F1,,0B0,0B1")).actions[0]),
            "0UNSHARD,0F0,0F1,0B0,0B1,0RESHARD");
  EXPECT_EQ(text_of(with_unshards(schedule_of("0F0,0F1,1F0,1F1,1B0,1B1,0B0,0B1")).actions[0]),
            "0UNSHARD,1UNSHARD,0F0,0F1,1F0,1F1,1B0,1B1,1RESHARD,0B0,0B1,0RESHARD");
}

TEST(Lowering, ReducesGradientsAsTorchsTestsExpect) {
  EXPECT_EQ(text_of(with_gradient_reductions(schedule_of("0F0,0F1,,0B0,0B1")).actions[0]),
            "0F0,0F1,0B0,0B1,0REDUCE_GRAD");
  EXPECT_EQ(
      text_of(with_gradient_reductions(schedule_of("0F0,0F1,1F0,1F1,1B0,1B1,0B0,0B1")).actions[0]),
      "0F0,0F1,1F0,1F1,1B0,1B1,1REDUCE_GRAD,0B0,0B1,0REDUCE_GRAD");
}

TEST(Lowering, MergesBackwardsAsTorchsTestsExpect) {
  EXPECT_EQ(
      text_of(with_full_backwards(schedule_of("0F0,0F1,0F2,0I0,0I1,0W0,0I2,0W2,0W1")).actions[0]),
      "0F0,0F1,0F2,0I0,0I1,0W0,0B2,0W1");
}

// Before each action the next three stages are gathered; stages not among them are dropped, the
// lowest first.
TEST(Lowering, LooksThreeStagesAhead) {
  const Schedule compute = schedule_of("0F0,1F0,2F0,3F0,3B0,2B0,1B0,0B0");
  EXPECT_EQ(text_of(lowered(compute, {.sharded = true}).actions[0]),
            "0UNSHARD,1UNSHARD,2UNSHARD,0F0,0RESHARD,3UNSHARD,1F0,2F0,3F0,3B0,3REDUCE_GRAD,"
            "3RESHARD,0UNSHARD,2B0,2REDUCE_GRAD,2RESHARD,1B0,1REDUCE_GRAD,1RESHARD,0B0,"
            "0REDUCE_GRAD,0RESHARD");
}

// A pair counts as one action, so that four stages may be gathered then, as in torch.
TEST(Lowering, APairIsLookedAtAsOne) {
  const Schedule compute =
      schedule_of("0F0,1F0,2F0,3F0,3B0,2B0,(0F1;1B0)OVERLAP_F_B,0B0,1F1,2F1,3F1,3B1,2B1,1B1,0B1");
  std::vector<Action> actions = with_unshards(compute).actions[0];
  actions.resize(15);
  EXPECT_EQ(text_of(actions),
            "0UNSHARD,1UNSHARD,2UNSHARD,0F0,0RESHARD,3UNSHARD,1F0,0UNSHARD,2F0,3F0,3B0,3RESHARD,"
            "2B0,0F1,1B0");
}

TEST(Lowering, PlacesMessagesAsTorchsArtefact) {
  const Schedule compute = read_torch_schedule(data_file("zb1p_2rank_2stagep_compute")).schedule;
  const Schedule torch = read_torch_schedule(data_file("zb1p_2rank_2stagep_comms")).schedule;
  const Schedule ours = with_messages(with_full_backwards(compute));
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(text_of(ours.actions[rank]), text_of(torch.actions[rank]));
  }
  validate_messages(torch);
}

TEST(Lowering, NothingIsSentWithinARankAndPairsSendBehindBoth) {
  const Schedule schedule = schedule_of(
      "0F0,0F1,3F0,(3F1;3B0)OVERLAP_F_B,3B1,0B0,0B1\n,1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1\n");
  const Schedule messages = with_messages(schedule);
  EXPECT_EQ(text_of(messages.actions[0]),
            "0F0,0SEND_F0,0F1,0SEND_F1,3RECV_F0,3F0,3RECV_F1,3F1,3B0,3SEND_B0,3B1,3SEND_B1,"
            "0RECV_B0,0B0,0RECV_B1,0B1");
  EXPECT_EQ(find_message_fault(messages), std::nullopt);
}

TEST(Lowering, ADeadlockNamesRankAndAction) {
  const Schedule schedule = schedule_of("0F0,0B0,0F1,0B1\n1F1,1F0,1B0,1B1\n");
  EXPECT_EQ(error_of([&] { with_messages(schedule); }),
            "schedule 'test' deadlocks: rank 0 waits at its action 2 (0B0) for another rank");
  const auto fault = find_message_fault(schedule);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->rank, 0);
  EXPECT_EQ(fault->position, 1);
}

// Every generated schedule can be lowered, passes the validator, and equals the original without
// its messages.
TEST(Lowering, OfEveryScheduleIsValid) {
  std::mt19937 random(11);
  for (const ScheduleKind& kind : schedule_kinds()) {
    int made = 0;
    for (int i = 0; i < 40; ++i) {
      ScheduleRequest request;
      request.ranks = static_cast<int>(1 + random() % 8);
      request.microbatches = static_cast<int>(1 + random() % 20);
      request.chunks = kind.usual_chunks;
      Schedule schedule;
      try {
        schedule = generate_schedule(kind.name, request);
      } catch (const Error&) {
        continue;  // the kind forbids these numbers
      }
      ++made;
      for (const bool sharded : {false, true}) {
        const Schedule result = lowered(schedule, {.sharded = sharded});
        validate_messages(result);
        EXPECT_TRUE(compute_only(result).actions == schedule.actions) << kind.name;
      }
    }
    EXPECT_GE(made, 3) << kind.name;
  }
}

}  // namespace
}  // namespace windtunnel
