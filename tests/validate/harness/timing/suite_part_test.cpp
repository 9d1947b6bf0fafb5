#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "models/calibration/kernel_law.hpp"
#include "models/calibration/kernel_law_fit.hpp"
#include "validate/harness/timing/kernel_suite.hpp"

namespace windtunnel {
namespace {

constexpr double kPartMemory_bytes = 1e9;

std::vector<TimedWork> suite() {
  return kernel_suite(device(DeviceKind::cpu), kPartMemory_bytes);
}

struct Sizes {
  std::vector<double> all;
  std::vector<double> least;  // sizes of tier 0
};

TEST(SuitePart, TheLeastHasOfEachLawWhatItNeedsOverItsWholeRange) {
  std::map<std::string, Sizes> laws;
  for (const TimedWork& work : suite()) {
    if (work.role != SampleRole::fit) continue;
    Sizes& sizes = laws[law_key(work.steps[0][0], work.cache)];
    sizes.all.push_back(bytes_moved(work.steps));
    if (work.tier == 0) sizes.least.push_back(sizes.all.back());
  }
  EXPECT_GT(laws.size(), 50U);
  for (const auto& [law, sizes] : laws) {
    EXPECT_EQ(sizes.least.size(), kLeastSizes) << law;
    EXPECT_EQ(std::ranges::min(sizes.least), std::ranges::min(sizes.all)) << law;
    EXPECT_EQ(std::ranges::max(sizes.least), std::ranges::max(sizes.all)) << law;
  }
}

TEST(SuitePart, HalfOfTheRestAndOfWhatJudgesComesBeforeTheOther) {
  std::map<int, int> fits;
  std::map<int, int> judges;
  for (const TimedWork& work : suite()) {
    ++(work.role == SampleRole::fit ? fits : judges)[work.tier];
  }
  EXPECT_EQ(judges[0], 0);
  for (auto& tiers : {fits, judges}) {
    EXPECT_GT(tiers.at(2), 0);
    EXPECT_GE(tiers.at(1), tiers.at(2));
  }
}

// A law of seven sizes takes the two ends and two sizes between them first, and then every second
// one of the others.
TEST(SuitePart, WorksOfATierLieEvenly) {
  std::vector<TimedWork> works;
  for (int i = 7; i > 0; --i) {
    TimedWork work;
    work.steps = parse_kernel_steps("copy bytes=" + std::to_string(64 * i));
    works.push_back(work);
  }
  EXPECT_EQ(tiers_of(works), (std::vector<int>{0, 1, 0, 2, 0, 1, 0}));
  works.resize(3);
  EXPECT_EQ(tiers_of(works), (std::vector<int>{0, 0, 0}));
}

TEST(SuitePart, TierAfterTierWhatTheTimeSufficesFor) {
  const std::vector<PricedWork> works = {{2, 1}, {0, 3}, {1, 2}, {1, 4}, {0, 1}, {2, 1}};
  using Taken = std::vector<bool>;
  EXPECT_EQ(affordable(works, 12), Taken({true, true, true, true, true, true}));
  EXPECT_EQ(affordable(works, 11), Taken({true, true, true, true, true, false}));
  EXPECT_EQ(affordable(works, 10), Taken({false, true, true, true, true, false}));
  // A work that does not fit is skipped in favour of works that do.
  EXPECT_EQ(affordable(works, 7), Taken({true, true, true, false, true, false}));
  EXPECT_EQ(affordable(works, 4), Taken({false, true, false, false, true, false}));
  EXPECT_EQ(affordable(works, 0), affordable(works, 4));
  EXPECT_TRUE(affordable({}, 1).empty());
}

TEST(SuitePart, ColdAndLargeWorksTakeMore) {
  const auto effort = [](const char* steps, CacheState cache = CacheState::warm) {
    TimedWork work;
    work.steps = parse_kernel_steps(steps);
    work.cache = cache;
    return effort_of(work, DeviceKind::cpu);
  };
  const double small = effort("copy bytes=64");
  EXPECT_NEAR(small, 1, 1e-3);
  EXPECT_GT(effort("copy bytes=64", CacheState::cold), 2 * small);
  EXPECT_GT(effort("copy bytes=64000000"), 5 * small);
  EXPECT_GT(effort("gemm type=fp32 m=1024 n=1024 k=1024"), 50 * small);
}

}  // namespace
}  // namespace windtunnel
