#include "sim/study/optimise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "models/cost/memory/memory.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "tests/sim/study/random_scenario.hpp"

namespace windtunnel {
namespace {

// A search treats each layout, recomputation and schedule as `run` does in the same software:
// sequence parallelism that hides tensor parallelism, graphs without a pipeline, sends that block
// only in some schedules, recomputed layers without context parallelism.
TEST(Optimise, EstimatesAreOfTheScenarioThatTheyAreNamedBy) {
  struct Named {
    const char* software;
    const char* node;
    const char* layout;
    const char* more = "";
  };
  for (const auto& [software, node, layout, more] :
       {Named{"megatron-core", "dgx-h100", "{tp: 1, pp: 1}"},
        Named{"megatron-bridge-26.06", "dgx-h100", "{tp: 1, pp: 1}"},
        Named{"megatron-lm-2023", "dgx-h100", "{tp: 1, pp: 1}"},
        Named{"mlperf-amd", "mi300x", "{tp: 1, pp: 1}"},
        Named{"mlperf-amd", "mi300x", "{tp: 1, pp: 1}", "recompute: {modules: [core_attn]}\n"},
        // The software makes candidates with cp 1 and 2.
        Named{"mlperf-amd", "mi300x", "{tp: 1, pp: 1, cp: 2}"}}) {
    for (const char* model : {"llama3-8b", "mixtral-8x7b"}) {
      const ScenarioText scenario = {
          .file = "t.yaml",
          .text = "name: t\nmodel: " + std::string(model) + "\ncluster: {nodes: 4, node: " + node +
                  "}\nlayout: " + layout +
                  "\nbatch: {global: 64, micro: 1, sequence: 4096}\nprecision: bf16\nsoftware: " +
                  software + "\n" + more};
      const Optimisation found =
          optimise(scenario, {{}},
                   {.layout = true, .schedule = true, .top = 12, .simulated = 0, .threads = 2});
      ASSERT_FALSE(found.best.empty());
      for (const RankedConfiguration& at : found.best) {
        std::string set;
        for (const auto& [key, value] : at.set) set += key + "=" + value + " ";
        SCOPED_TRACE(std::string(software) + " from " + layout + ", " + model + ": " + set);
        const Case named = resolve_case(scenario, at.set);
        EXPECT_DOUBLE_EQ(at.estimated_s, iteration_step_s(named.job, *named.prepared));
        EXPECT_DOUBLE_EQ(at.memory_bytes, fullest_bytes(named.prepared->memory));
      }
    }
  }
}

// 31 layers cannot be divided and three sequences need tp 8, whose overlap needs sequence
// parallelism: the start of the search has to have it, although neither the scenario nor its
// software says so.
TEST(Optimise, AStartHasTheSequenceParallelismThatItsOverlapNeeds) {
  const ScenarioText scenario = {
      .file = "t.yaml",
      .text =
          "name: t\nmodel: {base: llama3-8b, layers: 31}\n"
          "cluster: {nodes: 3, node: dgx-h100}\nlayout: {tp: 8, pp: 1}\n"
          "batch: {global: 3, micro: 1, sequence: 8192}\nprecision: bf16\n"
          "software: {base: megatron, tp_overlap: pipelined}\n"};
  EXPECT_THROW(resolve_case(scenario), Error);
  const Optimisation found =
      optimise(scenario, {{}}, {.layout = true, .schedule = true, .simulated = 0, .threads = 2});
  ASSERT_FALSE(found.best.empty());
  const Layout& layout = resolve_case(scenario, found.best.front().set).job.layout;
  EXPECT_EQ(layout.tp, 8);
  EXPECT_TRUE(layout.sequence_parallel);
}

// The search may refuse a schedule by this bound, without making its Plan.
TEST(Optimise, NoBoundOfAStepIsAboveIt) {
  constexpr std::uint64_t kScenarios = 600;
  int bounds = 0;
  double nearest = 0;
  for (std::uint64_t number = 0; number < kScenarios; ++number) {
    const std::optional<Case> drawn = random_case(number);
    if (!drawn) continue;
    SCOPED_TRACE(number);
    const PreparedIteration prepared = prepare_iteration(drawn->job);
    const double step_s = iteration_step_s(drawn->job, prepared);
    double least_s = 0;
    const auto note = [&](double known_s) {
      least_s = std::max(least_s, known_s);
      return false;
    };
    EXPECT_EQ(iteration_step_s_unless(note, drawn->job, prepared), step_s);
    EXPECT_LE(least_s, step_s);
    if (least_s > 0) ++bounds;
    nearest = std::max(nearest, least_s / step_s);
  }
  EXPECT_GT(bounds, 20);
  EXPECT_GT(nearest, 0.999);
}

// Returns the largest lower bound of the step as a share of the step, or 0 if there is none.
double largest_bound(const Case& drawn) {
  const double step_s = iteration_step_s(drawn.job, *drawn.prepared);
  double largest = 0;
  const auto note = [&](double least_s) {
    largest = std::max(largest, least_s / step_s);
    return false;
  };
  EXPECT_EQ(iteration_step_s_unless(note, drawn.job, *drawn.prepared), step_s);
  return largest;
}

// Packs use the mean of drawn steps, which may be shorter than the passes without jitter.
TEST(Optimise, PacksThatJitterHaveNoBoundAboveTheirStep) {
  for (int seed = 1; seed <= 20; ++seed) {
    const Case drawn = parse_case(
        fmt::format("name: t\nmodel: llama3.2-1b\ncluster: {{nodes: 1, node: {{base: dgx-h100, "
                    "gpus: 1, nics: 1}}, jitter: {{sigma: 0.2, seed: {}}}}}\nlayout: {{tp: 1}}\n"
                    "batch: {{global: 8, micro: 1, sequence: 4096, "
                    "lengths: {{median: 1000, sigma: 0.8}}}}\nprecision: bf16\n",
                    seed),
        "t.yaml");
    EXPECT_LE(largest_bound(drawn), 1) << seed;
  }
}

// Gradients of dense weights and of experts go to servers at the same time: some stages of a rank
// have more of one, some of the other.
TEST(Optimise, TwoChannelsHaveNoBoundAboveTheStep) {
  for (const int dense : {1, 2, 4}) {
    for (const int ffn : {1024, 4096, 16384}) {
      const Case drawn = parse_case(
          fmt::format("name: t\nmodel: {{layers: 8, hidden: 4096, heads: 32, ffn: 14336, "
                      "vocabulary: 8000, moe: {{experts: 8, per_token: 2, ffn: {}, "
                      "dense_layers: {}}}}}\ncluster: {{nodes: 8, node: {{base: dgx-h100, "
                      "nvlink: 60 GB/s}}}}\n"
                      "layout: {{tp: 1, pp: 4, vpp: 2, ep: 2}}\n"
                      "batch: {{global: 64, micro: 1, sequence: 512}}\n"
                      "schedule: interleaved-1f1b\nprecision: bf16\n"
                      "communication: {{aggregation: parameter-server, overlap: none}}\n",
                      ffn, dense),
          "t.yaml");
      EXPECT_LE(largest_bound(drawn), 1) << ffn << " " << dense;
      EXPECT_GT(largest_bound(drawn), 0.5) << ffn << " " << dense;
    }
  }
}

// A conflict with all schedules is reported once, for the layout.
TEST(Optimise, ConflictsOfALayoutAreToldOfTheLayout) {
  const ScenarioText scenario = {
      .file = "t.yaml",
      .text =
          "name: t\nmodel: llama3-8b\ncluster: {nodes: 1, node: dgx-h100}\n"
          "layout: {tp: 1, pp: 1}\nbatch: {global: 64, micro: 1, sequence: 4096}\n"
          "precision: bf16\nrecompute: full\nsoftware: {mlp_tiles: 4}\n"};
  const Optimisation found =
      optimise(scenario, {{}}, {.layout = true, .top = 4, .simulated = 0, .threads = 2});
  const auto told = found.infeasible.find("layout, model and cluster do not go together");
  ASSERT_NE(told, found.infeasible.end());
  EXPECT_NE(told->second.example.find("mlp_tiles"), std::string::npos) << told->second.example;
  EXPECT_FALSE(found.infeasible.contains("the schedule does not support this pipeline"));
}

// Campaigns that rank configurations have other failures than those whose goodput is reported.
TEST(Optimise, GoodputIsToldUnderOtherFailures) {
  const ScenarioText scenario = {
      .file = "t.yaml",
      .text =
          "name: t\nmodel: llama3-8b\ncluster: {nodes: 4, node: dgx-h100, storage: {write: 20 "
          "GB/s, read: 40 GB/s}}\nlayout: {tp: 2, pp: 1}\nbatch: {global: 64, micro: 1, "
          "sequence: 4096}\nprecision: bf16\nsnapshots: [{tier: storage, every: 1 h}]\n"
          "failures: [{class: node, rate: 100 per 1000 node-days, repair: 4 h}]\n"
          "campaign: {length: 10 d, replicas: 3}\n"};
  const Optimisation found =
      optimise(scenario, {{}}, {.layout = true, .aim = Aim::goodput, .top = 3, .threads = 2});
  ASSERT_EQ(found.best.size(), 3U);
  double last = 1e300;
  for (const RankedConfiguration& at : found.best) {
    ASSERT_TRUE(at.record && at.chosen_by) << at.failure;
    EXPECT_NE(at.chosen_by->trial_goodput, at.record->campaign->trial_goodput);
    EXPECT_EQ(simulate(resolve_case(scenario, at.set)).campaign->goodput,
              at.record->campaign->goodput);
    const double progress = at.chosen_by->goodput.mean * at.record->iteration.tokens_per_s;
    EXPECT_LE(progress, last);
    last = progress;
  }
}

}  // namespace
}  // namespace windtunnel
