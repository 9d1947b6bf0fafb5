#include "models/results/memory_timeline.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

struct Use {
  double start_s, end_s, allocate, free;
};

struct Sample {
  RankClass rank_class;
  RankTimeline rank;
};

Sample sample(const std::vector<Use>& uses) {
  Sample s;
  s.rank_class.name = "pp 0";
  s.rank_class.members = {0};
  s.rank_class.streams = {{"compute", StreamOrder::in_order}};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    Task task;
    task.name = fmt::format("T{}", i);
    task.allocate_bytes = uses[i].allocate;
    task.free_bytes = uses[i].free;
    s.rank_class.tasks.push_back(task);
    s.rank.spans.push_back({uses[i].start_s, uses[i].end_s});
  }
  return s;
}

MemoryTimeline timeline_of(const std::vector<Use>& uses) {
  const Sample s = sample(uses);
  return memory_timeline(s.rank_class, s.rank);
}

TEST(MemoryTimeline, ByHand) {
  // Two forwards, then their backwards; the second forward sets the peak.
  const MemoryTimeline memory =
      timeline_of({{0, 1, 10, 0}, {1, 2, 30, 0}, {2, 4, 0, 30}, {4, 6, 0, 10}});
  EXPECT_EQ(memory.peak_bytes, 40);
  EXPECT_EQ(memory.peak_at_s, 1);
  EXPECT_EQ(memory.peak_task, 1);
  ASSERT_EQ(memory.steps.size(), 4u);
  const double expected[4][2] = {{0, 10}, {1, 40}, {4, 10}, {6, 0}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(memory.steps[i].at_s, expected[i][0]);
    EXPECT_EQ(memory.steps[i].alive_bytes, expected[i][1]);
  }
}

TEST(MemoryTimeline, WhatEndsFreesBeforeWhatStartsAllocates) {
  const MemoryTimeline memory = timeline_of({{0, 1, 10, 0}, {1, 2, 0, 10}, {2, 3, 10, 0}});
  EXPECT_EQ(memory.peak_bytes, 10);
  EXPECT_EQ(memory.peak_task, 0);
  // At 2 s one allocation is freed and another made, which is a single step.
  ASSERT_EQ(memory.steps.size(), 2u);
  EXPECT_EQ(memory.steps[1].alive_bytes, 10);
}

TEST(MemoryTimeline, ThePeakIsTheFirstOfEqualOnes) {
  std::vector<Use> uses;
  for (int i = 0; i < 1000; ++i) {
    uses.push_back({3.0 * i, 3.0 * i + 1, 0.1, 0});
    uses.push_back({3.0 * i + 1, 3.0 * i + 2, 0, 0.1});
  }
  EXPECT_EQ(timeline_of(uses).peak_task, 0);
}

TEST(MemoryTimeline, APeakBeforeTheBeginDoesNotCount) {
  const Sample s =
      sample({{0, 1, 30, 0}, {1, 2, 0, 30}, {2, 3, 10, 0}, {3, 4, 10, 0}, {4, 5, 0, 20}});
  const MemoryTimeline memory = memory_timeline(s.rank_class, s.rank, 1.5);
  EXPECT_EQ(memory.peak_bytes, 20);
  EXPECT_EQ(memory.peak_task, 3);
  EXPECT_EQ(memory.steps.front().alive_bytes, 30);
}

TEST(MemoryTimeline, NothingAllocatedIsNoPeak) {
  const MemoryTimeline memory = timeline_of({{0, 1, 0, 0}});
  EXPECT_EQ(memory.peak_task, -1);
  EXPECT_TRUE(memory.steps.empty());
}

// By definition, the bytes alive at t are allocations that have started by t, less frees that have
// ended by t.
TEST(MemoryTimeline, StepsAreTheSumsOfTheirDefinition) {
  RandomStream random(11, RandomPurpose::test, 0);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<Use> uses;
    double now_s = 0;
    for (int i = 0; i < 40; ++i) {
      now_s += std::floor(random.uniform() * 3);
      const double end_s = now_s + 1 + std::floor(random.uniform() * 3);
      uses.push_back(
          {now_s, end_s, std::floor(random.uniform() * 8), std::floor(random.uniform() * 4)});
    }
    const MemoryTimeline memory = timeline_of(uses);
    double peak = 0;
    for (std::size_t i = 0; i < memory.steps.size(); ++i) {
      double alive = 0;
      for (const Use& use : uses) {
        if (use.start_s <= memory.steps[i].at_s) alive += use.allocate;
        if (use.end_s <= memory.steps[i].at_s) alive -= use.free;
      }
      EXPECT_EQ(memory.steps[i].alive_bytes, alive);
      if (i > 0) {
        EXPECT_GT(memory.steps[i].at_s, memory.steps[i - 1].at_s);
      }
      peak = std::max(peak, alive);
    }
    EXPECT_EQ(memory.peak_bytes, peak);
    if (peak > 0) {
      const Use& setter = uses[memory.peak_task];
      EXPECT_GT(setter.allocate, 0);
      EXPECT_EQ(setter.start_s, memory.peak_at_s);
    }
  }
}

TEST(ActivationPeaks, OnePerClassThatAllocates) {
  Plan plan;
  plan.ranks = 3;
  Sample s = sample({{0, 1, 5, 0}, {1, 2, 0, 5}});
  plan.classes.push_back(s.rank_class);
  plan.classes.back().members = {0, 1};
  Timeline timeline;
  timeline.ranks.push_back(s.rank);
  timeline.ranks.push_back(s.rank);
  timeline.ranks.back().rank = 1;
  const Sample idle = sample({{0, 1, 0, 0}});
  plan.classes.push_back(idle.rank_class);
  plan.classes.back().members = {2};
  timeline.ranks.push_back(idle.rank);
  timeline.ranks.back().rank = 2;
  timeline.ranks.back().rank_class = 1;
  EXPECT_EQ(rank_of_each_class(plan, timeline), (std::vector<int>{0, 2}));
  const std::vector<ActivationPeak> peaks = activation_peaks(plan, timeline);
  ASSERT_EQ(peaks.size(), 1u);
  EXPECT_EQ(peaks[0].rank, "pp 0");
  EXPECT_EQ(peaks[0].task, "T0");
  EXPECT_EQ(peaks[0].at_s, 0);
  EXPECT_EQ(peaks[0].bytes, 5);
}

}  // namespace
}  // namespace windtunnel
