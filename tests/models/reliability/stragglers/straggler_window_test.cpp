#include "models/reliability/stragglers/straggler_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

Redundancy random_window(RandomStream& random, int workers) {
  const int burst = 1 + static_cast<int>(random.below(3));
  return {.scheme = RedundancyScheme::m_sgc,
          .burst = burst,
          .window = burst + 1 + static_cast<int>(random.below(4)),
          .distinct = 1 + static_cast<int>(random.below(workers)),
          .tolerance = 0.5};
}

std::vector<double> random_times(RandomStream& random, int workers) {
  std::vector<double> times;
  for (int worker = 0; worker < workers; ++worker) {
    times.push_back(random.uniform() < 0.25 ? 2 + random.uniform() : 1 + 0.1 * random.uniform());
  }
  return times;
}

// The straggler model in the paper's words, by brute force. The last round is at the back.
bool conforms(const std::deque<std::set<int>>& rounds, const Redundancy& own) {
  std::set<int> distinct;
  for (const std::set<int>& round : rounds) distinct.insert(round.begin(), round.end());
  if (std::ssize(distinct) > own.distinct) return false;
  return std::ranges::none_of(distinct, [&](int worker) {
    int first = -1;
    int last = -1;
    for (int i = 0; i < std::ssize(rounds); ++i) {
      if (!rounds[i].contains(worker)) continue;
      if (first < 0) first = i;
      last = i;
    }
    return last - first >= own.burst;
  });
}

std::set<int> later_than(const std::vector<double>& times, double end) {
  std::set<int> late;
  for (int i = 0; i < std::ssize(times); ++i) {
    if (times[i] > end) late.insert(i);
  }
  return late;
}

// The stragglers that it leaves out fit the model, and would not fit if it waited for one worker
// less.
TEST(StragglerWindow, WaitsUntilThePatternFitsAndNoLonger) {
  int waited = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    RandomStream random(24, RandomPurpose::test, number);
    const int workers = 3 + static_cast<int>(random.below(20));
    const Redundancy own = random_window(random, workers);
    StragglerWindow window(workers, own);
    std::deque<std::set<int>> rounds;
    for (int round = 0; round < 60; ++round) {
      const std::vector<double> times = random_times(random, workers);
      const double end = window.close(times, 1.5);
      rounds.push_back(later_than(times, end));
      if (std::ssize(rounds) > own.window) rounds.pop_front();
      ASSERT_TRUE(conforms(rounds, own)) << number << ", round " << round;
      const std::set<int> left(window.stragglers().begin(), window.stragglers().end());
      EXPECT_EQ(left, rounds.back());
      if (end == 1.5) continue;
      ++waited;
      std::deque<std::set<int>> sooner = rounds;
      sooner.back() = later_than(times, end - 1e-9);
      EXPECT_FALSE(conforms(sooner, own)) << number << ", round " << round;
    }
  }
  EXPECT_GT(waited, 100);
}

// The bookkeeping of M-SGC (algorithm 2 of the paper): a job has W - 1 + B slots, one per round. A
// worker first does its W - 1 own parts, repeating those where it straggled, then takes part in the
// codes of the last B slots, each of which needs n - lambda results.
TEST(StragglerWindow, WhateverItLeavesOutTheCodeMakesUpFor) {
  for (std::uint64_t number = 0; number < 200; ++number) {
    RandomStream random(25, RandomPurpose::test, number);
    const int workers = 4 + static_cast<int>(random.below(12));
    const Redundancy own = random_window(random, workers);
    const int slots = own.window - 1 + own.burst;
    constexpr int kRounds = 80;
    StragglerWindow window(workers, own);
    std::vector<std::vector<int>> done(kRounds, std::vector<int>(workers));  // parts [job][worker]
    for (int round = 0; round < kRounds; ++round) {
      window.close(random_times(random, workers), 1.5);
      std::vector<char> late(workers);
      for (const int worker : window.stragglers()) late[worker] = 1;
      for (int slot = 0; slot < slots && slot <= round; ++slot) {
        std::vector<int>& parts = done[round - slot];
        int coded = 0;
        for (int worker = 0; worker < workers; ++worker) {
          if (late[worker] != 0) continue;
          const bool own_part = parts[worker] < own.window - 1;
          own_part ? ++parts[worker] : ++coded;
        }
        if (slot >= own.window - 1) {
          ASSERT_GE(coded, workers - own.distinct) << number << ", round " << round;
        }
        if (slot < slots - 1) continue;
        for (const int each : parts) ASSERT_EQ(each, own.window - 1) << number;
      }
    }
  }
}

}  // namespace
}  // namespace windtunnel
