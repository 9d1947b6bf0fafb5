#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string text_of(const std::string& sync, const std::string& layout = "tp: 8, dp: 8",
                    const std::string& rest = {}) {
  return fmt::format(
      "name: a\nmodel: {{layers: 12, hidden: 4096, heads: 32, vocabulary: 32000, sequence: 1024}}\n"
      "cluster: {{nodes: 8, node: dgx-h100, fabric: {{topology: sites, wan: 10 Gb/s, sites: "
      "[{{name: a, nodes: 4}}, {{name: b, nodes: 4}}]}}}}\n"
      "layout: {{{}}}\nbatch: {{global: 64}}\nsync: {}\n{}\n",
      layout, sync, rest);
}

Job job_of(const std::string& sync, const std::string& layout = "tp: 8, dp: 8") {
  return parse_case(text_of(sync, layout), "a.yaml").job;
}

std::string fault_of(const std::string& sync, const std::string& layout = "tp: 8, dp: 8",
                     const std::string& rest = {}, const Overrides& set = {}) {
  return error_of([&] { parse_case(text_of(sync, layout, rest), "a.yaml", set); });
}

TEST(ResolveSync, IslandsAreThePlacesThatExchange) {
  const auto groups = [](const char* sync) { return job_of(sync).layout.sync_groups; };
  EXPECT_EQ(groups("[{over: site, every: 100 steps}]"), std::vector{2});
  EXPECT_EQ(groups("[{over: node, every: 1 step}, {over: site, every: 100 steps}]"),
            std::vector{2});
  EXPECT_EQ(groups("[{over: node, every: 8 steps}, {over: site, every: 100 steps}]"),
            (std::vector{4, 2}));
  EXPECT_EQ(groups("[{over: replica, every: 30 steps}]"), std::vector{8});
  EXPECT_EQ(groups("[{islands: 4, every: 30 steps}]"), std::vector{4});
  EXPECT_EQ(groups("[{over: site, every: 1 step}]"), std::vector<int>());
}

TEST(ResolveSync, ALevelHasItsForm) {
  const Job job = job_of(
      "[{over: site, every: 100 steps, fragments: 8, delay: 5 steps, precision: bf16, "
      "optimizer: average, compressor: {name: int4}}]");
  const SyncLevel& level = job.sync.at(0);
  EXPECT_EQ(level.over, "site");
  EXPECT_EQ(level.every_steps, 100);
  EXPECT_EQ(level.fragments, 8);
  EXPECT_EQ(level.delay_steps, 5);
  EXPECT_EQ(level.element_bytes, 2);
  EXPECT_EQ(level.optimizer, OuterOptimizer::average);
  EXPECT_EQ(level.compressor.name, "int4");
}

TEST(ResolveSync, WholeReplicasLieOnAnIsland) {
  EXPECT_THAT(fault_of("[{over: node, every: 8 steps}]", "tp: 8, pp: 4, dp: 2"),
              HasSubstr("a.yaml:6:"));
  // In Megatron's order the stages of a pipeline are on different sites.
  EXPECT_THAT(fault_of("[{over: site, every: 8 steps}]", "tp: 8, pp: 4, dp: 2"),
              HasSubstr("do not have a site to themselves"));
  EXPECT_EQ(job_of("[{over: site, every: 8 steps}]", "tp: 8, pp: 4, dp: 2, order: [tp, pp, dp]")
                .layout.islands(),
            2);
}

// A mistake is reported at its level in the list, even if earlier levels of one step are dropped
// from the job.
TEST(ResolveSync, MistakesStandAtTheirLevel) {
  const std::string first = "\n  - {over: node, every: 1 step";
  const std::string second = "}\n  - {over: site, every: 10 steps";
  EXPECT_THAT(fault_of(first + second + ", fragments: 20}"), HasSubstr("a.yaml:8:"));
  EXPECT_THAT(fault_of(first + second + ", compressor: powersdg}"), HasSubstr("a.yaml:8:"));
  EXPECT_THAT(fault_of(first + ", compressor: int4" + second + "}"),
              HasSubstr("sync.0.compressor: replicas that synchronise in every step"));
}

TEST(ResolveSync, MistakesHaveTheirPlace) {
  const auto fault = [](const char* sync, const char* what) {
    EXPECT_THAT(fault_of(sync), HasSubstr(what)) << sync;
    EXPECT_THAT(fault_of(sync), HasSubstr("a.yaml:6:")) << sync;
  };
  fault("[{every: 100 steps}]", "neither over");
  fault("[{over: site}]", "every");
  fault("[{over: sites, every: 2 steps}]", "site");
  fault("[{over: site, islands: 2, every: 2 steps}]", "not both");
  fault("[{over: site, every: 100 steps, delay: 101 steps}]", "the next exchange begins");
  fault("[{over: site, every: 4 steps, fragments: 5}]", "more than one per step");
  fault("[{islands: 3, every: 4 steps}]", "3 islands do not divide the 8 replicas");
  fault("[{over: site, every: 10 steps}, {over: node, every: 100 steps}]",
        "list levels from inside to outside");
  fault("[{over: node, every: 10 steps}, {over: site, every: 5 steps}]", "from inside to outside");
  fault("[{over: node, every: 10 steps}, {over: site, every: 1 step}]", "from inside to outside");
  fault("[{over: site, every: 1 step, delay: 2 steps}]", "the next exchange begins");
  fault("[{over: site, every: 1 step, optimizer: average}]", "set delay: 1 step");
  fault("[{over: site, every: 10 steps, pattern: leader, compressor: int8}]",
        "leader, which sends uncompressed weights");
  fault("[{over: site, every: 10 steps, pattern: leader, optimizer: average}]",
        "weights of the leader are used unchanged");
  fault("[{over: site, every: 10 steps, delay: 2.5 steps}]", "a whole number of steps");
  fault("[{over: site, every: 10 steps, start: layers}]", "islands of one replica");
  EXPECT_THAT(
      fault_of("[{over: site, every: 10 steps}]", "tp: 8, dp: 8", "communication: {overlap: dear}"),
      HasSubstr("overlap: dear"));
  EXPECT_THAT(fault_of("[{over: site, every: 10 steps}]", "tp: 8, dp: 8",
                       "recovery: {when_no_spare: reroute}"),
              HasSubstr("recovery.when_no_spare: reroute does not go with islands"));
  EXPECT_THAT(fault_of("[{over: site, every: 10 steps}]", "tp: 8, dp: 8",
                       "recovery: {when_no_spare: relayout, relayout: [{dp: 2}]}"),
              HasSubstr("recovery.relayout: lists layouts of the whole job"));
  EXPECT_EQ(fault_of("[{over: site, every: 10 steps}]", "tp: 8, dp: 8",
                     "recovery: {when_no_spare: relayout}"),
            "no error");
  EXPECT_THAT(fault_of("[{over: node, every: 10 steps}, {over: site, every: 100 steps}]",
                       "tp: 8, dp: 8", "recovery: {when_no_spare: shrink}"),
              HasSubstr("recovery.when_no_spare: shrink drops an island that lost a node"));
}

TEST(ResolveSync, MistakesOfWaitingHaveTheirPlace) {
  std::string drifting = text_of("[{over: node, every: 10 steps}, {over: site, every: 15 steps}]");
  EXPECT_EQ(error_of([&] { parse_case(drifting, "a.yaml"); }), "no error");
  drifting.replace(drifting.find("node: dgx-h100"), 0, "jitter: {sigma: 0.1}, ");
  EXPECT_THAT(
      error_of([&] { parse_case(drifting, "a.yaml"); }),
      HasSubstr("must be a multiple of the 10 of the level before if there is cluster.jitter"));
  EXPECT_THAT(fault_of("[{over: site, every: 10 steps, fragments: 20}]", "tp: 8, dp: 8"),
              HasSubstr("sync.0.fragments: 20 fragments in 10 steps"));
  EXPECT_THAT(fault_of("[{over: node, every: 10 steps, wait_for: dynamic}, {over: site, every: 20 "
                       "steps}]",
                       "tp: 8, dp: 8"),
              HasSubstr("sync.0.wait_for: all-but-K and dynamic need a single level"));
  EXPECT_THAT(fault_of("[{over: node, every: 10 steps, pattern: gossip, wait_for: all-but-1}]",
                       "tp: 8, dp: 8"),
              HasSubstr("sync.0.wait_for: has no effect: with pattern: gossip an island waits only "
                        "for its neighbours"));
}

// A slow node makes one island slow, and jitter others; the two are kept apart if all islands wait.
TEST(ResolveSync, SlowNodesGoWithIslandsThatDoNotWaitUnlessThereIsJitter) {
  const auto fault = [](const std::string& sync, const std::string& jitter) {
    std::string text = text_of(sync);
    text.replace(text.find("node: dgx-h100"), 0, jitter + "slow_nodes: [{node: 1, slowdown: 2}], ");
    return error_of([&] { parse_case(text, "a.yaml"); });
  };
  const std::string jitter = "jitter: {sigma: 0.1}, ";
  EXPECT_EQ(fault("[{over: site, every: 10 steps}]", jitter), "no error");
  for (const char* rest : {"wait_for: all-but-1", "pattern: gossip, events: poisson"}) {
    const std::string sync = fmt::format("[{{over: site, every: 10 steps, {}}}]", rest);
    EXPECT_EQ(fault(sync, ""), "no error");
    EXPECT_THAT(fault(sync, jitter), HasSubstr("with cluster.jitter, slow nodes in islands"));
  }
}

TEST(ResolveSync, GossipMayHappenInEveryStep) {
  const Job job = job_of(
      "[{over: replica, every: 1 step, pattern: gossip, graph: exponential, peers: 1, delay: 1 "
      "step}]");
  const SyncLevel& level = job.sync.at(0);
  EXPECT_EQ(level.pattern, SyncPattern::gossip);
  EXPECT_EQ(level.graph, SyncGraph::exponential);
  EXPECT_EQ(level.peers, 1);
  EXPECT_EQ(level.hiding_steps(), 1);
  EXPECT_EQ(job.layout.islands(), 8);
}

TEST(ResolveSync, IslandsMayNeverExchange) {
  const Job job = job_of("[{over: node, pattern: none}]");
  EXPECT_EQ(job.layout.islands(), 8);
  EXPECT_EQ(job.sync.at(0).pattern, SyncPattern::none);
}

TEST(ResolveSync, PathsHaveModules) {
  const Job job = job_of("[{over: replica, every: 10 steps, paths: [4, 2]}]");
  EXPECT_EQ(job.layout.path_modules, (std::vector{4, 2}));
}

TEST(ResolveSync, KeysGoWithTheirPattern) {
  const auto fault = [](const char* sync, const char* what) {
    EXPECT_THAT(fault_of(sync), HasSubstr(what)) << sync;
  };
  fault("[{over: node, every: 10 steps, graph: ring}]", "needs pattern: gossip");
  fault("[{over: node, every: 10 steps, pattern: gossip, peers: 3}]", "has only 2 neighbours");
  fault("[{over: node, every: 10 steps, pattern: none}]", "exchange nothing; leave it out");
  fault("[{over: node}]", "has no 'every', the steps between two exchanges");
  fault("[{over: node, every: 9 steps, pattern: gossip, events: poisson, delay: 1 step}]",
        "no island waits");
  fault("[{over: node, every: 9 steps, paths: [4, 4]}]", "with a product of 8 islands");
  fault("[{over: node, every: 9 steps, paths: [8]}]", "modules of the two halves");
  fault("[{over: node, pattern: none}, {over: site, every: 9 steps}]", "never exchange");
  fault("[{over: node, pattern: none, wait_for: all-but-1}]", "exchange nothing; leave it out");
  fault("[{over: node, every: 9 steps, pattern: gossip, events: poisson, wait_for: all-but-1}]",
        "no island waits");
  fault("[{over: node, every: 9 steps, parameters: dense}]", "the model has no experts");
  fault("[{over: site, every: 9 steps, paths: [2, 2]}]", "four islands, but there are 2");
  fault("[{over: node, every: 9 steps, growth: 0.1}]",
        "rates and growth need each other; state both");
}

TEST(ResolveSync, AFileOfRatesHasItsPlace) {
  const std::string level = "[{over: node, every: 4 steps, rates: rates.csv, growth: 0.02}]";
  const std::string folder = testing::TempDir() + "resolve_sync_test_rates";
  std::filesystem::create_directories(folder);
  const std::string file = folder + "/a.yaml";
  const auto fault = [&] { return error_of([&] { parse_case(text_of(level), file); }); };
  EXPECT_THAT(fault(), AllOf(HasSubstr("a.yaml:6:"), HasSubstr("sync.0.rates: "),
                             HasSubstr("rates.csv: cannot be read")));
  std::ofstream(folder + "/rates.csv") << "step,rate\n0,0.1\n";
  EXPECT_THAT(fault(), AllOf(HasSubstr("a.yaml:6:"), HasSubstr("needs at least two rows")));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace windtunnel
