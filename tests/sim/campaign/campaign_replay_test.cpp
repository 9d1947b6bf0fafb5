// The fast-forward campaign against the one that steps through every iteration, on random small
// campaigns: every mix of failure classes, tier stack and policy.
#include <gtest/gtest.h>

#include <cmath>

#include "models/base/random.hpp"
#include "policies/snapshot_tiers.hpp"
#include "sim/campaign/campaign.hpp"

namespace windtunnel {
namespace {

SnapshotTier random_tier(RandomStream& random) {
  SnapshotTier tier;
  tier.place = random.below(2) == 0 ? SnapshotPlace::host_memory : SnapshotPlace::storage;
  tier.keeper_process = random.below(2) == 0;
  if (random.below(2) == 0) {
    tier.every_iterations = 1 + static_cast<int>(random.below(12));
  } else {
    tier.every_s = 5 + 200 * random.uniform();
  }
  return tier;
}

IterationTable random_table(RandomStream& random) {
  IterationTable table;
  const double plain_s = 0.5 + 5 * random.uniform();
  const int tiers = static_cast<int>(random.below(4));
  for (int tier = 0; tier < tiers; ++tier) {
    table.tiers.push_back(
        {random_tier(random), 20 * plain_s * std::pow(random.uniform(), 3), 30 * random.uniform()});
  }
  for (int set = 0; set < 1 << tiers; ++set) {
    // Stalls need not add up: contention.
    table.iteration_s.push_back(set == 0 ? plain_s : plain_s * (1 + 2 * random.uniform()));
  }
  for (int missing = 1; missing <= 3; ++missing) {
    table.shrunk_iteration_s.push_back(plain_s * (0.9 + 0.2 * random.uniform()));
    table.shrunk_progress.push_back(1 - missing / 8.0);
  }
  return table;
}

FailureClass random_class(RandomStream& random, FailureKind kind, double length_s, int nodes) {
  FailureClass result;
  result.name = "class";
  result.kind = kind;
  result.rate_per_node_s = (1 + static_cast<double>(random.below(25))) / length_s / nodes;
  switch (random.below(3)) {
    case 0:
      break;
    case 1:
      result.arrivals = Arrivals::weibull;
      result.weibull_shape = 0.5 + random.uniform();
      break;
    default:
      result.arrivals = Arrivals::trace;
      for (double at_s = 0; at_s < length_s; at_s += random.exponential(length_s / 10)) {
        result.trace_s.push_back(at_s);
      }
  }
  result.repair.fixed_s = 0.2 * length_s * random.uniform();
  if (random.below(2) == 0) {
    for (int i = 0; i < 5; ++i) {
      result.repair.empirical_s.push_back(random.exponential(0.1 * length_s));
    }
  }
  result.detect_s = random.below(2) == 0 ? -1 : 30 * random.uniform();
  return result;
}

CampaignInputs random_inputs(std::uint64_t index) {
  RandomStream random(1, RandomPurpose::test, index);
  CampaignInputs inputs;
  inputs.table = random_table(random);
  inputs.nodes = 8;
  inputs.campaign = {500 + 20000 * random.uniform(), 1, index};
  std::vector<SnapshotTier> tiers;
  for (const TierTiming& timing : inputs.table.tiers) tiers.push_back(timing.tier);
  // Every mix of the three kinds in turn, sometimes two classes of one kind; planned stops only
  // with a tier that survives them.
  const int kinds = tier_for_planned_stop(tiers) == kNoTier ? 2 : 3;
  for (int kind = 0; kind < kinds; ++kind) {
    const std::uint64_t copies = (index >> kind & 1) * (1 + random.below(2));
    for (std::uint64_t i = 0; i < copies; ++i) {
      inputs.failures.push_back(random_class(random, static_cast<FailureKind>(kind),
                                             inputs.campaign.length_s, inputs.nodes));
    }
  }
  inputs.recovery = {static_cast<int>(random.below(3)), 20 * random.uniform(),
                     60 * random.uniform(),
                     index % 16 < 8 ? WhenNoSpare::wait : WhenNoSpare::shrink};
  return inputs;
}

TEST(CampaignReplay, FastForwardIsTheSameTimeline) {
  std::int64_t failures = 0;
  std::int64_t snapshots = 0;
  std::int64_t skipped = 0;
  double lost_s[kLosses] = {};
  for (std::uint64_t index = 0; index < 800; ++index) {
    SCOPED_TRACE(index);
    const CampaignInputs inputs = random_inputs(index);
    const ReplicaResult fast = run_replica(inputs, 0, CampaignMode::fast_forward);
    const ReplicaResult replay = run_replica(inputs, 0, CampaignMode::replay);
    EXPECT_EQ(fast.iterations, replay.iterations);
    EXPECT_EQ(fast.snapshots, replay.snapshots);
    EXPECT_EQ(fast.failures, replay.failures);
    EXPECT_EQ(fast.restored_from, replay.restored_from);
    EXPECT_NEAR(fast.useful_s, replay.useful_s, 1e-9 * replay.useful_s);
    double sum_s = fast.useful_s;
    for (int loss = 0; loss < kLosses; ++loss) {
      EXPECT_NEAR(fast.lost_s[loss], replay.lost_s[loss], 1e-9 * std::abs(replay.lost_s[loss]));
      sum_s += fast.lost_s[loss];
      lost_s[loss] += fast.lost_s[loss];
    }
    EXPECT_NEAR(sum_s, fast.wall_s, 1e-9 * fast.wall_s);
    // Both derive time from the same integers, so not a bit differs.
    EXPECT_TRUE(fast == replay);
    for (const std::int64_t count : fast.failures) failures += count;
    for (const std::int64_t count : fast.snapshots) snapshots += count;
    for (const std::int64_t count : fast.skipped_snapshots) skipped += count;
  }
  // The sample has met everything.
  EXPECT_GT(failures, 10000);
  EXPECT_GT(snapshots, 100000);
  EXPECT_GT(skipped, 10000);
  for (const double loss_s : lost_s) EXPECT_GT(loss_s, 10000);
}

}  // namespace
}  // namespace windtunnel
