#include "traces/profile/step_passes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/profile/kineto_text.hpp"
#include "tests/traces/profile/made_kineto.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;

// Holds the last step of a generated trace, cut into passes.
struct Cut {
  RankProfile profile;
  CapturedStep step;
  StepPasses passes;
};

Cut cut(const MadeTrace& made) {
  Cut cut;
  cut.profile = read_text(made_kineto(made));
  const CapturedRank rank = captured_steps(cut.profile);
  cut.step = rank.steps.back();
  cut.passes = step_passes(cut.profile, rank, cut.step);
  return cut;
}

// Returns a letter for each pass, such as "FBFBO", where O is the optimizer.
std::string letters(const StepPasses& passes) {
  std::string text;
  for (const CapturedPass& pass : passes.passes) {
    text += pass.action ? letters_of(*pass.action) : "O";
  }
  return text;
}

TEST(StepPasses, ThreadsTellForwardsFromBackwards) {
  const Cut made = cut({.tp = 2, .dp = 2, .microbatches = 3});
  EXPECT_EQ(made.passes.none, "");
  EXPECT_FALSE(made.passes.annotated);
  ASSERT_EQ(letters(made.passes), "FBFBFBO");
  double busy_s = 0;
  std::size_t kernels = 0;
  for (std::size_t i = 0; i < made.passes.passes.size(); ++i) {
    const CapturedPass& pass = made.passes.passes[i];
    EXPECT_LE(pass.busy_s, pass.end_s - pass.start_s);
    if (i > 0) {
      EXPECT_GE(pass.start_s, made.passes.passes[i - 1].end_s);
    }
    busy_s += pass.busy_s;
    kernels += pass.work.size();
  }
  EXPECT_NEAR(busy_s, made.step.compute_s, 1e-9);
  int all = 0;  // communication kernels of the step, which are in no pass
  for (const CapturedCall& call : made.step.calls) all += call.count;
  EXPECT_EQ(kernels, static_cast<std::size_t>(made.step.kernels - all));
}

TEST(StepPasses, WithoutStepsTheFirstKernelsAreTheForwards) {
  const Cut made = cut({.microbatches = 2, .with_steps = false});
  EXPECT_EQ(letters(made.passes), "FBFBO");
  EXPECT_EQ(made.passes.passes.front().work.size(),
            cut({.microbatches = 2}).passes.passes.front().work.size());
}

TEST(StepPasses, RangesTellStageAndMicroBatch) {
  const Cut made = cut({.rank = 2, .dp = 2, .pp = 2, .microbatches = 3, .with_passes = true});
  EXPECT_TRUE(made.passes.annotated);
  ASSERT_EQ(letters(made.passes), "FBFBFBO");
  EXPECT_EQ(made.passes.passes[3].stage, 1);
  EXPECT_EQ(made.passes.passes[3].microbatch, 1);
}

TEST(StepPasses, ForwardsInARowAreCutByTheSchedulesOrder) {
  using enum ActionKind;
  const MadeTrace first{.rank = 0, .dp = 2, .pp = 2, .microbatches = 3};
  Cut made = cut(first);
  const ActionKind order[] = {forward, forward, backward, forward, backward, backward};
  EXPECT_EQ(letters(made.passes), "FBFBO");
  ASSERT_EQ(split_passes(made.profile, order, made.passes), "");
  EXPECT_EQ(letters(made.passes), "FFBFBBO");
  MadeTrace marked = first;
  marked.with_passes = true;
  const Cut told = cut(marked);
  ASSERT_EQ(letters(told.passes), "FFBFBBO");
  for (std::size_t i = 0; i < told.passes.passes.size(); ++i) {
    EXPECT_EQ(made.passes.passes[i].work, told.passes.passes[i].work) << i;
    EXPECT_EQ(made.passes.passes[i].busy_s, told.passes.passes[i].busy_s) << i;
  }
}

// Two forward passes with equal kernels follow a preparation, and a backward pass follows them.
TEST(StepPasses, ForwardsWithoutMessagesAreTheSameKernelsAgain) {
  using enum ActionKind;
  RankProfile profile;
  const std::pair<int, int> kernels[] = {{9, 0}, {1, 0}, {2, 0}, {1, 0}, {2, 0}, {1, 1}};
  double at_s = 1;
  for (const auto& [name, thread] : kernels) {
    profile.work.push_back({.start_s = at_s,
                            .end_s = at_s + 0.5,
                            .launched_s = at_s - 1,
                            .name = name,
                            .kind = WorkKind::product,
                            .thread = static_cast<std::int16_t>(thread)});
    at_s += 1;
  }
  finish_profile(profile);
  const CapturedRank rank = captured_steps(profile);
  StepPasses passes = step_passes(profile, rank, rank.steps.front());
  ASSERT_EQ(letters(passes), "FB");
  const ActionKind order[] = {forward, forward, backward};
  ASSERT_EQ(split_passes(profile, order, passes), "");
  ASSERT_EQ(letters(passes), "FFB");
  EXPECT_EQ(passes.passes[0].work.size(), 3u);
  EXPECT_EQ(passes.passes[1].work.size(), 2u);
}

// A message inside a pass, as context parallelism sends, does not split the pass.
TEST(StepPasses, TheSameKernelsAgainComeBeforeMessages) {
  using enum ActionKind;
  RankProfile profile;
  const auto add = [&](int name, int thread, WorkKind kind) {
    const double at_s = 1 + double(profile.work.size());
    profile.work.push_back({.start_s = at_s,
                            .end_s = at_s + 0.5,
                            .launched_s = at_s - 1,
                            .name = name,
                            .call = kind == WorkKind::communication ? 0 : -1,
                            .kind = kind,
                            .thread = static_cast<std::int16_t>(thread)});
  };
  profile.names = {"a", "b", "SendRecv"};
  profile.calls = {{CallKind::send, CollectiveKind::all_reduce, 80, "cp", 2, 1}};
  add(0, 0, WorkKind::product);
  add(2, 0, WorkKind::communication);
  add(1, 0, WorkKind::product);
  add(0, 0, WorkKind::product);
  add(1, 0, WorkKind::product);
  add(1, 1, WorkKind::product);
  finish_profile(profile);
  const CapturedRank rank = captured_steps(profile);
  StepPasses passes = step_passes(profile, rank, rank.steps.front());
  const ActionKind order[] = {forward, forward, backward};
  ASSERT_EQ(split_passes(profile, order, passes), "");
  EXPECT_EQ(passes.passes[0].work.size(), 2u);
  EXPECT_EQ(passes.passes[1].work.size(), 2u);
}

TEST(StepPasses, AnotherOrderIsSaidToBeAnother) {
  using enum ActionKind;
  const MadeTrace first{.rank = 0, .dp = 2, .pp = 2, .microbatches = 3};
  Cut made = cut(first);
  const ActionKind gpipe[] = {forward, forward, forward, backward, backward, backward};
  EXPECT_THAT(
      split_passes(made.profile, gpipe, made.passes),
      HasSubstr(
          "it launches 4 sequences of passes (F B F B), but the scenario's schedule has 2 (F B)"));
  const ActionKind three[] = {forward, forward, forward, backward, forward, backward};
  EXPECT_THAT(split_passes(made.profile, three, made.passes),
              HasSubstr("in the scenario's schedule 3 forwards follow each other, but no messages "
                        "show where they begin, and the"));
}

TEST(StepPasses, WhatLaunchesFromOneThreadHasNoPasses) {
  const Cut made = cut({.with_threads = false});
  EXPECT_TRUE(made.passes.passes.empty());
  EXPECT_THAT(made.passes.none, HasSubstr("one thread launches all kernels"));
}

TEST(StepPasses, ACudaGraphHasNoPasses) {
  RankProfile profile;
  for (int i = 0; i < 9; ++i) {
    profile.work.push_back({.start_s = 1.0 + i,
                            .end_s = 1.5 + i,
                            .launched_s = i < 8 ? 0.5 : 0.6,
                            .kind = WorkKind::product,
                            .thread = 0});
  }
  finish_profile(profile);
  const CapturedRank rank = captured_steps(profile);
  EXPECT_THAT(step_passes(profile, rank, rank.steps.front()).none, HasSubstr("a CUDA graph"));
}

TEST(StepPasses, WithoutLaunchesThreadsAreNotKnown) {
  RankProfile profile;
  profile.work.push_back({.start_s = 1, .end_s = 2, .kind = WorkKind::product});
  finish_profile(profile);
  const CapturedRank rank = captured_steps(profile);
  EXPECT_THAT(step_passes(profile, rank, rank.steps.front()).none,
              HasSubstr("does not say which thread"));
}

}  // namespace
}  // namespace windtunnel
