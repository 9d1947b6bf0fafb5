#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "models/results/fused_report.hpp"
#include "models/volunteers/volunteers.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

std::string swarm_text(const std::string& rest, const std::string& layout = "pp: 4") {
  return fmt::format(
      "name: a\nmodel: {{layers: 12, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 512}}\n"
      "cluster: {{nodes: 4, node: {{base: aws-g4dn, gpus: 1}}}}\nlayout: {{{}}}\n"
      "precision: fp16\nbatch: {{global: 16}}\n{}\n",
      layout, rest);
}

std::string volunteers_of(const std::string& peer, const std::string& rest = "") {
  return fmt::format(
      "volunteers: {{peers: [{{name: t4, count: 8, up: 1 MB/s, down: 2 MB/s{}}}]{}}}", peer, rest);
}

Case swarm_case(const std::string& rest, const std::string& file = "a.yaml") {
  return parse_case(swarm_text(rest), file);
}

std::string swarm_refusal(const std::string& rest, const std::string& layout = "pp: 4") {
  return error_of([&] { parse_case(swarm_text(rest, layout), "a.yaml"); });
}

TEST(ResolveVolunteers, NobodyIsAskedForWithoutTheKey) {
  EXPECT_FALSE(swarm_case("").asked.has<Volunteers>());
  EXPECT_FALSE(swarm_case("").asked.has<FusedJobs>());
}

TEST(ResolveVolunteers, PeersHaveWhatIsStatedAndTheDefaults) {
  const Case read = swarm_case(volunteers_of(", speed: 0.5, latency: 30 ms, leave: 0.36 per hour",
                                             ", rebalance: 60 s, joiners: random, takeover: 5 s"));
  const Volunteers& own = *read.asked.find<Volunteers>();
  ASSERT_EQ(own.peers.size(), 1U);
  EXPECT_EQ(own.peers[0].name, "t4");
  EXPECT_EQ(own.peers[0].count, 8);
  EXPECT_EQ(own.peers[0].speed, 0.5);
  EXPECT_EQ(own.peers[0].up_Bps, 1e6);
  EXPECT_EQ(own.peers[0].down_Bps, 2e6);
  EXPECT_EQ(own.peers[0].latency_s, 0.03);
  EXPECT_DOUBLE_EQ(own.peers[0].leave_per_s, 1e-4);
  EXPECT_EQ(own.peers[0].join_per_s, 0);
  EXPECT_EQ(own.rebalance_s, 60);
  EXPECT_EQ(own.joiners, Joiners::random);
  EXPECT_EQ(own.move_s, 5);
  EXPECT_FALSE(own.calls);
  const Case usual = swarm_case(volunteers_of(""));
  EXPECT_LT(usual.asked.find<Volunteers>()->move_s, 0);
  EXPECT_EQ(usual.asked.find<Volunteers>()->rebalance_s, 300);
}

TEST(ResolveVolunteers, ATraceIsOfAFileBesideTheScenario) {
  const std::string folder = ::testing::TempDir() + "resolve_volunteers_test";
  std::filesystem::create_directories(folder);
  const std::string scenario = folder + "/a.yaml";
  const auto write = [&](const char* text) { std::ofstream(folder + "/peers.csv") << text; };
  const std::string rest = volunteers_of("", ", trace: peers.csv");
  write("time_s,peers\n0,8\n60,5\n");
  const Case first = swarm_case(rest, scenario);
  ASSERT_EQ(first.asked.find<Volunteers>()->trace.size(), 2U);
  EXPECT_EQ(first.asked.find<Volunteers>()->trace[1].at_s, 60);
  EXPECT_EQ(first.asked.find<Volunteers>()->trace[1].peers, 5);
  write("time_s,peers\n0,8\n60,6\n");
  const Case second = swarm_case(rest, scenario);
  EXPECT_NE(second.key, first.key);  // the file's content differs
  EXPECT_EQ(second.table, first.table);
  const auto fault = [&] { return error_of([&] { swarm_case(rest, scenario); }); };
  write("time_s,peers\n60,8\n0,5\n");
  EXPECT_THAT(fault(), HasSubstr("must be at least 0 and at least that of the row above"));
  write("time_s,peers\n60,-8\n");
  EXPECT_THAT(fault(), HasSubstr("a number from 0 to"));
  write("time_s,peers\n");
  EXPECT_THAT(fault(), HasSubstr("has no rows"));
  std::filesystem::remove_all(folder);
  EXPECT_THAT(swarm_refusal(volunteers_of(", leave: 1 per hour", ", trace: peers.csv")),
              HasSubstr("peers.csv"));
}

TEST(ResolveVolunteers, WhatDoesNotGoTogetherIsRefusedWithItsPlace) {
  EXPECT_THAT(swarm_refusal("volunteers: {trials: 3}"), HasSubstr("has no 'peers'"));
  EXPECT_THAT(swarm_refusal(volunteers_of(", speed: 0")), HasSubstr("no peer computes"));
  EXPECT_THAT(swarm_refusal("volunteers: {peers: [{name: a, count: 1, up: 1 MB/s, down: 1 MB/s}, "
                            "{name: a, count: 1, up: 1 MB/s, down: 1 MB/s}]}"),
              HasSubstr("volunteers.peers.1.name: there is already a kind of that name"));
  EXPECT_THAT(swarm_refusal(volunteers_of("", ", calls: {trainers: 4, experts: 2, answers: 3}")),
              HasSubstr("volunteers.calls.answers: is more than the 2 experts that are called"));
  EXPECT_THAT(swarm_refusal(volunteers_of("", ", length: 0 s")),
              HasSubstr("volunteers.length: must be above 0"));
}

TEST(ResolveVolunteers, JobsOfOneGpuAreFused) {
  const std::string one =
      "name: a\nmodel: resnet-50\ncluster: {nodes: 1, node: {base: aws-g4dn, gpus: 1}}\n"
      "precision: fp16\nbatch: {global: 8, micro: 8}\nfuse: 6\n";
  EXPECT_EQ(parse_case(one, "a.yaml").asked.find<FusedJobs>()->most, 6);
  for (const auto& [key, value] :
       {std::pair<std::string, std::string>{"cluster.slow_nodes", "[{node: 0, slowdown: 2}]"},
        {"cluster.jitter", "{sigma: 0.1}"}}) {
    const Overrides set = {{key, value}};
    EXPECT_THAT(
        error_of([&] { parse_case(one, "a.yaml", set); }),
        HasSubstr("a.yaml:6:7: fuse: fused jobs are modelled only on GPUs of constant speed"));
  }
  EXPECT_THAT(swarm_refusal("fuse: 6"),
              HasSubstr("fuse: fuses jobs of one GPU each, but this one uses 4"));
}

}  // namespace
}  // namespace windtunnel
