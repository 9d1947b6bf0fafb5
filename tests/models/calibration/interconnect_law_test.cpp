#include "models/calibration/interconnect_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include "models/base/random.hpp"

namespace windtunnel {
namespace {

InterconnectLaw shared_machine(double share, double log) {
  InterconnectLaw law;
  law.slow_share.value = share;
  law.slow_log.value = log;
  return law;
}

TEST(InterconnectLaw, TheListNamesEveryFieldOnce) {
  std::set<std::string_view> names;
  for (const InterconnectLawField& field : interconnect_law_fields()) names.insert(field.name);
  EXPECT_EQ(names.size(), interconnect_law_fields().size());
  const InterconnectLaw before;
  InterconnectLaw law;
  for (const InterconnectLawField& field : interconnect_law_fields()) ++(law.*field.member).value;
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    EXPECT_EQ((law.*field.member).value, (before.*field.member).value + 1) << field.name;
  }
  EXPECT_EQ(names.size(), sizeof(InterconnectLaw) / sizeof(Parameter));
}

// Draws of the slowest of N nodes must have the law's quantiles.
TEST(InterconnectLaw, SlowdownIsTheQuantileOfTheSlowestNode) {
  constexpr int kJobs = 4000;
  int slow = 0;
  for (const double share : {0.01, 0.1, 1.0}) {
    for (const int nodes : {2, 16, 128}) {
      const InterconnectLaw law = shared_machine(share, 0.3);
      RandomStream random(1, RandomPurpose::test, nodes);
      std::vector<double> largest(kJobs, 0);
      for (double& of_job : largest) {
        for (int node = 0; node < nodes; ++node) {
          if (random.uniform() >= share) continue;
          of_job = std::max(of_job, -0.3 * std::log(1 - random.uniform()));
        }
      }
      std::ranges::sort(largest);
      EXPECT_NEAR(std::log(slowdown(law, nodes)), largest[kJobs / 2], 0.03)
          << share << " " << nodes;
      EXPECT_NEAR(slowdown_log(law, nodes, 0.9), largest[kJobs * 9 / 10], 0.06);
      EXPECT_NEAR(slowdown_log(law, nodes, 0.1), largest[kJobs / 10], 0.03);
      slow += slowdown(law, nodes) > 1;
    }
  }
  EXPECT_EQ(slow, 6);  // with few nodes, few of them slow, the median job meets none
}

TEST(InterconnectLaw, OneNodeOrNoSlowOnesMeanNoSlowdown) {
  EXPECT_EQ(slowdown(shared_machine(1, 0.3), 1), 1);
  EXPECT_EQ(slowdown(shared_machine(0, 0.3), 100000), 1);
  double last = 1;
  for (int nodes = 1; nodes < 100000; nodes *= 3) {
    const double now = slowdown(shared_machine(0.02, 0.3), nodes);
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, 2);
}

}  // namespace
}  // namespace windtunnel
