// Tests of what validate_schedule accepts, and of its messages for what it refuses.
#include "policies/evaluation/schedule_validator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "models/base/error.hpp"
#include "policies/schedules/schedules.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;
using Change = std::function<void(Schedule&)>;

std::string error_after(Schedule schedule, const Change& change) {
  change(schedule);
  return error_of([&] { validate_schedule(schedule); });
}

Action action_of(ActionKind kind, int stage, int unit) {
  return {kind, stage, unit};
}

TEST(ValidateSchedule, NamesRankAndAction) {
  const auto error = [](const Change& change) {
    return error_after(generate_schedule("1f1b", 2, 2, 1), change);
  };
  EXPECT_EQ(error([](Schedule&) {}), "no error");
  EXPECT_EQ(error([](Schedule& schedule) { schedule.actions[1].pop_back(); }),
            "schedule '1f1b', rank 1, action 1B1: is missing");
  EXPECT_EQ(error([](Schedule& schedule) { schedule.actions[0][1].unit = 0; }),
            "schedule '1f1b', rank 0, action 0F0: done twice");
  EXPECT_EQ(error([](Schedule& schedule) { schedule.actions[1][0].unit = 7; }),
            "schedule '1f1b', rank 1, action 1F7: there are 2 micro-batches");
  EXPECT_EQ(error([](Schedule& schedule) { schedule.actions[1][0].stage = 4; }),
            "schedule '1f1b', rank 1, action 4F0: there are 2 stages");
  EXPECT_EQ(error([](Schedule& schedule) { schedule.actions[1][0].stage = 0; }),
            "schedule '1f1b', rank 1, action 0F0: the stage is on rank 0");
  EXPECT_EQ(
      error([](Schedule& schedule) { std::swap(schedule.actions[1][0], schedule.actions[1][1]); }),
      "schedule '1f1b', rank 1, action 1B0: is before its forward pass");
  EXPECT_EQ(
      error([](Schedule& schedule) { schedule.actions[1][1].kind = ActionKind::backward_weight; }),
      "schedule '1f1b', rank 1, action 1W0: is before its input gradient");
  EXPECT_EQ(
      error([](Schedule& schedule) { schedule.actions[1][1].kind = ActionKind::backward_input; }),
      "schedule '1f1b', rank 1, action 1W0: is missing");
}

TEST(ValidateSchedule, CountsWhatItIsGiven) {
  const auto error = [](const Change& change) {
    return error_after(generate_schedule("1f1b", 2, 2, 1), change);
  };
  EXPECT_THAT(error([](Schedule& schedule) { schedule.rank_of_stage.pop_back(); }),
              HasSubstr("1 stages are assigned to ranks, not 2"));
  EXPECT_THAT(error([](Schedule& schedule) { schedule.actions.pop_back(); }),
              HasSubstr("1 ranks have actions, not 2"));
  EXPECT_THAT(error([](Schedule& schedule) { schedule.rank_of_stage[1] = 2; }),
              HasSubstr("a stage is on rank 2, which does not exist"));
  EXPECT_THAT(error([](Schedule& schedule) { schedule.directions = 2; }),
              HasSubstr("1 chunks per rank do not divide into 2 directions"));
  EXPECT_THAT(error([](Schedule& schedule) { schedule.iterations = 0; }),
              HasSubstr("iterations must be at least 1"));
  EXPECT_THAT(error([](Schedule& schedule) { schedule.weight_copies = {2}; }),
              HasSubstr("1 ranks hold copies of the weights, not 2"));
  EXPECT_THAT(error([](Schedule& schedule) {
                schedule.slice_shares = {0.5, 0.5};
              }),
              HasSubstr("shares are given for 2 slices, not 1"));
  EXPECT_THAT(error([](Schedule& schedule) { schedule.slice_shares = {0.5}; }),
              HasSubstr("the shares of the slices sum to 0.5, not 1"));
}

TEST(ValidateSchedule, TakesSplitBackwards) {
  Schedule schedule = generate_schedule("1f1b", 1, 1, 1);
  schedule.actions[0][1].kind = ActionKind::backward_input;
  schedule.actions[0].push_back({ActionKind::backward_weight, 0, 0});
  EXPECT_NO_THROW(validate_schedule(schedule));
  schedule.actions[0].push_back({ActionKind::backward_weight, 0, 0});
  EXPECT_THROW(validate_schedule(schedule), Error);
}

// Two pipelines run over two ranks: stages 0, 1 in one direction and 2, 3 in the other.
Schedule two_replicas() {
  Schedule schedule;
  schedule.name = "both ways";
  schedule.ranks = 2;
  schedule.chunks = 2;
  schedule.microbatches = 2;
  schedule.directions = 2;
  schedule.rank_of_stage = {0, 1, 1, 0};
  schedule.actions = {{{ActionKind::forward, 0, 0},
                       {ActionKind::forward, 3, 1},
                       {ActionKind::backward, 3, 1},
                       {ActionKind::backward, 0, 0}},
                      {{ActionKind::forward, 2, 1},
                       {ActionKind::forward, 1, 0},
                       {ActionKind::backward, 1, 0},
                       {ActionKind::backward, 2, 1}}};
  return schedule;
}

TEST(ValidateSchedule, AUnitPassesThroughOneReplica) {
  EXPECT_EQ(error_after(two_replicas(), [](Schedule&) {}), "no error");
  EXPECT_EQ(error_after(two_replicas(),
                        [](Schedule& schedule) {
                          schedule.actions[0].push_back({ActionKind::forward, 0, 1});
                          schedule.actions[0].push_back({ActionKind::backward, 0, 1});
                        }),
            "schedule 'both ways', rank 1, action 2F1: already passes through direction 0");
  EXPECT_EQ(error_after(two_replicas(),
                        [](Schedule& schedule) {
                          auto& actions = schedule.actions[0];
                          actions.erase(actions.begin() + 1, actions.begin() + 3);
                        }),
            "schedule 'both ways', rank 0, action 3F1: is missing");
}

TEST(ValidateSchedule, SlicesGoUpAndDown) {
  const Schedule schedule = generate_schedule(
      "seq1f1b", {.ranks = 1, .microbatches = 2, .slices = 2});  // 0F0 0F1 0B1 0F2 0B0 0F3 0B3 0B2
  const auto error = [&](const Change& change) { return error_after(schedule, change); };
  EXPECT_EQ(error([](Schedule&) {}), "no error");
  EXPECT_EQ(
      error([](Schedule& changed) { std::swap(changed.actions[0][0], changed.actions[0][1]); }),
      "schedule 'seq1f1b', rank 0, action 0F1: comes before that of slice 0; forwards go up");
  EXPECT_EQ(
      error([](Schedule& changed) { std::swap(changed.actions[0][6], changed.actions[0][7]); }),
      "schedule 'seq1f1b', rank 0, action 0B2: comes before that of slice 1; backwards go down");
  EXPECT_THAT(error([](Schedule& changed) { changed.actions[0][3].unit = 4; }),
              HasSubstr("action 0F4: there are 4 slices"));
}

TEST(ValidateSchedule, CountsTheMicrobatchesOfAllIterations) {
  const Schedule schedule = generate_schedule("pipedream", 1, 2, 1);
  EXPECT_EQ(error_after(schedule, [](Schedule&) {}), "no error");
  EXPECT_THAT(error_after(schedule, [](Schedule& changed) { changed.actions[0].back().unit = 8; }),
              HasSubstr("action 0B8: there are 8 micro-batches in all iterations"));
  EXPECT_THAT(error_after(schedule, [](Schedule& changed) { changed.actions[0].pop_back(); }),
              HasSubstr("action 0B7: is missing"));
}

TEST(ValidateSchedule, RecomputesAllOrNothingOfAStage) {
  const Schedule schedule = generate_schedule("pre-recompute-1f1b", 1, 2, 1);  // F0 R0 B0 F1 R1 B1
  const auto error = [&](const Change& change) { return error_after(schedule, change); };
  EXPECT_EQ(error([](Schedule&) {}), "no error");
  EXPECT_THAT(error([](Schedule& changed) { changed.explicit_recompute = false; }),
              HasSubstr("rank 0, action 0R0: backward passes recompute in this schedule"));
  EXPECT_THAT(
      error([](Schedule& changed) { std::swap(changed.actions[0][0], changed.actions[0][1]); }),
      HasSubstr("action 0R0: is before its forward pass"));
  EXPECT_THAT(
      error([](Schedule& changed) { std::swap(changed.actions[0][1], changed.actions[0][2]); }),
      HasSubstr("action 0B0: is not recomputed, although other units of the stage are"));
  EXPECT_THAT(error([](Schedule& changed) {
                changed.actions[0].insert(changed.actions[0].begin() + 2,
                                          action_of(ActionKind::recompute, 0, 0));
              }),
              HasSubstr("action 0R0: done twice"));
  EXPECT_THAT(error([](Schedule& changed) {
                changed.actions[0].push_back(action_of(ActionKind::recompute, 0, 1));
                changed.actions[0].erase(changed.actions[0].begin() + 4);
              }),
              HasSubstr("action 0B1: is not recomputed"));
  EXPECT_EQ(error([](Schedule& changed) {
              std::erase_if(changed.actions[0], [](const Action& action) {
                return action.kind == ActionKind::recompute;
              });
            }),
            "no error");
}

TEST(ValidateSchedule, PairsAForwardWithAnotherBackward) {
  const Schedule schedule = generate_schedule("1f1b", 1, 2, 1);  // F0 B0 F1 B1
  const auto error = [&](const Change& change) { return error_after(schedule, change); };
  EXPECT_EQ(error([](Schedule& changed) {
              std::swap(changed.actions[0][1], changed.actions[0][2]);  // F0 (F1 B0) B1
              changed.actions[0][1].with_next = true;
            }),
            "no error");
  EXPECT_THAT(error([](Schedule& changed) { changed.actions[0][0].with_next = true; }),
              HasSubstr("action 0F0: is paired with its own backward pass"));
  EXPECT_THAT(error([](Schedule& changed) { changed.actions[0][1].with_next = true; }),
              HasSubstr("action 0B0: only a forward pass can be paired with the next action"));
  EXPECT_THAT(
      error([](Schedule& changed) {
        std::swap(changed.actions[0][1], changed.actions[0][2]);
        changed.actions[0][0].with_next = true;  // (F0 F1) B0 B1
      }),
      HasSubstr("action 0F0: is paired with the next action, which must be a full backward pass"));
}

TEST(ValidateSchedule, WeightsAreThereAndGradientsReduced) {
  Schedule schedule = generate_schedule("1f1b", 1, 1, 1);
  auto& actions = schedule.actions[0];  // UNSHARD F0 B0 RESHARD REDUCE
  actions.insert(actions.begin(), action_of(ActionKind::unshard, 0, 0));
  actions.push_back(action_of(ActionKind::reshard, 0, 0));
  actions.push_back(action_of(ActionKind::reduce_grad, 0, 0));
  const auto error = [&](const Change& change) { return error_after(schedule, change); };
  EXPECT_EQ(error([](Schedule&) {}), "no error");
  EXPECT_THAT(
      error([](Schedule& changed) { std::swap(changed.actions[0][0], changed.actions[0][1]); }),
      HasSubstr("action 0F0: the weights have not been unsharded before"));
  EXPECT_THAT(
      error([](Schedule& changed) { std::swap(changed.actions[0][2], changed.actions[0][3]); }),
      HasSubstr("action 0B0: the weights have not been unsharded before"));
  EXPECT_THAT(error([](Schedule& changed) {
                changed.actions[0].insert(changed.actions[0].begin(),
                                          action_of(ActionKind::unshard, 0, 0));
              }),
              HasSubstr("action 0UNSHARD: the weights are already unsharded"));
  EXPECT_THAT(error([](Schedule& changed) {
                changed.actions[0].push_back(action_of(ActionKind::reshard, 0, 0));
              }),
              HasSubstr("action 0RESHARD: the weights are already sharded"));
  EXPECT_THAT(error([](Schedule& changed) {
                changed.actions[0].push_back(action_of(ActionKind::reduce_grad, 0, 0));
              }),
              HasSubstr("action 0REDUCE_GRAD: there are no gradients to reduce"));
  EXPECT_THAT(error([](Schedule& changed) {
                changed.actions[0][2].kind = ActionKind::backward_input;
                changed.actions[0].push_back(action_of(ActionKind::backward_weight, 0, 0));
              }),
              HasSubstr("action 0REDUCE_GRAD: there are no gradients to reduce"));
  EXPECT_THAT(error([](Schedule& changed) {
                changed.microbatches = 2;
                changed.actions[0].insert(changed.actions[0].begin() + 1,
                                          action_of(ActionKind::forward, 0, 1));
                changed.actions[0].insert(changed.actions[0].begin() + 4,
                                          action_of(ActionKind::backward_input, 0, 1));
                changed.actions[0].push_back(action_of(ActionKind::backward_weight, 0, 1));
              }),
              HasSubstr("action 0REDUCE_GRAD: is missing after the last backward"));
}

}  // namespace
}  // namespace windtunnel
