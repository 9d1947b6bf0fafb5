#include "sim/study/sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "models/base/error.hpp"
#include "sim/study/interval_search.hpp"
#include "sim/study/simulate.hpp"
#include "tests/support/error_of.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

const std::string kScenario = WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml";

Sweep small_sweep(std::vector<VariedKey> vary) {
  return {{kScenario, read_file(kScenario), {{"campaign.replicas", "6"}}}, std::move(vary)};
}

// The grid has three intervals, two rates and two layouts, which give two iteration tables.
Sweep grid() {
  return small_sweep({{"layout.tp", {"2", "4"}},
                      {"failures.*.rate", {"6 per 1000 node-days", "20 per 1000 node-days"}},
                      {"snapshots.0.every", {"10 min", "1 h", "4 h"}}});
}

std::map<int, SweepPoint> run(const Sweep& sweep, const std::vector<SweepCase>& cases,
                              int threads) {
  std::map<int, SweepPoint> points;
  SweepOptions options;
  options.threads = threads;
  options.finished = [&](const SweepPoint& point) { points.emplace(point.index, point); };
  run_sweep(sweep, cases, options);
  return points;
}

TEST(CrossProduct, LastKeyChangesFastest) {
  const std::vector<Overrides> points = cross_product({{"a", {"1", "2"}}, {"b", {"x", "y"}}});
  EXPECT_EQ(points, (std::vector<Overrides>{{{"a", "1"}, {"b", "x"}},
                                            {{"a", "1"}, {"b", "y"}},
                                            {{"a", "2"}, {"b", "x"}},
                                            {{"a", "2"}, {"b", "y"}}}));
}

// Ten million cases have to fit in memory.
TEST(Sweep, ACaseOfAGridIsSmall) {
  EXPECT_LE(sizeof(SweepCase), 64U);
}

TEST(Sweep, AGridOfMorePointsThanCanBeCountedIsRefused) {
  const std::vector<std::string> values(1300, "1 h");
  EXPECT_EQ(error_of([&] {
              sweep_cases(small_sweep({{"a", values}, {"b", values}, {"c", values}}));
            }),
            "the grid has 2.2e+09 points, but a sweep can have at most 2.15e+09; vary fewer keys "
            "or values");
}

TEST(Sweep, EveryPointIsWhatItsCaseAloneGives) {
  const Sweep sweep = grid();
  const std::vector<SweepCase> cases = sweep_cases(sweep);
  ASSERT_EQ(cases.size(), 12U);
  std::set<std::uint64_t> tables;
  for (const SweepCase& each : cases) tables.insert(each.table);
  EXPECT_EQ(tables.size(), 2U);
  // The cases lose the parsed scenario, as in another process.
  std::vector<SweepCase> unread = cases;
  for (SweepCase& each : unread) each.read.reset();
  const std::map<int, SweepPoint> points = run(sweep, unread, 2);
  ASSERT_EQ(points.size(), 12U);
  for (const SweepCase& each : cases) {
    EXPECT_EQ(each.read->prepared == cases.front().read->prepared,
              each.table == cases.front().table);
    Overrides overrides = sweep.scenario.set;
    const Overrides set = values_at(sweep.vary, each.index);
    overrides.insert(overrides.end(), set.begin(), set.end());
    const Record alone = simulate(load_case(kScenario, overrides));
    const SweepPoint& point = points.at(each.index);
    ASSERT_TRUE(point.campaign) << point.reason;
    EXPECT_EQ(point.key, alone.key);
    EXPECT_EQ(point.iteration.time_s, alone.iteration.time_s);
    EXPECT_EQ(point.campaign->goodput, alone.campaign->goodput);
    EXPECT_EQ(point.campaign->failures, alone.campaign->failures);
    EXPECT_TRUE(std::ranges::equal(point.campaign->lost_s, alone.campaign->lost_s));
    EXPECT_EQ(point.campaign->trial_goodput, alone.campaign->trial_goodput);
    EXPECT_EQ(point.campaign->trial_goodput.size(), 6U);
    ASSERT_EQ(point.campaign->tiers.size(), alone.campaign->tiers.size());
    for (std::size_t tier = 0; tier < alone.campaign->tiers.size(); ++tier) {
      EXPECT_EQ(point.campaign->tiers[tier].every_s, alone.campaign->tiers[tier].every_s);
      EXPECT_EQ(point.campaign->tiers[tier].survival_7d, alone.campaign->tiers[tier].survival_7d);
    }
  }
}

TEST(Sweep, SameOnAnyThreadsAndInAnyShards) {
  const Sweep sweep = grid();
  const std::vector<SweepCase> cases = sweep_cases(sweep, 1);
  EXPECT_EQ(cases, sweep_cases(sweep, 3));
  const std::map<int, SweepPoint> whole = run(sweep, cases, 1);
  std::map<int, SweepPoint> parts;
  for (int shard = 0; shard < 5; ++shard) parts.merge(run(sweep, shard_of(cases, shard, 5), 3));
  ASSERT_EQ(parts.size(), whole.size());
  for (const auto& [index, point] : whole) {
    EXPECT_EQ(point.campaign->goodput, parts.at(index).campaign->goodput);
    EXPECT_EQ(point.campaign->ettr, parts.at(index).campaign->ettr);
    EXPECT_EQ(point.iteration.mfu, parts.at(index).iteration.mfu);
  }
}

TEST(Sweep, ShardsAreEqualDisjointAndKeepTablesTogether) {
  std::vector<SweepCase> cases;
  for (int i = 0; i < 60; ++i) {
    cases.push_back({.index = i, .key = 1, .table = static_cast<std::uint64_t>(i % 6)});
  }
  for (const int shards : {1, 2, 3, 6, 7, 60, 100}) {
    std::set<int> seen;
    for (int shard = 0; shard < shards; ++shard) {
      const std::vector<SweepCase> part = shard_of(cases, shard, shards);
      EXPECT_GE(part.size(), 60U / shards);
      EXPECT_LE(part.size(), 60U / shards + 1);
      std::set<std::uint64_t> tables;
      for (const SweepCase& each : part) {
        EXPECT_TRUE(seen.insert(each.index).second);
        tables.insert(each.table);
      }
      if (6 % shards == 0) {
        EXPECT_EQ(tables.size(), 6U / shards);
      }
    }
    EXPECT_EQ(seen.size(), 60U);
  }
  // With one table only, work is divided by halves of each row of the grid.
  for (SweepCase& each : cases) each.table = 0;
  int first_half = 0;
  for (const SweepCase& each : shard_of(cases, 0, 2)) first_half += each.index < 30 ? 1 : 0;
  EXPECT_NEAR(first_half, 15, 3);
}

TEST(Sweep, InfeasiblePointsHaveReasons) {
  // One point is wrong as text, one as a layout, and one is too large for the GPUs.
  const Sweep text = small_sweep({{"campaign.length", {"30 d", "30"}}});
  const std::vector<SweepCase> cases = sweep_cases(text);
  EXPECT_EQ(cases[0].reason(), "");
  EXPECT_NE(cases[1].reason().find("campaign.length"), std::string::npos);
  EXPECT_EQ(run(text, cases, 1).at(1).reason, cases[1].reason());
  const Sweep schedules = small_sweep({{"schedule", {"1f1b", "gpipe"}}});
  const std::map<int, SweepPoint> points = run(schedules, sweep_cases(schedules), 2);
  EXPECT_TRUE(points.at(0).campaign);
  EXPECT_FALSE(points.at(1).campaign);
  EXPECT_NE(points.at(1).reason.find("activations"), std::string::npos) << points.at(1).reason;
}

// Reasons that only the campaign finds name their place, too.
TEST(Sweep, ReasonsNameThePlace) {
  const Sweep lengths = small_sweep({{"campaign.length", {"30 d", "10 s"}}});
  const std::string reason = run(lengths, sweep_cases(lengths), 1).at(1).reason;
  EXPECT_TRUE(reason.starts_with("--vary campaign.length=10 s: campaign.length of 10.0 s is too "))
      << reason;
}

TEST(Sweep, RefusesWhatIsWrongEverywhere) {
  EXPECT_THROW(sweep_cases(small_sweep({{"snapshots.0.evry", {"1 h", "2 h"}}})), Error);
  Sweep without = small_sweep({{"layout.tp", {"2", "4"}}});
  without.scenario.set = {{"campaign.length", "0 s"}};
  EXPECT_THROW(sweep_cases(without), Error);
}

TEST(Sweep, FaultsSayWhereAndWhichOption) {
  const auto fault = [](const Sweep& sweep) { return error_of([&] { sweep_cases(sweep); }); };
  EXPECT_EQ(fault(small_sweep({{"layout.tp", {}}})), "layout.tp has no values; give at least one");
  EXPECT_EQ(fault(small_sweep({{"layout.tq", {"2", "4"}}})),
            "--vary layout.tq=2: unknown layout key 'tq'; did you mean 'tp'?");
  const std::string bare =
      "name: bare\nmodel: llama3-8b\ncluster: {nodes: 2, node: dgx-h100}\nbatch: {global: 64}\n";
  EXPECT_TRUE(fault({{"bare.yaml", bare}, {{"layout.tp", {"2", "4"}}}})
                  .starts_with("bare.yaml:1:1: a sweep simulates campaigns"));
}

TEST(Sweep, ACaseThatIsNoLongerTheSameIsRefused) {
  const Sweep sweep = small_sweep({{"snapshots.0.every", {"1 h", "2 h"}}});
  std::vector<SweepCase> cases = sweep_cases(sweep);
  ++cases[1].key;
  EXPECT_THROW(run(sweep, cases, 1), Error);
}

TEST(Sweep, StopsBetweenPoints) {
  const Sweep sweep = grid();
  std::atomic<bool> stop = false;
  int points = 0;
  SweepOptions options;
  options.threads = 2;
  options.stop = &stop;
  options.finished = [&](const SweepPoint&) {
    ++points;
    stop = true;
  };
  run_sweep(sweep, sweep_cases(sweep), options);
  EXPECT_GE(points, 1);
  EXPECT_LE(points, 2);  // including the point in progress
}

// This holds however often failures strike, and although the scenario itself saves more often.
TEST(IntervalSearch, KeepsToItsShareOfTheStorage) {
  const IntervalSearch found =
      search_intervals(read_scenario(kScenario, {{"campaign.replicas", "4"},
                                                 {"failures.0.rate", "500 per 1000 node-days"},
                                                 {"snapshots.0.every", "1 min"},
                                                 {"cluster.storage.share", "0.01"}}),
                       {.keys = {"snapshots.0.every"}});
  ASSERT_EQ(found.tiers.size(), 1U);
  EXPECT_EQ(found.storage_share, 0.01);
  EXPECT_GT(found.tiers[0].storage_s, 120);
  EXPECT_GE(found.tiers[0].every_s, found.tiers[0].storage_s);
}

// No interval of a grid is significantly better than the one found, and `simulate` reports the same
// goodput for it.
TEST(IntervalSearch, BeatsAGridAndIsWhatRunGives) {
  const Overrides set = {{"campaign.replicas", "20"},
                         {"failures.0.rate", "500 per 1000 node-days"},
                         {"snapshots.0.every", "5 h"}};
  const IntervalSearch found =
      search_intervals(read_scenario(kScenario, set), {.keys = {"snapshots.0.every"}});
  ASSERT_EQ(found.tiers.size(), 1U);
  Overrides best = set;
  best.emplace_back(found.tiers[0].key, found.tiers[0].value);
  EXPECT_EQ(simulate(load_case(kScenario, best)).campaign->goodput, found.best.goodput);
  EXPECT_EQ(simulate(load_case(kScenario, set)).campaign->goodput, found.given.goodput);
  EXPECT_GT(found.gain.low, 0);
  EXPECT_NEAR(found.gain.mean, found.best.goodput.mean - found.given.goodput.mean, 1e-12);
  Sweep sweep = small_sweep({{"snapshots.0.every",
                              {"15 s", "30 s", "1 min", "2 min", "4 min", "8 min", "15 min",
                               "30 min", "1 h", "2 h", "4 h", "8 h", "16 h"}}});
  sweep.scenario.set = {set[0], set[1]};
  for (const auto& [index, point] : run(sweep, sweep_cases(sweep), 2)) {
    std::vector<double> lead = point.campaign->trial_goodput;
    for (size_t i = 0; i < lead.size(); ++i) lead[i] -= found.best.trial_goodput[i];
    EXPECT_LE(estimate(lead, 1, -1).low, 0) << index << ": " << point.campaign->goodput.mean;
  }
}

// The goodput reported for the best interval comes from failures that it was not chosen with.
TEST(IntervalSearch, WhatIsToldOfTheBestIsNoLuck) {
  constexpr int kSeeds = 60;
  std::vector<double> luck;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    Overrides set = {{"campaign.replicas", "2"},
                     {"campaign.seed", std::to_string(seed)},
                     {"failures.0.rate", "30 per 1000 node-days"},
                     {"snapshots.0.every", "1 d"}};
    const IntervalSearch found = search_intervals(read_scenario(kScenario, set),
                                                  {.keys = {"snapshots.0.every"}, .threads = 1});
    set.emplace_back(found.tiers[0].key, found.tiers[0].value);
    const Case best = load_case(kScenario, set);
    CampaignInputs inputs =
        campaign_inputs(best.job, measure_iteration(best, {.threads = 1}).table);
    inputs.first_trial = 1000;
    inputs.campaign.trials = 100;
    luck.push_back(found.best.goodput.mean - run_campaign(inputs, 1).goodput.mean);
  }
  const Estimate of_all = estimate(luck, 1, -1);
  EXPECT_LT(std::abs(of_all.mean), (of_all.high - of_all.low) / 2);
}

// With one tier and many failures the trials distinguish intervals; with few failures the best one
// is a matter of luck.
TEST(IntervalSearch, SaysOfWhatDoesNotMatterWhatRunSays) {
  const Overrides set = {{"campaign.replicas", "400"},
                         {"failures.0.rate", "500 per 1000 node-days"},
                         {"snapshots.0.every", "2 h"}};
  const IntervalSearch found =
      search_intervals(read_scenario(kScenario, set), {.keys = {"snapshots.0.every"}});
  const std::optional<IntervalReport> said = simulate(load_case(kScenario, set)).campaign->interval;
  ASSERT_TRUE(said);
  ASSERT_EQ(found.tiers.size(), 1U);
  const auto seconds = [](const std::string& text) {
    return parse_quantity(text, Dimension::seconds);
  };
  EXPECT_NEAR(std::log(seconds(found.tiers[0].shortest) / said->shortest_s), 0, std::log(1.06));
  EXPECT_NEAR(std::log(seconds(found.tiers[0].longest) / said->longest_s), 0, std::log(1.06));
  EXPECT_LT(said->shortest_s, said->longest_s);
}

// Trials must meet some tens of failures: with fewer, the best interval is a matter of luck and
// gains nothing.
TEST(IntervalSearch, SeveralTiersAndIterations) {
  const Overrides set = {
      {"campaign.replicas", "100"},
      {"snapshots", "[{tier: host-memory, every: 1000 iterations}, {tier: storage, every: 12 h}]"}};
  const IntervalSearch found =
      search_intervals(read_scenario(kScenario, set), {.keys = {"snapshots.*.every"}});
  ASSERT_EQ(found.tiers.size(), 2U);
  EXPECT_NE(found.tiers[0].value.find("iteration"), std::string::npos);
  EXPECT_EQ(found.tiers[1].key, "snapshots.1.every");
  EXPECT_GT(found.best.goodput.mean, found.given.goodput.mean);
  EXPECT_GT(found.campaigns, 20);
}

TEST(IntervalSearch, AShareOfTheTimeIsSearchedAsIterations) {
  const Overrides set = {{"campaign.replicas", "5"},
                         {"snapshots", "[{tier: storage, every: {overhead: 0.0001}}]"}};
  const IntervalSearch found =
      search_intervals(read_scenario(kScenario, set), {.keys = {"snapshots.0.every"}});
  ASSERT_EQ(found.tiers.size(), 1U);
  EXPECT_NE(found.tiers[0].value.find("iteration"), std::string::npos) << found.tiers[0].value;
  EXPECT_EQ(simulate(load_case(kScenario, set)).campaign->goodput, found.given.goodput);
  EXPECT_GT(found.best.goodput.mean, found.given.goodput.mean);
}

TEST(IntervalSearch, RefusesWhatItCannotSearch) {
  const auto search = [](const std::string& key, const Overrides& set, Aim aim) {
    search_intervals(read_scenario(kScenario, set), {.keys = {key}, .aim = aim});
  };
  EXPECT_THROW(search("snapshots.1.every", {}, Aim::goodput), Error);
  EXPECT_THROW(search("snapshots.0.every", {{"campaign.length", "0 s"}}, Aim::goodput), Error);
  EXPECT_THROW(search("snapshots.0.every", {}, Aim::cost), Error);  // no price is stated
}

}  // namespace
}  // namespace windtunnel
