#include "sim/study/volunteers/volunteer_study.hpp"

#include <gtest/gtest.h>

#include "models/cost/chunk/step_work.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {
namespace {

Case case_of(const std::string& volunteers, int stages = 4) {
  return parse_case(
      fmt::format("name: a\nmodel: {{layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, "
                  "sequence: 512}}\ncluster: {{nodes: {0}, node: {{base: aws-g4dn, gpus: 1}}}}\n"
                  "layout: {{pp: {0}}}\nprecision: fp16\nbatch: {{global: 64}}\n"
                  "volunteers: {1}\n",
                  stages, volunteers),
      "a.yaml");
}

VolunteerReport report_of(const Case& the_case, int threads = 1) {
  return study_volunteers(*the_case.asked.find<Volunteers>(), the_case.job, *the_case.prepared,
                          threads);
}

constexpr const char* kChanging =
    "{length: 6 h, trials: 8, peers: [{name: t4, count: 24, up: 500 Mb/s, down: 500 Mb/s, "
    "latency: 10 ms, leave: 0.2 per hour, join: 5 per hour}]}";

TEST(VolunteerStudy, TheSameForAnyNumberOfThreads) {
  const Case the_case = case_of(kChanging);
  const VolunteerReport one = report_of(the_case, 1);
  const VolunteerReport two = report_of(the_case, 2);
  EXPECT_EQ(one.tokens_per_s, two.tokens_per_s);
  EXPECT_EQ(one.unmoved_share, two.unmoved_share);
  EXPECT_EQ(one.trials, 8);
  EXPECT_EQ(one.stages, 4);
}

TEST(VolunteerStudy, SharesAreOfTheOptimum) {
  const VolunteerReport report = report_of(case_of(kChanging));
  EXPECT_LE(report.optimum_share.mean, 1);
  EXPECT_GE(report.optimum_share.mean, report.unmoved_share.mean);
  EXPECT_NEAR(report.passed_tokens_per_s.mean / report.optimum_tokens_per_s.mean,
              report.optimum_share.mean, 0.01);
  EXPECT_GT(report.moves_per_h.mean, 0);
  EXPECT_GT(report.utilisation.at("t4").mean, report.unhidden_utilisation.at("t4").mean);
}

// Peers stay, each on one stage: the rate follows from the cost models of a stage alone.
TEST(VolunteerStudy, PeersThatStayAreBalanced) {
  const Case the_case =
      case_of("{trials: 2, peers: [{name: t4, count: 8, up: 1 Gb/s, down: 1 Gb/s}]}");
  const VolunteerReport report = report_of(the_case);
  EXPECT_DOUBLE_EQ(report.optimum_share.mean, 1);
  EXPECT_DOUBLE_EQ(report.unmoved_share.mean, 1);
  EXPECT_EQ(report.moves_per_h.mean, 0);
  EXPECT_EQ(report.peers.mean, 8);
  EXPECT_EQ(report.calls, std::nullopt);
}

TEST(VolunteerStudy, AdaptiveRolesAreNotSlowerThanFixedOnes) {
  const Case the_case = case_of(
      "{trials: 1, peers: [{name: wide, count: 4, up: 1 Gb/s, down: 1 Gb/s}, {name: home, count: "
      "12, up: 20 Mb/s, down: 200 Mb/s}, {name: helper, count: 2, speed: 0, up: 1 Gb/s, down: 1 "
      "Gb/s}]}",
      1);
  const VolunteerReport report = report_of(the_case);
  EXPECT_LE(report.step_s.at("adaptive").mean, report.step_s.at("all-reduce").mean);
  EXPECT_LE(report.step_s.at("adaptive").mean, report.step_s.at("server").mean);
  double parts = 0;
  for (const auto& [name, part] : report.parts) {
    parts += part.mean * (name == "wide" ? 4 : name == "home" ? 12 : 2);
  }
  EXPECT_NEAR(parts, 1, 1e-6);
  EXPECT_FALSE(report.computing.empty());
}

// A peer that delays the exchange more than it helps does not compute.
TEST(VolunteerStudy, ALinkThatIsTooSlowDoesNotCompute) {
  const VolunteerReport report =
      report_of(case_of("{trials: 1, peers: [{name: wide, count: 8, up: 1 Gb/s, down: 1 Gb/s}, "
                        "{name: modem, count: 1, up: 56 kB/s, down: 56 kB/s}]}",
                        1));
  EXPECT_EQ(report.computing, "wide");
  EXPECT_LT(report.step_s.at("adaptive").mean, 0.1 * report.step_s.at("all-reduce").mean);
}

// Peers stay, on one stage. A batch takes as long as compute or as averaging with adaptive roles,
// whichever is slower, and peers without a role in computing add nothing.
TEST(VolunteerStudy, TokensAreThoseOfTheStepBeneath) {
  const char* const fast = "{name: wide, count: 4, up: 100 Gb/s, down: 100 Gb/s}";
  const char* const slow = "{name: narrow, count: 4, up: 100 Mb/s, down: 100 Mb/s}";
  const std::string modem =
      std::string(fast) + ", {name: modem, count: 2, up: 1 Mb/s, down: 1 Mb/s}";
  int limited_by_averaging = 0;
  for (const std::string& peers : {std::string(fast), std::string(slow), modem}) {
    const Case the_case = case_of("{trials: 1, peers: [" + peers + "]}", 1);
    const VolunteerReport report = report_of(the_case);
    const double step_s = report.step_s.at("adaptive").mean;
    const double tokens = tokens_per_step(the_case.job) / step_s;
    EXPECT_NEAR(report.tokens_per_s.mean / tokens, 1, 1e-9) << peers;
    const bool limited = report.averaging_s.at("adaptive").mean == step_s;
    limited_by_averaging += limited;
    EXPECT_EQ(report.tokens_per_s.mean < 0.999 * report.passed_tokens_per_s.mean, limited) << peers;
    EXPECT_EQ(report.computing, peers == slow ? "narrow" : "wide");
  }
  EXPECT_EQ(limited_by_averaging, 1);
}

// A peer alone on its stage averages with no other, so it never waits.
TEST(VolunteerStudy, OnePeerPerStageAveragesNothing) {
  const VolunteerReport report =
      report_of(case_of("{trials: 1, peers: [{name: a, count: 4, up: 1 Mb/s, down: 1 Mb/s}]}"));
  EXPECT_GT(report.tokens_per_s.mean, 0);
  EXPECT_EQ(report.tokens_per_s.mean, report.passed_tokens_per_s.mean);
  EXPECT_TRUE(report.step_s.empty());
}

TEST(VolunteerStudy, ManyTrainersDoNotMindTheLatency) {
  const VolunteerReport report = report_of(
      case_of("{trials: 1, peers: [{name: a, count: 4, up: 1 Gb/s, down: 1 Gb/s, latency: 50 ms}], "
              "calls: {trainers: 100000}}",
              1));
  const CallsPoint& near = report.by_latency.front();
  const CallsPoint& far = report.by_latency.back();
  EXPECT_EQ(near.latency_s, 0);
  EXPECT_EQ(far.latency_s, 1);
  // There are more trainers than a round trip of 2 s to 4 peers leaves waiting.
  ASSERT_LT(20 * report.saturating_trainers, 100000);
  EXPECT_GT(far.tokens_per_s, 0.9 * near.tokens_per_s);
  EXPECT_LT(far.single_tokens_per_s, 0.1 * near.single_tokens_per_s);
  EXPECT_GT(report.saturating_trainers, 4);
}

}  // namespace
}  // namespace windtunnel
