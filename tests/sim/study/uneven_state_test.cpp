// Shares of the training state may be uneven. If replicas compute alike, engine and closed form
// give the same step, and even shares stated as a list change nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "models/base/random.hpp"
#include "models/plan/state_shares.hpp"
#include "policies/analysis/plan_bound.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/simulate.hpp"
#include "tests/sim/study/random_layout.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/pool_job.hpp"

namespace windtunnel {
namespace {

// Both pools have the same kind of node, so that only shares differ.
Job equal_pools() {
  Job job = pool_job(PoolAxis::dp);
  job.cluster.pools[1].node = job.cluster.pools[0].node;
  job.cluster.node = job.cluster.shared = shared_node(job.cluster.pools);
  return job;
}

TEST(UnevenState, TakesAsLongAsInClosedForm) {
  double longest = 0;
  for (int draw = 0; draw < 200; ++draw) {
    RandomStream random(5, RandomPurpose::test, draw);
    Job job = equal_pools();
    job.layout.sharding = static_cast<Sharding>(1 + random.below(3));
    job.communication.overlap =
        random.uniform() < 0.5 ? GradientOverlap::none : GradientOverlap::bucketed;
    job.communication.fidelity = Fidelity::closed;
    const double even_s = iteration_step_s(job, prepare_iteration(job));
    job.layout.state_of_pool = {0.05 + random.uniform(), 0.05 + random.uniform()};
    const PreparedIteration prepared = prepare_iteration(job);
    const double closed_s = iteration_step_s(job, prepared);
    const Execution run = run_iteration(job, prepared, {});
    EXPECT_NEAR(run.timeline.makespan_s / closed_s, 1, 1e-6)
        << name_of(job.layout.sharding) << " " << name_of(job.communication.overlap);
    EXPECT_GE(closed_s, even_s);
    longest = std::max(longest, closed_s / even_s);
  }
  EXPECT_GT(longest, 1.01);
}

// Flows carry at least the uneven parts, which on the busiest link are more than even ones.
TEST(UnevenState, FlowsTakeTheTimeOfTheBusiestLink) {
  Job job = equal_pools();
  job.layout.pp = 1;
  job.layout.dp = 8;
  job.layout.sharding = Sharding::zero1;
  job.communication.fidelity = Fidelity::flows;
  const auto step_s = [&](Fidelity fidelity) {
    job.communication.fidelity = fidelity;
    return run_iteration(job, prepare_iteration(job), {}).timeline.makespan_s;
  };
  job.layout.state_of_pool = {3, 1};
  const double flows_s = step_s(Fidelity::flows);
  EXPECT_NEAR(flows_s / step_s(Fidelity::closed), 1, 1e-6);
  job.layout.state_of_pool.clear();
  EXPECT_GT(flows_s, step_s(Fidelity::flows));
}

// The properties of random jobs (inner_collectives_test.cpp) hold for uneven shares, too.
TEST(UnevenState, IsDrawnInRandomJobs) {
  int uneven = 0;
  int all = 0;
  for (int number = 0; number < 1000; ++number) {
    const auto drawn = random_layout_case(number, InnerSpread::anywhere);
    all += drawn ? 1 : 0;
    uneven += drawn && uneven_state(drawn->job) ? 1 : 0;
  }
  EXPECT_GT(uneven, 3);
  std::cout << uneven << " of " << all << " random jobs have uneven shares\n";
}

std::string scenario(const std::string& layout, const std::string& rest = {}) {
  return fmt::format(
      "name: a\nmodel: {{layers: 12, hidden: 2048, heads: 16, vocabulary: 32000, sequence: 1024}}\n"
      "cluster: {{pools: [{{name: new, nodes: 2, node: dgx-h100}}, {{name: old, nodes: 2, node: "
      "dgx-a100}}]}}\nlayout: {{{}}}\nbatch: {{global: 64}}\n{}",
      layout, rest);
}

std::string fault_of(const std::string& layout, const std::string& rest = {}) {
  return error_of([&] { parse_case(scenario(layout, rest), "a.yaml"); });
}

constexpr const char* kShared = "tp: 2, sharding: zero3, place: {dp: [new, old]}";

TEST(UnevenState, EvenSharesAreNone) {
  const auto step_s = [](const std::string& shares) {
    const std::string more = shares.empty() ? "" : ", shard_shares: " + shares;
    return simulate(parse_case(scenario(kShared + more), "a.yaml")).iteration.time_s;
  };
  const double none_s = step_s("");
  EXPECT_EQ(step_s("even"), none_s);
  EXPECT_EQ(step_s("[0.3, 0.3]"), none_s);
  EXPECT_EQ(step_s("auto"), none_s) << "it fits";
  EXPECT_NE(step_s("[3, 1]"), none_s);
}

TEST(UnevenState, IsToldInANote) {
  const Record record =
      simulate(parse_case(scenario(std::string(kShared) + ", shard_shares: [3, 1]"), "a.yaml"));
  const auto note = std::ranges::find(record.notes, "layout.shard_shares", &Note::key);
  ASSERT_NE(note, record.notes.end());
  EXPECT_EQ(note->figures, "new 1.5, old 0.5");
}

TEST(UnevenState, IsRefusedWhereNothingIsShared) {
  const std::string two = ", shard_shares: [3, 1]";
  const auto expect = [](const std::string& fault, const std::string& part) {
    EXPECT_TRUE(fault.starts_with("a.yaml:")) << fault;
    EXPECT_NE(fault.find(part), std::string::npos) << fault;
  };
  expect(fault_of("tp: 8, place: {dp: [new, old]}" + two), "layout.sharding is none");
  expect(fault_of("tp: 8, pp: 2, sharding: zero1" + two), "are all on the same pool");
  expect(fault_of(std::string(kShared) + ", shard_shares: [1, 2, 3]"),
         "lists 3 shares for 2 pools");
  expect(fault_of(std::string(kShared) + ", shard_ranks: 8" + two), "have the same size");
  expect(fault_of(std::string(kShared) + ", weight_bits: 8" + two), "have the same size");
  expect(fault_of(std::string(kShared) + ", shard_shares: [0, 1]"), "layout.shard_shares.0");
  expect(fault_of(std::string(kShared) + two, "communication: {compressor: fp8}\n"),
         "leave out communication.compressor");
  const std::string pat = "communication: {collectives: {all_gather: {algorithm: pat}}}\n";
  expect(error_of([&] { simulate(parse_case(scenario(kShared + two, pat), "a.yaml")); }),
         "one by one; take ring");
  std::string alike = scenario(kShared + two);
  const auto from = alike.find("pools:");
  alike.replace(from, alike.find("}\nlayout") - from, "nodes: 4, node: dgx-h100");
  const auto place = alike.find(", place: {dp: [new, old]}");
  alike.replace(place, 25, "");
  expect(error_of([&] { parse_case(alike, "a.yaml"); }), "all nodes are alike");
}

}  // namespace
}  // namespace windtunnel
