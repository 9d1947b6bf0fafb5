#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

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
