#include "sim/study/plan/rollout_split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/study/simulate.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

ScenarioText scenario_of(const std::string& rollout) {
  return {
      .file = "split.yaml",
      .text = fmt::format(
          "name: split\nmodel: llama3-8b\ncluster: {{nodes: 4, node: dgx-h100}}\nlayout: {{tp: "
          "4, sharding: zero1, sequence_parallel: true}}\nbatch: {{global: 48, micro: 1, "
          "sequence: 8192}}\nrecompute: selective\nrollout: {{prompts: 64, samples: 8, "
          "prompt_length: 512, output: {{median: 2000, sigma: 0.8, longest: 7168}}, iterations: "
          "2, {}}}\n",
          rollout)};
}

// In one-step-off mode the slower pool limits the rate, so the best split makes both equally fast.
TEST(RolloutSplit, TheBestBeatsTheEvenSplit) {
  // With eight epochs and two passes the learner needs most of the nodes.
  const SplitSearch found =
      search_splits(scenario_of("nodes: 4, mode: one-step-off, epochs: 8, passes: 2"),
                    {.simulated = 2, .threads = 2});
  const RankedSplit& best = found.best.front();
  ASSERT_TRUE(best.record);
  ASSERT_TRUE(found.even && found.even->record);
  EXPECT_EQ(found.even->learner_nodes, 4);
  EXPECT_GT(best.best_known().samples_per_s, 1.1 * found.even->best_known().samples_per_s);
  EXPECT_GT(best.learner_nodes, 4);
  // The reported settings reproduce the result.
  const Record again = simulate(
      resolve_case(scenario_of("nodes: 4, mode: one-step-off, epochs: 8, passes: 2"), best.set));
  EXPECT_EQ(again.studies.find<RolloutReport>()->period_s,
            best.record->studies.find<RolloutReport>()->period_s);
}

TEST(RolloutSplit, MoreToWriteNeedsMoreEngines) {
  const SplitSearch found = search_splits(
      scenario_of("nodes: 4, mode: asynchronous, staleness: 4, engine: {sequences: 16}"),
      {.simulated = 0, .threads = 2});
  EXPECT_LT(found.best.front().learner_nodes, 4);
  EXPECT_GT(found.best.front().estimate.samples_per_s, found.even->estimate.samples_per_s);
  for (std::size_t i = 1; i < found.best.size(); ++i) {
    EXPECT_GE(found.best[i - 1].estimate.samples_per_s, found.best[i].estimate.samples_per_s);
  }
}

TEST(RolloutSplit, ThreadsDoNotMatter) {
  const ScenarioText scenario = scenario_of("nodes: 4");
  const SplitSearch one = search_splits(scenario, {.simulated = 0, .threads = 1});
  const SplitSearch two = search_splits(scenario, {.simulated = 0, .threads = 2});
  ASSERT_EQ(one.best.size(), two.best.size());
  for (std::size_t i = 0; i < one.best.size(); ++i) EXPECT_EQ(one.best[i].set, two.best[i].set);
}

TEST(RolloutSplit, ColocatedEnginesDifferInSizeAlone) {
  const SplitSearch found =
      search_splits(scenario_of("colocated: true"), {.simulated = 0, .threads = 2});
  for (const RankedSplit& each : found.best) EXPECT_EQ(each.learner_nodes, 4);
  EXPECT_GT(found.best.size(), 2u);
}

// The scenario gives engines one node, but an engine of 16 GPUs fills two.
TEST(RolloutSplit, SplitsOfMoreNodesHaveLargerEngines) {
  const SplitSearch found =
      search_splits(scenario_of("nodes: 1"), {.top = 100, .simulated = 0, .threads = 2});
  EXPECT_TRUE(std::ranges::any_of(found.best, [](const RankedSplit& split) {
    return split.engine_gpus == 16 && split.engine_nodes == 2;
  }));
}

TEST(RolloutSplit, NeedsEngines) {
  ScenarioText scenario = scenario_of("nodes: 4");
  scenario.text.resize(scenario.text.find("rollout:"));
  EXPECT_THAT(error_of([&] { search_splits(scenario, {}); }),
              HasSubstr("has no engines: add 'rollout: {...}'"));
}

}  // namespace
}  // namespace windtunnel
