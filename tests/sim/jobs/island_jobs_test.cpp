// Islands of replicas are combined with features that were built for jobs without islands. Each
// figure is compared with a closed form, or with that of an equivalent job without islands.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/results/rollout_report.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/record_invariants.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

Record run(const std::string& text, const Overrides& set = {}) {
  const Record record =
      simulate(parse_case(text, "islands.yaml", set), {.threads = 1, .allow_oom = true});
  EXPECT_EQ(broken_invariants(record), std::vector<std::string>{}) << text;
  return record;
}

// Each replica has one node.
std::string job_of(int nodes, const std::string& sync, const std::string& more = {},
                   const std::string& cluster = {}) {
  return "name: islands\n"
         "model: {layers: 4, hidden: 4096, heads: 32, vocabulary: 32000, sequence: 4096}\n"
         "software: {cuda_graphs: true}\n"
         "cluster: {nodes: " +
         std::to_string(nodes) + ", node: dgx-h100" + cluster +
         ", storage: {write: 10 GB/s, read: 10 GB/s}}\n"
         "layout: {tp: 8}\n"
         "batch: {global: " +
         std::to_string(16 * nodes) + ", micro: 2}\n" +
         (sync.empty() ? "" : "sync: [{over: node, " + sync + "}]\n") + more;
}

// What islands exchange does not depend on sequence lengths. Between exchanges an island takes as
// long as its own sequences need, not as the longest of all.
TEST(IslandJobs, UnequalLengthsDriftApart) {
  const std::string every = "every: 100 steps";
  const Record equal = run(job_of(4, every));
  const Record record = run(job_of(4, every), {{"batch.lengths", "{median: 1000, sigma: 0.8}"}});
  EXPECT_DOUBLE_EQ(record.iteration.sync[0].sent_bytes, equal.iteration.sync[0].sent_bytes);
  EXPECT_NEAR(record.iteration.sync[0].seconds.exchange_s,
              equal.iteration.sync[0].seconds.exchange_s,
              1e-6 * equal.iteration.sync[0].seconds.exchange_s);
  std::vector<double> ends_s = foreground_ends_s(record.plan, record.timeline, 0);
  const auto [least, most] = std::ranges::minmax(ends_s);
  EXPECT_GT(record.iteration.inner_step_s, least);
  EXPECT_LT(record.iteration.inner_step_s, most);
  // The wait grows with the root of the number of steps between exchanges.
  EXPECT_GT(record.iteration.sync[0].seconds.wait_s, 0);
  const Record longer =
      run(job_of(4, "every: 400 steps"), {{"batch.lengths", "{median: 1000, sigma: 0.8}"}});
  EXPECT_NEAR(longer.iteration.sync[0].seconds.wait_s / record.iteration.sync[0].seconds.wait_s, 2,
              0.05);
}

// If the slow island is left out, its steps are in vain, and 3 of 4 islands learn at the speed of
// the fast ones. If all wait, all are as slow. Islands that never wait run at their own speed.
TEST(IslandJobs, ASlowIslandIsLeftOutOrWaitedFor) {
  const std::string slow = ", slow_nodes: [{node: 2, slowdown: 1.5}]";
  const auto step_s = [&](const std::string& sync, const std::string& cluster) {
    return run(job_of(4, sync, "", cluster)).iteration.time_s;
  };
  const double calm_s = step_s("every: 10 steps", "");
  const double waited_s = step_s("every: 10 steps", slow);
  const double left_out_s = step_s("every: 10 steps, wait_for: all-but-1", slow);
  EXPECT_GT(waited_s, 1.2 * calm_s);
  // The kernels of an exchange that is waited for are as slow as the slow node's.
  EXPECT_NEAR(left_out_s, calm_s * 4 / 3, 1e-3 * calm_s);
  const double chosen_s = step_s("every: 10 steps, wait_for: dynamic", slow);
  EXPECT_NEAR(chosen_s, std::min(waited_s, left_out_s), 1e-9 * chosen_s);
  const double never_s = step_s("pattern: none", "");
  const double slow_s = step_s("every: 1000000 steps", slow);
  EXPECT_NEAR(step_s("pattern: none", slow), 4 / (3 / never_s + 1 / slow_s), 1e-3 * never_s);
}

constexpr const char* kCampaign =
    "snapshots: [{tier: host-memory, every: 20 iterations, mode: async, keeper: process}, {tier: "
    "storage, every: 10 min, mode: async}]\n"
    "failures: [{class: node, rate: 4000 per 1000 node-days, repair: 1 h}]\n"
    "recovery: {spares: 4, detect: 30 s, restart: 60 s}\n"
    "campaign: {length: 2 d, replicas: 4}\n";

// State that no other island has comes from copies, and training since the copy is lost.
TEST(IslandJobs, ExpertsOfAnIslandComeFromItsCopies) {
  const std::string experts = "{experts: 8, per_token: 2, ffn: 4096}";
  const auto report = [&](const std::string& parameters) {
    return *run(job_of(4, "every: 100 steps, parameters: " + parameters, kCampaign),
                {{"model.moe", experts}})
                .campaign;
  };
  const CampaignReport all = report("all");
  const CampaignReport dense = report("dense");
  EXPECT_GT(all.survival.at("other islands").mean, 0);
  EXPECT_EQ(dense.survival.at("other islands").mean, 0);
  EXPECT_LT(dense.goodput.mean, all.goodput.mean);
  EXPECT_GT(dense.goodput.mean, 0.3);
}

// Each half of the model has two modules, which four islands share, so a failed island finds both
// of its modules on others.
TEST(IslandJobs, ModulesOfPathsComeFromOtherIslands) {
  const CampaignReport report =
      *run(job_of(4, "every: 100 steps, paths: [2, 2]", kCampaign)).campaign;
  EXPECT_GT(report.survival.at("other islands").mean, 0);
  EXPECT_GT(report.goodput.mean, 0.3);
}

// Islands have two nodes: an island that lacks one continues with the other, where it would
// otherwise wait.
TEST(IslandJobs, AnIslandGoesOnInAnotherLayout) {
  const auto report = [](const std::string& then) {
    const std::string text = job_of(4, "", kCampaign);
    return *run(text, {{"layout.tp", "1"},
                       {"sync", "[{islands: 2, every: 20 steps}]"},
                       {"recovery.spares", "0"},
                       {"recovery.when_no_spare", then},
                       {"failures.0.rate", "1000 per 1000 node-days"}})
                .campaign;
  };
  const CampaignReport waits = report("wait");
  const CampaignReport goes_on = report("relayout");
  EXPECT_GT(goes_on.lost_s[static_cast<int>(Loss::degraded)].mean, 0);
  EXPECT_LT(goes_on.lost_s[static_cast<int>(Loss::wait)].mean,
            waits.lost_s[static_cast<int>(Loss::wait)].mean);
  EXPECT_GT(goes_on.goodput.mean, waits.goodput.mean);
}

// Islands that never exchange equal separate jobs.
TEST(IslandJobs, RedundancyIsThatOfEachIsland) {
  const std::string redundancy = "redundancy: {scheme: drop-slowest, stragglers: 1}\n";
  const std::string jitter = ", jitter: {exponential: 0.2}";
  const Record alone = run(job_of(2, "", redundancy, jitter));
  const Record islands =
      run(job_of(4, "", redundancy + "sync: [{islands: 2, pattern: none}]\n", jitter));
  EXPECT_NEAR(islands.iteration.time_s, alone.iteration.time_s, 1e-3 * alone.iteration.time_s);
  EXPECT_DOUBLE_EQ(islands.iteration.stragglers->missing, alone.iteration.stragglers->missing);
  EXPECT_DOUBLE_EQ(islands.iteration.stragglers->gradient_share,
                   alone.iteration.stragglers->gradient_share);
  // Between exchanges islands drift apart.
  const Record exchanging =
      run(job_of(4, "", redundancy + "sync: [{islands: 2, every: 100 steps}]\n", jitter));
  EXPECT_GT(exchanging.iteration.sync[0].seconds.wait_s, 0);
  EXPECT_GT(exchanging.iteration.time_s, islands.iteration.time_s);
}

// Each island has its share of the engines and the prompts, so its loop equals that of a single
// job.
TEST(IslandJobs, RolloutsAreThoseOfEachIsland) {
  const auto loop = [](int nodes, int prompts, const std::string& rest) {
    const Record record = run(job_of(
        nodes, "",
        "rollout: {prompts: " + std::to_string(prompts) + ", samples: 4, prompt_length: 256, " +
            "engine: {tp: 2}, iterations: 3, nodes: " + std::to_string(nodes) +
            ", output: {median: 500, sigma: 0, longest: 700}}\n" + rest));
    return *record.studies.find<RolloutReport>();
  };
  const RolloutReport alone = loop(1, 32, "");
  const RolloutReport islands = loop(2, 64, "sync: [{over: node, pattern: none}]\n");
  EXPECT_EQ(islands.engines, 2 * alone.engines);
  EXPECT_EQ(islands.gpus, 2 * alone.gpus);
  EXPECT_NEAR(islands.generation_s, alone.generation_s, 1e-9 * alone.generation_s);
  EXPECT_NEAR(islands.period_s, alone.period_s, 1e-3 * alone.period_s);
  EXPECT_NEAR(islands.samples_per_s, 2 * alone.samples_per_s, 1e-3 * islands.samples_per_s);
}

}  // namespace
}  // namespace windtunnel
