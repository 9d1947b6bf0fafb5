// Folded and unfolded runs agree, and folding goes as far as it may.
#include "sim/engine/fold.hpp"

#include <gtest/gtest.h>

#include <set>

#include "sim/engine/engine.hpp"
#include "tests/sim/engine/random_plan.hpp"

namespace windtunnel {
namespace {

using testing::exactly;
using testing::RandomCase;
using testing::RandomCaseMaker;
using testing::small_cluster;

Calibration calibration() {
  Calibration result;
  result.nvlink_efficiency = exactly(0.5);
  result.nic_efficiency = exactly(0.8);
  return result;
}

double largest_difference(const Timeline& folded, const Timeline& all) {
  double difference = std::abs(folded.makespan_s - all.makespan_s);
  for (const RankTimeline& rank : all.ranks) {
    const RankTimeline& same = folded.ranks[folded.recorded_as[rank.rank]];
    for (size_t t = 0; t < rank.spans.size(); ++t) {
      difference = std::max({difference, std::abs(rank.spans[t].start_s - same.spans[t].start_s),
                             std::abs(rank.spans[t].end_s - same.spans[t].end_s)});
    }
  }
  return difference / all.makespan_s;
}

class FoldedEqualsUnfolded : public ::testing::TestWithParam<int> {};

TEST_P(FoldedEqualsUnfolded, OnRandomJobs) {
  int folded_cases = 0;
  for (int i = 0; i < 15; ++i) {
    const RandomCase random = RandomCaseMaker(GetParam() * 100 + i).make();
    validate_plan(random.plan);
    EngineOptions options;
    options.calibration = calibration();
    const Timeline folded = execute(random.plan, random.cluster, options);
    options.fold = FoldMode::none;
    options.record_all = true;
    const Timeline all = execute(random.plan, random.cluster, options);
    ASSERT_EQ(all.ranks_simulated, random.plan.ranks);
    EXPECT_LT(largest_difference(folded, all), 1e-6)
        << "seed " << GetParam() * 100 + i << " tp " << random.tp << " dp " << random.dp << " pp "
        << random.pp << " slow " << random.slow << " degraded " << random.degraded;
    double stood_for = 0;
    for (const RankTimeline& rank : folded.ranks) stood_for += rank.multiplicity;
    EXPECT_EQ(stood_for, random.plan.ranks);
    folded_cases += folded.ranks_simulated < random.plan.ranks;
  }
  EXPECT_GT(folded_cases, 5);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FoldedEqualsUnfolded, ::testing::Range(0, 5));

}  // namespace
}  // namespace windtunnel
