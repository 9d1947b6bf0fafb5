#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "tests/report/api/small_case.hpp"

namespace windtunnel {
namespace {

using ::testing::HasSubstr;

Case case_with(SavingRule rule) {
  return small_case().add_saving_rule("mine", std::move(rule)).set("snapshots.0.every", "mine");
}

double half_an_hour(const SavingMoment& /*moment*/) {
  return 1800;
}

TEST(PublicSavingRule, AConstantOneIsTheInterval) {
  const Result expected = simulate(small_case());  // every: 30 min
  const Result result = simulate(case_with(half_an_hour));
  for (const Figure& figure : expected.figures()) {
    EXPECT_EQ(result[figure.key], figure.value) << figure.key;
  }
}

// The rule runs beside a tier that saves by time, whose periods the simulation skips, and a tier
// that saves by iterations.
TEST(PublicSavingRule, AConstantOneIsTheIntervalAmongOtherTiers) {
  const auto tiers = [](const std::string& every) {
    return "[{tier: host-memory, every: 20 iterations, keeper: process},"
           " {tier: local-disk, every: 20 min}, {tier: storage, every: " +
           every + "}]";
  };
  Case stated = small_case();
  stated.set("snapshots", tiers("2 h"));
  Case ruled = small_case();
  ruled.add_saving_rule("mine", [](const SavingMoment&) { return 7200; })
      .set("snapshots", tiers("mine"));
  const Result expected = simulate(stated);
  const Result result = simulate(ruled);
  for (const Figure& figure : expected.figures()) {
    EXPECT_EQ(result[figure.key], figure.value) << figure.key;
  }
}

TEST(PublicSavingRule, MomentsAreOfTheCampaign) {
  std::mutex mutex;
  std::vector<SavingMoment> seen;  // moments of trial 0
  const Case the_case = case_with([&](const SavingMoment& moment) {
    const std::lock_guard lock(mutex);
    if (moment.trial == 0) seen.push_back(moment);
    return 1800.0;
  });
  const Result result = simulate(the_case);
  // Campaigns with other settings repeat the trials; the first one is the campaign itself.
  const auto end = std::ranges::find_if(
      seen.begin() + 1, seen.end(), [](const SavingMoment& moment) { return moment.now_s == 0; });
  seen.erase(end, seen.end());
  ASSERT_GT(seen.size(), 100u);
  EXPECT_EQ(seen.front().training_s, 0);
  EXPECT_EQ(seen.front().iteration, 0);
  int starts = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const SavingMoment& moment = seen[i];
    EXPECT_EQ(moment.tier, 0);
    EXPECT_NEAR(moment.stall_s, result["campaign.tiers.0.stall_s"], 1e-9);
    EXPECT_NEAR(moment.complete_s, result["campaign.tiers.0.saving_s"], 1e-9);
    EXPECT_NEAR(moment.restore_s, result["campaign.tiers.0.restore_s"], 1e-9);
    EXPECT_GT(moment.iteration_s, 0);
    EXPECT_LT(moment.now_s, 30 * 86400);
    // The rate is 6.5 failures per 1000 node-days, on 2 nodes.
    EXPECT_NEAR(moment.mtbf_s, 86400 / (2 * 6.5e-3), 1);
    if (moment.training_s == 0) ++starts;
    if (i == 0) continue;
    EXPECT_GT(moment.now_s, seen[i - 1].now_s);
    EXPECT_GE(moment.failures, seen[i - 1].failures);
    if (moment.training_s > 0) {
      EXPECT_GE(moment.now_s - seen[i - 1].now_s, 1800);
    }
  }
  EXPECT_EQ(starts, 1 + seen.back().failures);
}

// Rare failures need rare snapshots: while no failure occurs, the rule waits longer each time.
TEST(PublicSavingRule, AnAdaptiveOneSavesLessWhereNothingFails) {
  const auto doubling = [](const SavingMoment& moment) {
    return std::max(600.0, moment.training_s);
  };
  const Case often = case_with([](const SavingMoment&) { return 600.0; });
  const double stall = simulate(often)["campaign.lost_s.stall"];
  const Result result = simulate(case_with(doubling));
  EXPECT_LT(result["campaign.lost_s.stall"], stall / 4);
  EXPECT_GT(result["campaign.lost_s.stall"], 0);
  EXPECT_GT(result["campaign.tiers.0.every_s"], 600);
}

TEST(PublicSavingRule, AnswersAreTheSameOnAnyNumberOfThreads) {
  const auto rule = [](const SavingMoment& moment) {
    return std::sqrt(2 * (moment.stall_s + 1) * (moment.now_s + 3600) /
                     static_cast<double>(moment.failures + 1));
  };
  EXPECT_EQ(simulate(case_with(rule), {.threads = 1}).json(),
            simulate(case_with(rule), {.threads = 4}).json());
}

// An interval that a failure cuts short does not count as an interval between snapshots.
TEST(PublicSavingRule, TheMeanIsOfIntervalsThatEndInASnapshot) {
  const Result never = simulate(case_with([](const SavingMoment&) { return 1e300; }));
  EXPECT_GT(never["campaign.tiers.0.every_s"], 86400);
  EXPECT_LT(never["campaign.tiers.0.every_s"], 1e8);  // as long as the campaign
  const Result late = simulate(case_with([](const SavingMoment& moment) {
    return moment.training_s > 0 || moment.now_s < 1 ? 1200.0 : 1e300;  // none after a failure
  }));
  EXPECT_NEAR(late["campaign.tiers.0.every_s"], 1200, late["iteration.time_s"]);
}

// A copy takes longer than the interval of the rule: no copy starts before the previous one is
// complete.
TEST(PublicSavingRule, NoSnapshotStartsBeforeTheLastIsComplete) {
  Case the_case = small_case();
  the_case.set("snapshots.0.mode", "async").set("cluster.storage.write", "0.2 GB/s");
  std::mutex mutex;
  double spare_s = 1e9;  // between the end of a copy and the next start
  double complete_s = 0;
  the_case.add_saving_rule("mine", [&, last_s = 0.0](const SavingMoment& moment) mutable {
    const std::lock_guard lock(mutex);
    if (moment.trial > 0) return 1e-3;
    if (moment.training_s > 0) {
      spare_s = std::min(spare_s, moment.now_s - last_s - moment.complete_s);
    }
    last_s = moment.now_s;
    complete_s = moment.complete_s;
    return 1e-3;
  });
  simulate(the_case.set("snapshots.0.every", "mine"));
  EXPECT_GT(complete_s, 60);
  EXPECT_GE(spare_s, 0);
  EXPECT_LT(spare_s, 60);  // one iteration
}

TEST(PublicSavingRule, FaultsNameRuleAndKey) {
  for (const double wrong : {0.0, -3.0, std::nan(""), HUGE_VAL}) {
    const Error error =
        error_of([&] { simulate(case_with([=](const SavingMoment&) { return wrong; })); });
    EXPECT_EQ(error.cause(), Error::Cause::input) << wrong;
    EXPECT_EQ(error.key(), "snapshots.0.every") << wrong;
    EXPECT_THAT(error.what(), HasSubstr("the saving rule 'mine' returned")) << wrong;
  }
  Case the_case = small_case();
  const auto message = [&](const std::string& name) {
    return std::string(error_of([&] { the_case.add_saving_rule(name, half_an_hour); }).what());
  };
  EXPECT_THAT(message(""), HasSubstr("needs a name"));
  EXPECT_THAT(message("1 h"), HasSubstr("cannot be called '1 h'"));
  EXPECT_THAT(message(".5 h"), HasSubstr("cannot be called '.5 h'"));
  EXPECT_THAT(message("null"), HasSubstr("cannot be called 'null'"));
  EXPECT_THAT(std::string(error_of([&] { the_case.add_saving_rule("empty", {}); }).what()),
              HasSubstr("saving rule 'empty' is empty"));
  Case misspelt = case_with(half_an_hour);
  EXPECT_THAT(error_of([&] { misspelt.set("snapshots.0.every", "mien").check(); }).what(),
              HasSubstr("or a saving rule of your program: mine"));
  Case islands = case_with(half_an_hour);
  islands.set("sync", "[{over: node, every: 10 steps}]")
      .set("layout.pp", "1")
      .set("layout.tp", "4")
      .set("layout.sharding", "none");
  EXPECT_THAT(error_of([&] { islands.check(); }).what(), HasSubstr("does not go with islands"));
}

TEST(PublicSavingRule, WhatTheCallerThrowsPassesThrough) {
  const Case the_case =
      case_with([](const SavingMoment&) -> double { throw std::domain_error("no such time"); });
  the_case.check();  // no campaign is simulated yet
  EXPECT_THROW(simulate(the_case), std::domain_error);
}

TEST(PublicSavingRule, SweepsMeetTheRuleAndIntervalsAlike) {
  const std::vector<SweepPoint> points = sweep(small_case().add_saving_rule("mine", half_an_hour),
                                               {{"snapshots.0.every", {"30 min", "mine", "2 h"}}});
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].figures["campaign.goodput"], points[1].figures["campaign.goodput"]);
  EXPECT_NE(points[0].figures["campaign.goodput"], points[2].figures["campaign.goodput"]);
}

}  // namespace
}  // namespace windtunnel
