#include "models/results/familiarity.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace windtunnel {
namespace {

const std::vector<MeasuredRuns> kMeasured = {
    {.family = "one", .traits = {.gpu = "x", .gpus = 64, .sequence = 4096}, .rows = 3},
    {.family = "one", .traits = {.gpu = "x", .experts = true, .gpus = 8, .sequence = 4096}, .rows = 2},
    {.family = "two", .traits = {.gpu = "x", .gpus = 256, .sequence = 2048}, .rows = 5},
    {.family = "three", .traits = {.gpu = "y", .bits = 8, .gpus = 512, .sequence = 8192}, .rows = 7}};

TEST(Familiarity, CountsRunsThatAreAlikeAndNoSmaller) {
  const Familiarity found =
      familiarity({.gpu = "x", .gpus = 64, .sequence = 2048}, kMeasured);
  EXPECT_EQ(found.rows, 8);
  EXPECT_EQ(found.families, 2);
  EXPECT_TRUE(found.unfamiliar.empty());
  EXPECT_EQ(found.deviation, 0);
}

TEST(Familiarity, ATraitThatOnlyAnotherGpuHasIsUnfamiliar) {
  const Familiarity found = familiarity({.gpu = "x", .bits = 8, .gpus = 64}, kMeasured);
  ASSERT_EQ(found.unfamiliar.size(), 1);
  EXPECT_EQ(found.unfamiliar[0], "products of 8 bits were not measured on x");
  EXPECT_GT(found.deviation, 0);
}

TEST(Familiarity, AnUnknownGpuIsHeldAgainstAllRuns) {
  const Familiarity found = familiarity({.gpu = "z", .bits = 8, .gpus = 64}, kMeasured);
  ASSERT_EQ(found.unfamiliar.size(), 1);
  EXPECT_EQ(found.unfamiliar[0], "no runs on z were measured");
  EXPECT_EQ(found.rows, 0);
}

TEST(Familiarity, DeviationsOfDoublingsAndTraitsAddUpAsVariancesDo) {
  const auto deviation = [](const RunTraits& traits) {
    return familiarity(traits, kMeasured).deviation;
  };
  const double twice = deviation({.gpu = "x", .gpus = 512});
  EXPECT_GT(twice, 0);
  EXPECT_DOUBLE_EQ(deviation({.gpu = "x", .gpus = 1024}), 2 * twice);
  const double trait = deviation({.gpu = "x", .bits = 8});
  EXPECT_DOUBLE_EQ(deviation({.gpu = "x", .bits = 8, .gpus = 512}), std::hypot(twice, trait));
  EXPECT_EQ(familiarity({.gpu = "x", .gpus = 1024}, kMeasured).unfamiliar[0],
            "1024 GPUs are 4 times the most that were measured on x");
}

TEST(Familiarity, AFamilyLeftOutTellsNothing) {
  const RunTraits experts = {.gpu = "x", .experts = true};
  EXPECT_EQ(familiarity(experts, kMeasured).deviation, 0);
  EXPECT_GT(familiarity(experts, kMeasured, "one").deviation, 0);
}

}  // namespace
}  // namespace windtunnel
