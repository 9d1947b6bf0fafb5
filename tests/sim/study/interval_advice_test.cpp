#include "sim/study/interval_advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/reliability/interval_theory.hpp"
#include "models/results/paired_gain.hpp"
#include "tests/support/two_level_theory.hpp"

namespace windtunnel {
namespace {

constexpr double kDay = 86400;
constexpr double kLength = 54 * kDay;

// The job has Llama 3's size and rate (419 unexpected failures in 54 days, Llama 3 Herd of Models,
// section 3.3.4), with process failures only; storage alone keeps copies and stalls an iteration of
// 5 s by 30 s.
CampaignInputs storage_only() {
  CampaignInputs inputs;
  inputs.nodes = 2048;
  inputs.campaign = {kLength, 32, 1};
  FailureClass crash{.name = "crash", .kind = FailureKind::process};
  crash.rate_per_node_s = 419 / kLength / inputs.nodes;
  inputs.failures = {crash};
  inputs.recovery = {.detect_s = 60, .restart_s = 180};
  inputs.table.tiers = {{{.every_iterations = 360}, 30, 60}};
  inputs.table.iteration_s = {5, 35};
  return inputs;
}

std::optional<IntervalReport> advice_on(const CampaignInputs& inputs, int threads = 0) {
  return interval_advice(inputs, run_campaign(inputs, threads), threads);
}

// Half of the 95 % interval is 1.96 standard errors.
double four_errors(const Estimate& estimate) {
  return 4 * (estimate.high - estimate.low) / (2 * 1.96);
}

const IntervalReport::Point& point_at(const IntervalReport& advice, double work_s) {
  const auto nearest = std::ranges::min_element(
      advice.points, {}, [&](const auto& point) { return std::abs(point.every_s - work_s); });
  return *nearest;
}

TEST(IntervalAdvice, FormulasOfOneTier) {
  const std::optional<IntervalReport> advice = advice_on(storage_only());
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->tier, "storage");
  // Some failures strike before the first save: they are restored from nothing.
  EXPECT_NEAR(advice->mtbf_s / (kLength / 419), 1, 2e-3);
  EXPECT_EQ(advice->cost_s, 30);
  EXPECT_EQ(advice->restart_s, 60 + 180 + 60);
  EXPECT_EQ(advice->configured_s, 1800);
  EXPECT_EQ(advice->young_s, young_interval_s(30, advice->mtbf_s));
  EXPECT_EQ(advice->daly_s, daly_interval_s(30, advice->mtbf_s));
  EXPECT_EQ(advice->exact_s, exact_interval_s(30, advice->mtbf_s));
  EXPECT_EQ(advice->formula_goodput, expected_goodput(1800, 30, advice->mtbf_s, 300));
  EXPECT_EQ(advice->rsc_ettr, rsc_ettr(2048, 1 / advice->mtbf_s / 2048, 300, 1800, 30));
}

TEST(IntervalAdvice, ExponentialFailuresGiveWhatTheFormulaSays) {
  const std::optional<IntervalReport> advice = advice_on(storage_only());
  ASSERT_TRUE(advice);
  ASSERT_GE(advice->points.size(), 9U);
  for (const IntervalReport::Point& point : advice->points) {
    EXPECT_NEAR(point.goodput.mean, point.expected, four_errors(point.goodput)) << point.every_s;
    // The reported goodput comes from other failures than those that the best was chosen with; the
    // regrets below hold exactly for the latter.
    EXPECT_LE(point.goodput.mean, advice->best_goodput + kLeastGain);
  }
  EXPECT_TRUE(std::ranges::is_sorted(advice->points, {}, &IntervalReport::Point::every_s));
  // The best interval is within a step of the grid; near the optimum the curve is flat.
  EXPECT_NEAR(std::log(advice->best_s / advice->exact_s), 0, std::log(1.5));
  EXPECT_GE(advice->exact_regret, 0);
  EXPECT_LT(advice->exact_regret, 1e-3);
  EXPECT_GE(advice->young_regret, 0);
  EXPECT_LT(advice->young_regret, 1e-3);
  EXPECT_EQ(point_at(*advice, 1800).every_s, 1800);
}

// A notice of 32.5 s suffices with chance one half for the rest of an iteration of 5 s and 30 s to
// save. Half of these failures then lose nothing, and no periodic snapshot is taken for them.
TEST(IntervalAdvice, FailuresWithANoticeLongEnoughDoNotCount) {
  CampaignInputs inputs = storage_only();
  inputs.recovery.spares = 64;
  inputs.failures[0].kind = FailureKind::node;
  inputs.failures[0].repair.fixed_s = 3600;
  for (const auto& [notice_s, share] : {std::pair(29.0, 1.0), std::pair(32.5, 0.5)}) {
    inputs.failures[0].notice_s = notice_s;
    const std::optional<IntervalReport> advice = advice_on(inputs);
    ASSERT_TRUE(advice);
    EXPECT_NEAR(advice->mtbf_s * share / (kLength / 419), 1, 5e-3) << notice_s;
    EXPECT_EQ(advice->restart_s, 180 + 60);
  }
  inputs.failures[0].notice_s = 36;
  EXPECT_FALSE(advice_on(inputs));
}

TEST(IntervalAdvice, TheSameForAnyNumberOfThreads) {
  const std::optional<IntervalReport> one = advice_on(storage_only(), 1);
  const std::optional<IntervalReport> three = advice_on(storage_only(), 3);
  ASSERT_TRUE(one && three);
  EXPECT_EQ(one->best_goodput, three->best_goodput);
  ASSERT_EQ(one->points.size(), three->points.size());
  for (std::size_t i = 0; i < one->points.size(); ++i) {
    EXPECT_EQ(one->points[i].goodput, three->points[i].goodput);
  }
}

TEST(IntervalAdvice, NoShorterThanTheCopyTakes) {
  // An asynchronous copy stalls for 0.1 s and is complete after 300 s, that is 60 iterations.
  CampaignInputs inputs = storage_only();
  inputs.table.iteration_s = {5, 5.1};
  inputs.table.tiers[0].complete_s = 300;
  const std::optional<IntervalReport> advice = advice_on(inputs);
  ASSERT_TRUE(advice);
  EXPECT_LT(young_interval_s(0.1, advice->mtbf_s), 60);
  for (const double interval_s : {advice->young_s, advice->daly_s, advice->exact_s}) {
    EXPECT_EQ(interval_s, 300);
  }
  EXPECT_EQ(advice->points.front().every_s, 300);
  EXPECT_EQ(advice->best_s, 300);
  EXPECT_EQ(advice->exact_regret, 0);
  // The time from stall to completion counts as restart, so the formula is exact here, too.
  for (const IntervalReport::Point& point : advice->points) {
    EXPECT_NEAR(point.goodput.mean, point.expected, four_errors(point.goodput)) << point.every_s;
  }
  // If the stall is hidden entirely, the best interval is as short as copies complete.
  inputs.table.iteration_s = {5, 5};
  const std::optional<IntervalReport> hidden = advice_on(inputs);
  ASSERT_TRUE(hidden);
  EXPECT_EQ(hidden->exact_s, 300);
  EXPECT_EQ(hidden->best_s, 300);
}

TEST(IntervalAdvice, ConfiguredInterval) {
  CampaignInputs inputs = storage_only();
  const CampaignReport report = run_campaign(inputs);
  SnapshotTier& tier = inputs.table.tiers[0].tier;
  const auto configured_s = [&] { return interval_advice(inputs, report)->configured_s; };
  inputs.table.tiers[0].complete_s = 60;  // 30 after the stall, 6 iterations: skips one
  tier.every_iterations = 4;
  EXPECT_EQ(configured_s(), 20) << "training waits";
  tier.when_busy = WhenBusy::skip;
  EXPECT_EQ(configured_s(), 40);
  tier.every_iterations = 0;
  tier.every_s = 1000;  // 194 iterations with the stall
  EXPECT_EQ(configured_s(), 970);
  tier.every_s = 50;  // 14 iterations, skipping one
  EXPECT_EQ(configured_s(), 70);
  tier.every_s = 0;
  tier.every_overhead = 0.035;  // 30 s of 857.1 s, which is 172 iterations
  EXPECT_EQ(configured_s(), 860);
}

TEST(IntervalAdvice, NothingToSay) {
  CampaignInputs inputs = storage_only();
  inputs.failures.clear();
  EXPECT_FALSE(advice_on(inputs));
  inputs = storage_only();
  inputs.table.tiers.clear();
  inputs.table.iteration_s = {5};
  EXPECT_FALSE(advice_on(inputs));
  inputs = storage_only();
  const CampaignReport report = run_campaign(inputs);
  EXPECT_TRUE(interval_advice(inputs, report));
  inputs.recovery.elastic.groups = 8;
  EXPECT_FALSE(interval_advice(inputs, report));
}

// A keeper process holds copies in host memory for process failures; storage serves the quarter of
// failures that lose nodes.
CampaignInputs two_tiers() {
  CampaignInputs inputs = storage_only();
  FailureClass node{.name = "node"};
  node.rate_per_node_s = inputs.failures[0].rate_per_node_s / 4;
  node.repair.fixed_s = 1;
  inputs.failures[0].rate_per_node_s *= 0.75;
  inputs.failures.push_back(node);
  inputs.recovery.spares = 100;
  const SnapshotTier host{.place = SnapshotPlace::host_memory,
                          .mode = SnapshotMode::async,
                          .every_iterations = 20,
                          .keeper_process = true};
  inputs.table.tiers = {{host, 8, 5}, {{.every_iterations = 720}, 30, 60}};
  inputs.table.iteration_s = {5, 5.1, 35, 35.1};
  return inputs;
}

TEST(IntervalAdvice, TheTierThatCostsMostWithItsOwnFailures) {
  // Storage costs 30 s per hour and half an hour for each failure, one in 12 h; host memory costs
  // 0.1 s per 100 s and 50 s for each failure, one in 4 h.
  const std::optional<IntervalReport> storage = advice_on(two_tiers());
  ASSERT_TRUE(storage);
  EXPECT_EQ(storage->tier, "storage");
  EXPECT_NEAR(storage->mtbf_s / (4 * kLength / 419), 1, 0.06);  // 3350 failures: 3 standard errors
  EXPECT_LT(storage->exact_regret, 2e-3);

  // Crashes lose 10 min, compared with a stall of 30 s per hour, if nodes are hardly ever lost.
  CampaignInputs inputs = two_tiers();
  inputs.table.tiers[0].tier.every_iterations = 240;
  inputs.failures[1].rate_per_node_s /= 50;
  const std::optional<IntervalReport> host = advice_on(inputs);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->tier, "host-memory");
  EXPECT_NEAR(host->mtbf_s / (kLength / 419 / 0.75), 1, 0.1);
  EXPECT_LT(host->exact_regret, 2e-3);
}

// The scenario may assume no failure that a tier protects against. Then no failure determines its
// interval: all intervals whose copies cost no time are equally good, and no formula applies.
TEST(IntervalAdvice, OfTheOtherTiers) {
  CampaignInputs inputs = two_tiers();
  inputs.failures[1].rate_per_node_s = 0;
  inputs.table.iteration_s = {5, 5.1, 5, 5.1};
  const CampaignReport report = run_campaign(inputs);
  const std::optional<IntervalReport> host = interval_advice(inputs, report);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->tier, "host-memory");
  EXPECT_LE(host->shortest_s, host->best_s);
  EXPECT_LT(host->longest_s, kLength / 100) << "longer ones lose what was done since";
  const std::vector<IntervalReport> others = other_interval_advice(inputs, report);
  ASSERT_EQ(others.size(), 1U);
  const IntervalReport& storage = others[0];
  EXPECT_EQ(storage.tier, "storage");
  EXPECT_EQ(storage.mtbf_s, 0);
  EXPECT_EQ(storage.young_s, 0);
  EXPECT_EQ(storage.configured_s, 3600);
  // Saving as often as copies complete is not best: a newer copy in storage would be loaded instead
  // of the one in the host, and takes longer.
  EXPECT_GT(storage.shortest_s, 60);
  EXPECT_LT(storage.shortest_s, 600);
  EXPECT_EQ(storage.longest_s, kLength);
}

// Intervals near the best that lose less than 0.05 points count as equally good.
TEST(IntervalAdvice, AsGoodAsTheBest) {
  const std::optional<IntervalReport> advice = advice_on(storage_only());
  ASSERT_TRUE(advice);
  EXPECT_LE(advice->shortest_s, advice->best_s);
  EXPECT_GE(advice->longest_s, advice->best_s);
  for (const IntervalReport::Point& point : advice->points) {
    const bool within = point.every_s >= advice->shortest_s && point.every_s <= advice->longest_s;
    EXPECT_TRUE(within || point.goodput.mean < advice->best_goodput - 4e-4) << point.every_s;
  }
}

// --- where theory and simulation differ

// Gaps between failures follow a Weibull law of shape 0.6 (recorded ones have 0.6 to 0.9), and a
// restart takes an hour. Failures then come in clusters, and many strike while the job is down and
// cost little. Campaigns of this test give
// shape 1:   goodput 0.665 at the exact interval of 798 s, formula 0.665; best near 798 s
// shape 0.6: goodput 0.730 there, formula 0.665; best near 1.25 times the interval, 0.731
// so the formula's goodput is off by 0.065 and its interval costs 0.001.
TEST(IntervalAdvice, ClusteredFailures) {
  CampaignInputs inputs = storage_only();
  inputs.recovery.restart_s = 3600;
  inputs.campaign.trials = 1000;
  const auto goodput_at = [&](double work_s) {
    inputs.table.tiers[0].tier.every_iterations = static_cast<int>(std::lround(work_s / 5));
    return run_campaign(inputs).goodput;
  };
  const double exact_s = exact_interval_s(30, kLength / 419);
  const double formula = expected_goodput(exact_s, 30, kLength / 419, 3600 + 120);
  Estimate at_exact = goodput_at(exact_s);
  EXPECT_NEAR(at_exact.mean, formula, four_errors(at_exact));
  EXPECT_LT(goodput_at(1.25 * exact_s).mean, at_exact.mean);

  inputs.failures[0].arrivals = Arrivals::weibull;
  inputs.failures[0].weibull_shape = 0.6;
  at_exact = goodput_at(exact_s);
  EXPECT_NEAR(at_exact.mean - formula, 0.065, four_errors(at_exact));
  const double regret = goodput_at(1.25 * exact_s).mean - at_exact.mean;
  EXPECT_GT(regret, 0);
  EXPECT_LT(regret, 2e-3);
}

// A snapshot takes 30 s at the storage's full bandwidth, and the job may use a tenth of that: the
// formulas ask for an interval of 10 min, and the advice stays at five.
TEST(IntervalAdvice, KeepsToItsShareOfTheStorage) {
  CampaignInputs inputs = storage_only();
  inputs.table.iteration_s = {5, 5.1};  // with hardly a stall, save as often as possible
  const std::optional<IntervalReport> often = advice_on(inputs);
  ASSERT_TRUE(often);
  EXPECT_EQ(often->storage_s, 0);
  EXPECT_LT(often->best_s, 120);
  inputs.table.tiers[0].storage_s = 30;
  inputs.storage_share = 0.1;
  const std::optional<IntervalReport> advice = advice_on(inputs);
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->storage_s, 300);
  for (const double every_s : {advice->young_s, advice->daly_s, advice->exact_s, advice->best_s}) {
    EXPECT_EQ(every_s, 300);
  }
  // A scenario that saves more often gets its own goodput reported, but its interval is not
  // advised.
  inputs.table.tiers[0].tier.every_iterations = 12;
  const std::optional<IntervalReport> beyond = advice_on(inputs);
  ASSERT_TRUE(beyond);
  EXPECT_EQ(beyond->configured_s, 60);
  EXPECT_GE(beyond->best_s, 300);
  EXPECT_GT(point_at(*beyond, 60).goodput.mean, beyond->best_goodput);
}

// The configured interval has the goodput of the campaign report, from as many trials.
TEST(IntervalAdvice, OneSettingHasOneGoodput) {
  CampaignInputs inputs = storage_only();
  inputs.campaign.trials = 50;
  const CampaignReport report = run_campaign(inputs);
  const std::optional<IntervalReport> advice = interval_advice(inputs, report);
  ASSERT_TRUE(advice);
  EXPECT_EQ(point_at(*advice, advice->configured_s).goodput, report.goodput);
  inputs.table.tiers[0].tier.every_iterations = static_cast<int>(std::lround(advice->best_s / 5));
  EXPECT_EQ(run_campaign(inputs).goodput.mean, advice->best_goodput);
}

// The best of many settings was also lucky: in the campaigns that it was chosen by its goodput is
// too high. The reported goodput comes from other campaigns.
TEST(IntervalAdvice, WhatIsToldOfTheBestIsNoLuck) {
  constexpr int kSeeds = 300;
  std::vector<double> luck;  // goodput of the best point, as it was chosen
  std::vector<double> told;  // goodput that the advice reports
  for (int seed = 1; seed <= kSeeds; ++seed) {
    CampaignInputs inputs = storage_only();
    inputs.campaign = {20 * kDay, 2, static_cast<std::uint64_t>(seed)};
    inputs.failures[0].rate_per_node_s = 5 / inputs.campaign.length_s / inputs.nodes;
    const std::optional<IntervalReport> advice = advice_on(inputs, 1);
    ASSERT_TRUE(advice);
    const auto expected = [&](double every_s) {
      CampaignInputs others = inputs;
      others.first_trial = 1000;
      others.campaign.trials = 200;
      others.table.tiers[0].tier.every_iterations = static_cast<int>(std::lround(every_s / 5));
      return run_campaign(others, 1).goodput.mean;
    };
    const IntervalReport::Point& best = *std::ranges::max_element(
        advice->points, {}, [](const auto& point) { return point.goodput.mean; });
    luck.push_back(best.goodput.mean - expected(best.every_s));
    told.push_back(advice->best_goodput - expected(advice->best_s));
  }
  const Estimate of_luck = estimate(luck, 1, -1);
  const Estimate of_told = estimate(told, 1, -1);
  EXPECT_GT(of_luck.mean, four_errors(of_luck));
  EXPECT_LT(std::abs(of_told.mean), four_errors(of_told) * 3 / 4);
}

// Pairs of neighbouring nodes keep copies against node failures; storage is behind them. Single
// failures almost never take both nodes of a pair. If every fifth failure takes two neighbours,
// half of these are a pair, and a tenth of failures go back to storage. A model of independent
// losses is then wrong: goodput with storage every hour is 0.948, not 0.964. With the share found
// in the campaigns the formulas hold again.
TEST(IntervalAdvice, Batches) {
  CampaignInputs inputs = storage_only();
  FailureClass& node = inputs.failures[0];
  node.kind = FailureKind::node;
  node.repair.fixed_s = kDay;
  inputs.recovery.spares = 256;
  SnapshotTier peers{.place = SnapshotPlace::peers, .keeper_process = true};
  peers.every_iterations = 20;
  peers.code = {.name = CodeName::copies, .data = 1, .parity = 1};
  inputs.table.tiers = {{peers, 8, 5, 5}, {{.every_iterations = 720}, 30, 60}};
  inputs.table.iteration_s = {5, 5.1, 35, 35};
  const Estimate alone = run_campaign(inputs).goodput;
  EXPECT_NEAR(alone.mean, 0.964, 1e-3);

  node.batch_shares = {0.8, 0.2};
  const Estimate batches = run_campaign(inputs).goodput;
  EXPECT_NEAR(batches.mean, 0.948, 2e-3);
  const std::optional<IntervalReport> advice = advice_on(inputs);
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->tier, "storage");
  EXPECT_NEAR(advice->mtbf_s / (10 * kLength / 419), 1, 0.08);  // 1340 failures: 3 std. errors
  EXPECT_LT(advice->exact_regret, 1e-3);
  const double mtbf_s = kLength / 419;
  // The peers' copy is complete 7.9 s after its stall, and is loaded in 5 s.
  const TwoLevels levels{0.1, 30, mtbf_s / 0.9, mtbf_s / 0.1, 240 + 5 + 7.9, 240 + 60};
  EXPECT_NEAR(batches.mean, two_level_goodput(levels, {100, 36}), four_errors(batches));
}

// Failure rates of nodes have the same mean, but are so uneven (gamma law of variance 50) that bad
// nodes fail early and are replaced by spares. Campaigns have 101 failures where the rate gives
// 419. The interval from the rate is half of the best one and costs 0.009.
TEST(IntervalAdvice, Lemons) {
  CampaignInputs inputs = storage_only();
  FailureClass& node = inputs.failures[0];
  node.kind = FailureKind::node;
  node.repair.fixed_s = kDay;
  node.frailty_variance = 50;
  inputs.recovery.spares = 256;
  const CampaignReport report = run_campaign(inputs);
  EXPECT_LT(report.failures.at("unexpected").mean, 150);
  const std::optional<IntervalReport> advice = interval_advice(inputs, report);
  ASSERT_TRUE(advice);
  EXPECT_GT(advice->best_s, 1.5 * advice->exact_s);
  EXPECT_NEAR(advice->exact_regret, 0.009, 0.002);
}

}  // namespace
}  // namespace windtunnel
