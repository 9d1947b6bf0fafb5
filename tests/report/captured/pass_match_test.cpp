#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/captured/captured_report.hpp"

namespace windtunnel {
namespace {

using enum ActionKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Each range has a kernel of one second, and one more kernel follows the last range.
RankProfile ranged(const std::vector<NamedPass>& passes) {
  RankProfile profile;
  double at_s = 0;
  const auto add = [&](double begin_s) {
    profile.work.push_back({.start_s = begin_s + 1,
                            .end_s = begin_s + 2,
                            .launched_s = begin_s + 0.5,
                            .kind = WorkKind::product,
                            .thread = 0});
  };
  for (const NamedPass& pass : passes) {
    profile.passes.push_back({pass, at_s, at_s + 1});
    add(at_s);
    at_s += 2;
  }
  add(at_s);
  finish_profile(profile);
  return profile;
}

RankPass predicted(ActionKind kind, int stage, int microbatch, double start_s) {
  return {.name = std::string(letters_of(kind)) + std::to_string(microbatch),
          .action = kind,
          .stage = stage,
          .microbatch = microbatch,
          .start_s = start_s,
          .end_s = start_s + 0.5,
          .busy_s = 0.25};
}

std::vector<RankPass> gpipe() {
  std::vector<RankPass> passes = {predicted(forward, 2, 0, 0), predicted(forward, 2, 1, 1),
                                  predicted(backward, 2, 1, 2), predicted(backward, 2, 0, 3)};
  passes.push_back({.name = "optimizer", .action = {}, .start_s = 4, .end_s = 5, .busy_s = 1});
  return passes;
}

PassMatch match(const std::vector<NamedPass>& traced, const std::vector<RankPass>& predicted) {
  const RankProfile profile = ranged(traced);
  const CapturedRank rank = captured_steps(profile);
  return match_passes(profile, rank, rank.steps.front(), predicted);
}

std::vector<double> starts(const PassMatch& match) {
  std::vector<double> starts;
  for (const MatchedPass& pass : match.passes) starts.push_back(pass.traced.start_s);
  return starts;
}

TEST(PassMatch, MicroBatchesAreMatchedWhateverTheirOrder) {
  const PassMatch made =
      match({{forward, -1, 0}, {forward, -1, 1}, {backward, -1, 0}, {backward, -1, 1}}, gpipe());
  EXPECT_EQ(made.none, "");
  EXPECT_THAT(starts(made), ElementsAre(0, 2, 6, 4, 8));  // the prediction runs B1 first
  EXPECT_EQ(made.passes[0].predicted.busy_s, 0.25);
  EXPECT_EQ(made.passes[0].difference_s(), -0.5);
}

TEST(PassMatch, NumbersThatCountSomethingElseLeaveTheOrder) {
  const PassMatch made =
      match({{forward, -1, 7}, {forward, -1, 8}, {backward, -1, 7}, {backward, -1, 8}}, gpipe());
  EXPECT_THAT(starts(made), ElementsAre(0, 2, 4, 6, 8));
}

TEST(PassMatch, AnotherScheduleIsSaid) {
  EXPECT_THAT(match({{forward, 1, 0}, {backward, 1, 0}}, gpipe()).none,
              HasSubstr("none of its ranges matches the scenario's F0"));
  EXPECT_THAT(match({{forward, 2, 0}, {forward, 2, 0}, {backward, 2, 0}}, gpipe()).none,
              HasSubstr("it runs F2.0 twice"));
  EXPECT_THAT(match({{forward, -1, -1}, {backward, -1, -1}}, gpipe()).none,
              HasSubstr("it has 2 passes, but the scenario's schedule has 4"));
  const PassMatch order = match(
      {{forward, -1, -1}, {backward, -1, -1}, {forward, -1, -1}, {backward, -1, -1}}, gpipe());
  EXPECT_THAT(order.none, HasSubstr("its pass 2 is B, but in the scenario's schedule it is F1"));
  EXPECT_TRUE(order.passes.empty());
}

// Ranges of modules, three in a forward pass, are not taken for passes; instead the launching
// thread distinguishes the passes.
TEST(PassMatch, RangesOfPartsLeaveItToThreads) {
  RankProfile profile =
      ranged({{forward, -1, -1}, {forward, -1, -1}, {forward, -1, -1}, {backward, -1, -1}});
  profile.work[3].thread = 1;
  const std::vector<RankPass> due = {
      predicted(forward, 0, 0, 0),
      predicted(backward, 0, 0, 1),
      {.name = "optimizer", .action = {}, .start_s = 2, .end_s = 3, .busy_s = 1}};
  const CapturedRank rank = captured_steps(profile);
  const PassMatch made = match_passes(profile, rank, rank.steps.front(), due);
  EXPECT_EQ(made.none, "");
  EXPECT_THAT(starts(made), ElementsAre(0, 6, 8));
}

TEST(PassMatch, SumsAndWhatIsBetweenMakeTheStep) {
  const PassMatch made =
      match({{forward, 2, 0}, {forward, 2, 1}, {backward, 2, 1}, {backward, 2, 0}}, gpipe());
  const std::vector<PassSum> sums = pass_sums(made, 9.5, 6);
  ASSERT_EQ(sums.size(), 4u);
  EXPECT_EQ(sums[0].passes, 2);
  EXPECT_EQ(sums[2].what, "optimizer");
  double traced_s = 0, predicted_s = 0;
  for (const PassSum& sum : sums) {
    traced_s += sum.traced.seconds();
    predicted_s += sum.predicted.seconds();
  }
  EXPECT_DOUBLE_EQ(traced_s, 9.5);
  EXPECT_DOUBLE_EQ(predicted_s, 6);
}

}  // namespace
}  // namespace windtunnel
