// The fast-forward campaign must equal the one that steps through every iteration, on random small
// campaigns.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "models/base/random.hpp"
#include "models/reliability/saving_rule.hpp"
#include "tests/sim/campaign/random_campaign.hpp"

namespace windtunnel {
namespace {

struct Met {
  std::int64_t failures = 0;
  std::int64_t snapshots = 0;
  std::int64_t skipped = 0;
  std::int64_t failed_restarts = 0;
  std::int64_t evicted = 0;
  double lost_s[kLosses] = {};
};

void expect_same_timeline(const CampaignInputs& inputs, Met& met) {
  const TrialResult fast = run_trial(inputs, 0, CampaignMode::fast_forward);
  const TrialResult replay = run_trial(inputs, 0, CampaignMode::replay);
  EXPECT_EQ(fast.iterations, replay.iterations);
  EXPECT_EQ(fast.snapshots, replay.snapshots);
  EXPECT_EQ(fast.failures, replay.failures);
  EXPECT_EQ(fast.restored_from, replay.restored_from);
  EXPECT_NEAR(fast.useful_s, replay.useful_s, 1e-9 * replay.useful_s);
  double sum_s = fast.useful_s;
  for (int loss = 0; loss < kLosses; ++loss) {
    EXPECT_NEAR(fast.lost_s[loss], replay.lost_s[loss], 1e-9 * std::abs(replay.lost_s[loss]));
    sum_s += fast.lost_s[loss];
    met.lost_s[loss] += fast.lost_s[loss];
  }
  EXPECT_NEAR(sum_s, fast.wall_s, 1e-9 * fast.wall_s);
  // Both derive time from the same integers, so results are equal to the last bit.
  EXPECT_TRUE(fast == replay);
  for (const std::int64_t count : fast.failures) met.failures += count;
  for (const std::int64_t count : fast.snapshots) met.snapshots += count;
  for (const std::int64_t count : fast.skipped_snapshots) met.skipped += count;
  met.failed_restarts += fast.count(CampaignCount::failed_restarts);
  met.evicted += fast.count(CampaignCount::evicted_nodes);
}

void expect_much(const Met& met) {
  EXPECT_GT(met.failures, 10000);
  EXPECT_GT(met.snapshots, 100000);
  EXPECT_GT(met.skipped, 10000);
  for (int loss = 0; loss < kLosses; ++loss) {
    if (loss == static_cast<int>(Loss::sync)) continue;  // only islands have this loss
    EXPECT_GT(met.lost_s[loss], 10000);
  }
}

TEST(CampaignReplay, FastForwardIsTheSameTimeline) {
  Met met;
  for (std::uint64_t index = 0; index < 800; ++index) {
    SCOPED_TRACE(index);
    expect_same_timeline(random_plain_campaign(index), met);
  }
  expect_much(met);
}

TEST(CampaignReplay, FastForwardIsTheSameTimelineOfEveryProtection) {
  Met met;
  for (std::uint64_t index = 0; index < 2500; ++index) {
    SCOPED_TRACE(index);
    expect_same_timeline(random_campaign(index), met);
  }
  expect_much(met);
  EXPECT_GT(met.failed_restarts, 1000);
  EXPECT_GT(met.evicted, 500);
}

// A saving rule decides the interval of timed tiers anew after each snapshot.
TEST(CampaignReplay, FastForwardIsTheSameTimelineUnderSavingRules) {
  Met met;
  std::int64_t asked = 0;
  for (std::uint64_t index = 0; index < 800; ++index) {
    SCOPED_TRACE(index);
    CampaignInputs inputs = random_campaign(index);
    for (std::size_t i = 0; i < inputs.table.tiers.size(); ++i) {
      SnapshotTier& tier = inputs.table.tiers[i].tier;
      if (tier.every_s <= 0 || (index + i) % 3 == 0) continue;  // other tiers keep their interval
      const auto every_s = [usual_s = tier.every_s](const SavingMoment& moment) {
        const auto turn = static_cast<double>((moment.iteration + moment.failures) % 7);
        return usual_s * (0.4 + 0.3 * turn);
      };
      tier.every_s = 0;
      tier.own = std::make_shared<const SavingRule>(SavingRule{"turns", every_s});
    }
    expect_same_timeline(inputs, met);
    const TrialResult fast = run_trial(inputs, 0, CampaignMode::fast_forward);
    for (const RuledIntervals& ruled : fast.ruled) asked += ruled.asked;
  }
  EXPECT_GT(met.failures, 1000);
  EXPECT_GT(met.snapshots, 10000);
  EXPECT_GT(asked, 10000);
}

// Every lost node comes with a notice, whether it is drawn from a failure class or read from a
// trace of capacity.
TEST(CampaignReplay, FastForwardIsTheSameTimelineUnderNotices) {
  Met met;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    SCOPED_TRACE(index);
    RandomStream random(4, RandomPurpose::test, index);
    CampaignInputs inputs = random_campaign(20000 + index);
    for (FailureClass& one : inputs.failures) {
      if (one.kind == FailureKind::node && one.taken.empty()) one.notice_s = 60 * random.uniform();
    }
    expect_same_timeline(inputs, met);
  }
  expect_much(met);
}

// There are two to four timed tiers, with periods and campaigns long enough for leaps. Some
// campaigns also have a tier by iterations or a pause, either every few iterations or so rarely
// that leaps fit between two of them.
TEST(CampaignReplay, LeapsBetweenSeveralTimedTiers) {
  Met met;
  for (std::uint64_t index = 0; index < 120; ++index) {
    SCOPED_TRACE(index);
    RandomStream random(3, RandomPurpose::test, index);
    CampaignInputs inputs = random_plain_campaign(index);
    inputs.failures.clear();
    inputs.table = {};
    const int tiers = 2 + static_cast<int>(random.below(3));
    double every_s = 10 + 30 * random.uniform();
    for (int tier = 0; tier < tiers; ++tier) {
      TierTiming timing;
      timing.tier.kept = 3;
      // The last tier sometimes saves by iterations.
      if (tier == tiers - 1 && random.below(2) == 0) {
        timing.tier.every_iterations = index % 3 == 0 ? 7 : 200 + std::int64_t(random.below(2000));
      } else {
        timing.tier.every_s = every_s;
      }
      timing.complete_s = 5 * random.uniform();
      timing.restore_s = 4;
      inputs.table.tiers.push_back(timing);
      every_s *= 1 + 8 * random.uniform();
    }
    for (int set = 0; set < 1 << tiers; ++set) {
      inputs.table.iteration_s.push_back(1 + (set == 0 ? 0 : 0.3 * random.uniform()));
    }
    FailureClass crash{.name = "crash", .kind = FailureKind::process};
    crash.rate_per_node_s = 1.0 / 10000 / inputs.nodes;
    inputs.failures = {crash};
    if (index % 2 == 0) {
      FailureClass spike{.name = "spike", .kind = FailureKind::loss_spike, .rollback_s = 100};
      spike.rate_per_node_s = crash.rate_per_node_s;
      inputs.failures.push_back(spike);
    }
    if (index % 4 == 0) {
      inputs.table.pauses.evaluation = {.every_iterations = 150 + std::int64_t(random.below(900)),
                                        .takes_s = 3};
    }
    inputs.recovery = {.detect_s = 5, .restart_s = 20};
    inputs.campaign.length_s = 2e5;
    expect_same_timeline(inputs, met);
  }
  EXPECT_GT(met.failures, 1000);
  EXPECT_GT(met.snapshots, 100000);
}

}  // namespace
}  // namespace windtunnel
