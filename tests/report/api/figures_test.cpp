#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <type_traits>
#include <utility>

#include "tests/report/api/small_case.hpp"

namespace windtunnel {
namespace {

const Figures& small_figures() {
  static const Figures figures = simulate(small_case()).figures();
  return figures;
}

TEST(PublicFigures, HaveUnitsAndIntervals) {
  const Figure& time = small_figures().at("iteration.time_s");
  EXPECT_EQ(time.unit, "s");
  EXPECT_FALSE(time.interval);
  const Figure& goodput = small_figures().at("campaign.goodput");
  ASSERT_TRUE(goodput.interval);
  EXPECT_LT(goodput.interval->low, goodput.value);
  EXPECT_GT(goodput.interval->high, goodput.value);
}

TEST(PublicFigures, SayWhatTheyComeFrom) {
  for (const auto& [key, origin] : {std::pair{"iteration.time_s", "simulated"},
                                    {"campaign.copy.survival_7d", "closed form"},
                                    {"campaign.tiers.0.host_bytes", "closed form"},
                                    {"campaign.snapshots.host_bytes", "closed form"},
                                    {"campaign.interval.configured_s", "scenario"},
                                    {"campaign.interval.young_s", "closed form"},
                                    {"campaign.interval.rsc_ettr", "closed form"},
                                    {"campaign.interval.best_s", "simulated"}}) {
    EXPECT_EQ(small_figures().at(key).origin, origin) << key;
  }
}

// `for (const Figure& figure : simulate(...).figures())` must not read a Result that has been
// destroyed.
static_assert(std::is_same_v<decltype(std::declval<Result>().figures()), Figures>);

TEST(PublicFigures, AreEachThereOnce) {
  std::set<std::string> keys;
  for (const Figure& figure : small_figures()) EXPECT_TRUE(keys.insert(figure.key).second);
  EXPECT_GT(keys.size(), 50u);
}

TEST(PublicFigures, NameTheNearestKey) {
  EXPECT_EQ(small_figures().find("iteration.time"), nullptr);
  EXPECT_THAT(error_of([] { small_figures().at("iteration.time"); }).what(),
              ::testing::HasSubstr("did you mean 'iteration.time_s'?"));
}

}  // namespace
}  // namespace windtunnel
