#include "models/reliability/stragglers/selective_repeat.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/random.hpp"
#include "models/reliability/stragglers/straggler_window.hpp"

namespace windtunnel {
namespace {

Redundancy random_repeat(RandomStream& random, int workers) {
  const int burst = 1 + static_cast<int>(random.below(3));
  return {.scheme = RedundancyScheme::sr_sgc,
          .burst = burst,
          .window = 1 + burst * (1 + static_cast<int>(random.below(3))),
          .distinct = 1 + static_cast<int>(random.below(workers - 1)),
          .tolerance = 0.5};
}

// At the latest after the round that repeats it, a job has n - s results. The master never waits
// beyond the arrival of the last worker that it needs.
TEST(SelectiveRepeat, EveryGradientIsCompleteInTime) {
  int waited = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    RandomStream random(26, RandomPurpose::test, number);
    const int workers = 4 + static_cast<int>(random.below(20));
    const Redundancy own = random_repeat(random, workers);
    const int enough = workers - coded_stragglers(own);
    SelectiveRepeat master(workers, own);
    std::vector<std::vector<int>> lacking(200);  // [job]: missing workers, as in the authors' code
    for (int round = 0; round < 200; ++round) {
      std::vector<double> times;
      for (int i = 0; i < workers; ++i) times.push_back(random.uniform() < 0.2 ? 2 + i * 0.01 : 1);
      const double end = master.close(times, 1.5);
      waited += end > 1.5;
      std::vector<int> repeats;
      if (round >= own.burst) {
        std::vector<int>& due = lacking[round - own.burst];
        const auto more = std::max<std::ptrdiff_t>(0, std::ssize(due) - (workers - enough));
        repeats.assign(due.begin(), due.begin() + more);
        for (const int worker : repeats) ASSERT_LE(times[worker], end) << number;
      }
      for (int i = 0; i < workers; ++i) {
        if (times[i] > end || std::ranges::count(repeats, i) > 0) lacking[round].push_back(i);
      }
      EXPECT_TRUE(end == 1.5 ||
                  std::ranges::any_of(repeats, [&](int i) { return times[i] == end; }));
    }
  }
  EXPECT_GT(waited, 100);
}

// By the paper's theorem the master never waits for stragglers that follow the bursty model.
TEST(SelectiveRepeat, PatternsOfTheModelAreNotWaitedFor) {
  int stragglers = 0;
  for (std::uint64_t number = 0; number < 300; ++number) {
    RandomStream random(27, RandomPurpose::test, number);
    const int workers = 4 + static_cast<int>(random.below(20));
    const Redundancy own = random_repeat(random, workers);
    SelectiveRepeat master(workers, own);
    StragglerWindow model(workers, own);
    for (int round = 0; round < 100; ++round) {
      std::vector<double> times(workers, 1);
      for (double& time : times) time = random.uniform() < 0.2 ? 2 + random.uniform() : 1;
      const double end = model.close(times, 1.5);
      for (double& time : times) time = time > end ? 2 : 1;
      stragglers += static_cast<int>(std::ranges::count(times, 2));
      ASSERT_EQ(master.close(times, 1.5), 1.5) << number << ", round " << round;
    }
  }
  EXPECT_GT(stragglers, 10'000);
}

}  // namespace
}  // namespace windtunnel
