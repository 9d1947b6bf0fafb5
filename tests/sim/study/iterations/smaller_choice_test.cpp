#include "sim/study/iterations/smaller_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

constexpr SmallerSetting kSetting = {.nodes = 4,
                                     .iteration_s = 1,
                                     .convert_s = 600,
                                     .reshape_s = 10,
                                     .failures_per_s = 1e-4,
                                     .mean_out = 0.5};

SmallerStep own_step(int nodes, int dp, double step_s, double progress) {
  return {step_s, {nodes, 1, 1, dp, step_s, progress}};
}

// Each of three layouts is the fastest for its number of nodes. If copies convert at no cost, the
// job takes each in turn; if conversion is expensive, it changes at once to the layout with the
// fewest nodes, or not at all.
TEST(SmallerChoice, ConversionsDecideHowOftenALayoutChanges) {
  const std::vector<SmallerStep> others = {own_step(3, 6, 1.30, 1), own_step(2, 4, 1.32, 1),
                                           own_step(1, 2, 1.34, 1)};
  SmallerSetting setting = kSetting;
  setting.convert_s = 0;
  setting.reshape_s = 0;
  const auto nodes = [&](const std::vector<SmallerStep>& own) {
    std::vector<int> taken;
    for (const SmallerChoice& each : best_smaller(setting, own, others)) {
      taken.push_back(each.relaid ? each.step.layout.nodes : 0);
    }
    return taken;
  };
  EXPECT_EQ(nodes({}), (std::vector<int>{3, 2, 1}));
  setting.convert_s = 600;
  EXPECT_EQ(nodes({}), (std::vector<int>{1, 1, 1}));
  const std::vector<SmallerStep> own = {own_step(3, 3, 1, 0.75), own_step(2, 2, 1, 0.5)};
  EXPECT_EQ(nodes(own), (std::vector<int>{0, 0, 1}));
}

// The policies are: the best choice, fewer replicas, each layout alone, and waiting.
TEST(SmallerChoice, PoliciesAreWhatOneMayFollow) {
  const std::vector<SmallerStep> own = {own_step(3, 3, 1, 0.75)};
  const std::vector<SmallerStep> others = {own_step(2, 4, 1.32, 1)};
  const auto policies = smaller_policies(kSetting, own, others);
  ASSERT_EQ(policies.size(), 4U);
  EXPECT_EQ(policies[0].size(), 2U);
  EXPECT_EQ(policies[1].size(), 1U);
  EXPECT_EQ(policies[2].size(), 2U);
  EXPECT_TRUE(policies[3].empty());
}

// No possible choice trains more.
TEST(SmallerChoice, IsTheBestOfAll) {
  for (int i = 0; i < 300; ++i) {
    RandomStream random(1, RandomPurpose::test, i);
    SmallerSetting setting = kSetting;
    setting.convert_s = 2000 * random.uniform();
    setting.reshape_s = setting.convert_s * random.uniform();
    setting.failures_per_s = 1e-3 * random.uniform();
    setting.mean_out = 3 * random.uniform();
    std::vector<SmallerStep> own;
    for (int out = 1; out <= static_cast<int>(random.below(4)); ++out) {
      own.push_back(own_step(4 - out, 4 - out, 1 + 0.1 * random.uniform(), 1 - 0.25 * out));
    }
    std::vector<SmallerStep> others;
    for (int nodes = 1; nodes <= 3; ++nodes) {
      if (random.below(3) > 0) others.push_back(own_step(nodes, 2, 1 + 3 * random.uniform(), 1));
    }
    // `most` is the largest number of lost nodes that some layout can do without.
    std::size_t most = own.size();
    for (const SmallerStep& other : others) most = std::max(most, 4UL - other.layout.nodes);
    const std::vector<SmallerChoice> best = best_smaller(setting, own, others);
    ASSERT_EQ(best.size(), most);
    const double trained = trained_while_smaller(setting, best);
    // The loop counts through all other choices.
    const int kinds = static_cast<int>(others.size()) + 1;
    for (int number = 0; number < kinds * kinds * kinds; ++number) {
      std::vector<SmallerChoice> choice;
      int rest = number;
      for (std::size_t out = 1; out <= most; ++out, rest /= kinds) {
        const int kind = rest % kinds;
        if (kind == 0 && out <= own.size()) choice.push_back({own[out - 1], false});
        if (kind > 0 && others[kind - 1].layout.nodes <= 4 - static_cast<int>(out)) {
          choice.push_back({others[kind - 1], true});
        }
      }
      if (choice.size() < most) continue;
      EXPECT_LE(trained_while_smaller(setting, choice), trained + 1e-12) << i << ", " << number;
    }
  }
}

}  // namespace
}  // namespace windtunnel
