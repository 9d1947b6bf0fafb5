#include "sim/study/iterations/relaid_jobs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "models/base/random.hpp"
#include "models/cost/snapshot/restore_cost.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/campaign/campaign.hpp"
#include "sim/study/iterations/iteration_table.hpp"
#include "sim/study/iterations/pool_state.hpp"
#include "sim/study/iterations/smaller_jobs.hpp"
#include "sim/study/simulate.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

using testing::HasSubstr;

std::string scenario(const std::string& model, const std::string& cluster,
                     const std::string& layout, const std::string& batch,
                     const std::string& relayout) {
  return "name: a\nmodel: " + model + "\ncluster: {" + cluster +
         ", storage: {write: 20 GB/s, read: 50 GB/s}}\nlayout: {" + layout + "}\nbatch: {" + batch +
         "}\nprecision: bf16\nrecompute: full\n"
         "snapshots: [{tier: storage, every: 10 min}]\n"
         "failures: [{class: node, rate: 9000 per 1000 node-days, repair: 4 h}]\n"
         "recovery: {when_no_spare: relayout, relayout: " +
         relayout +
         "}\n"
         "campaign: {length: 1 d, replicas: 4}\n";
}

// TP, PP and DP are 2, so a node holds one stage of one replica.
const char* const kLlama = "nodes: 4, node: {base: dgx-h100, gpus: 2}";
Job llama(const std::string& relayout) {
  return parse_case(scenario("llama2-7b", kLlama, "tp: 2, pp: 2, dp: 2, sharding: zero1",
                             "global: 64, micro: 1, sequence: 2048", relayout),
                    "a.yaml")
      .job;
}

// These are the cases of Universal Checkpointing (arXiv 2406.18820); the last one keeps its GPUs.
TEST(RelaidJobs, PublishedCasesCanBeSimulated) {
  for (const RelayoutSize size : {RelayoutSize{2, 1, 2}, RelayoutSize{2, 2, 1}}) {
    const Job other = relaid(llama("any"), size);
    EXPECT_EQ(other.layout.ranks(), 4);
    EXPECT_EQ(other.cluster.nodes, 2);
    EXPECT_GT(iteration_step_s(other, prepare_iteration(other)), 0);
  }
  const Job bloom =
      parse_case(scenario("bloom-176b", "nodes: 48, node: dgx-a100",
                          // 70 layers; the end stages also hold the embedding
                          "tp: 2, pp: 24, dp: 8, sharding: zero1, stages: {first: -1, last: -1}",
                          "global: 512, micro: 1, sequence: 2048", "[{dp: 4}]"),
                 "a.yaml")
          .job;
  const std::vector<RelaidJob> half = relaid_jobs(bloom);
  ASSERT_EQ(half.size(), 1);
  EXPECT_EQ(half[0].nodes, 24);
  // Each pipeline has twice the micro-batches, while fill and drain take no longer.
  const double whole_s = iteration_step_s(bloom, prepare_iteration(bloom));
  EXPECT_GT(half[0].closed_s, 1.5 * whole_s);
  EXPECT_LT(half[0].closed_s, 2.0 * whole_s);
  const Job mixtral =
      parse_case(scenario("mixtral-8x7b", "nodes: 2, node: {base: dgx-h100, gpus: 4}",
                          "tp: 1, pp: 2, dp: 4, ep: 4, sharding: zero1, sequence_parallel: true",
                          "global: 64, micro: 1, sequence: 2048", "any"),
                 "a.yaml")
          .job;
  const Job other = relaid(mixtral, {2, 2, 2});
  EXPECT_EQ(other.layout.ranks(), 8);
  EXPECT_EQ(other.cluster.nodes, 2);
  EXPECT_GT(iteration_step_s(other, prepare_iteration(other)), 0);
}

TEST(RelaidJobs, AnyIsTheFastestOfAsManyNodes) {
  const Job job = llama("any");
  const std::vector<RelaidJob> jobs = relaid_jobs(job);
  ASSERT_FALSE(jobs.empty());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_LT(jobs[i].nodes, 4);
    EXPECT_LE(jobs[i].job.layout.ranks(), 2 * jobs[i].nodes);
    if (i == 0) continue;
    EXPECT_GT(jobs[i].nodes, jobs[i - 1].nodes);
    EXPECT_LT(jobs[i].closed_s, jobs[i - 1].closed_s);
  }
  // No stated layout is faster.
  for (const RelayoutSize size : {RelayoutSize{2, 1, 2}, RelayoutSize{2, 2, 1}}) {
    const Job other = relaid(job, size);
    EXPECT_GE(iteration_step_s(other, prepare_iteration(other)), jobs.back().closed_s * (1 - 1e-9));
  }
}

// Conversion reads the whole state and writes it once; a copy that any layout can load needs none.
TEST(RelaidJobs, ConversionReadsAndWritesTheStateOnce) {
  Job job = llama("any");
  const PreparedIteration prepared = prepare_iteration(job);
  const PoolState all = state_of_all(job, prepared);
  // A parameter takes 14 bytes: weights in bf16, and again in fp32 with both moments.
  EXPECT_NEAR(all.state.all_bytes / (14 * 6.738e9), 1, 0.01);
  job.calibration.storage_efficiency.value = 1;
  const auto convert = [&] { return restore_times(job, job.snapshots[0], {all}, all).convert_s; };
  EXPECT_NEAR(convert(), all.state.all_bytes / 50e9 + all.state.all_bytes / 20e9, 1e-9);
  job.snapshots[0].any_layout = true;
  EXPECT_EQ(convert(), 0);
}

// Shards over all replicas, whatever is sharded, span all replicas in every layout.
TEST(RelaidJobs, ShardsOverAllReplicasStayWhole) {
  for (const char* shards : {"shard_ranks: 8", "weight_ranks: 8", "gradient_ranks: 8",
                             "shard_ranks: 8, weight_ranks: 8, gradient_ranks: 8"}) {
    const Job job = parse_case(scenario("llama2-7b", kLlama,
                                        "tp: 1, dp: 8, sharding: zero3, " + std::string(shards),
                                        "global: 64, micro: 1, sequence: 2048", "[{dp: 4}]"),
                               "a.yaml")
                        .job;
    const std::vector<RelaidJob> jobs = relaid_jobs(job);
    ASSERT_EQ(jobs.size(), 1) << shards;
    EXPECT_EQ(shard_ranks(jobs[0].job.layout).optimizer, 4) << shards;
    EXPECT_EQ(shard_ranks(jobs[0].job.layout).weights, 4) << shards;
    EXPECT_EQ(shard_ranks(jobs[0].job.layout).gradients, 4) << shards;
    EXPECT_EQ(shard_ranks(shrunk(job, 4).layout).weights, 4) << shards;
  }
}

TEST(RelaidJobs, WhatCannotBeSaysWhy) {
  EXPECT_THAT(error_of([] { relaid_jobs(llama("[{dp: 1, tp: 3}]")); }),
              HasSubstr("recovery.relayout.0"));
  EXPECT_THAT(error_of([] { llama("[{tp: 2}]"); }),
              HasSubstr("not on fewer nodes than the job's 4"));
}

// Without spares the job continues more slowly in the other layout, where it would otherwise wait.
TEST(RelaidJobs, CampaignGoesOnInAnotherLayout) {
  const auto report = [](const std::string& relayout, const char* then) {
    Overrides set = {{"recovery.when_no_spare", then}};
    return *simulate(
                parse_case(scenario("llama2-7b", kLlama, "tp: 2, pp: 2, dp: 2, sharding: zero1",
                                    "global: 64, micro: 1, sequence: 2048", relayout),
                           "a.yaml", set))
                .campaign;
  };
  const CampaignReport waits = report("any", "wait");
  const CampaignReport goes_on = report("[{tp: 2, pp: 1, dp: 2}]", "relayout");
  EXPECT_EQ(goes_on.most_out, 2);
  ASSERT_EQ(goes_on.relaid.size(), 1);
  EXPECT_EQ(goes_on.relaid[0], (RelaidLayout{2, 2, 1, 2, goes_on.relaid[0].step_s}));
  EXPECT_GT(goes_on.relaid[0].step_s, 0);
  EXPECT_TRUE(waits.relaid.empty());
  EXPECT_GT(goes_on.lost_s[static_cast<int>(Loss::degraded)].mean, 0);
  EXPECT_LT(goes_on.lost_s[static_cast<int>(Loss::wait)].mean,
            waits.lost_s[static_cast<int>(Loss::wait)].mean);
  EXPECT_GT(goes_on.goodput.mean, waits.goodput.mean);
}

// 72 replicas, which are not a power of two times the job's number, share the same batch on 9 of 12
// nodes.
TEST(RelaidJobs, AnyHasEveryNumberOfReplicasThatDividesTheBatch) {
  const Job job = parse_case(scenario("llama2-7b", "nodes: 12, node: dgx-h100",
                                      "tp: 1, dp: 96, sharding: zero3",
                                      "global: 288, micro: 1, sequence: 2048", "any"),
                             "a.yaml")
                      .job;
  std::set<int> replicas;
  for (const RelaidJob& each : relaid_jobs(job)) replicas.insert(each.job.layout.dp);
  EXPECT_TRUE(replicas.contains(72));
}

struct Drawn {
  std::string text;  // a campaign whose `recovery` is not yet stated
  std::string listed;
};

// Returns a job of 3 to 12 small nodes that fail often and are out for minutes or a day; storage
// ranges from too slow to fast.
Drawn random_campaign(RandomStream& random) {
  const auto one_of = [&](const std::vector<std::string>& all) {
    return all[random.below(all.size())];
  };
  const int gpus = 1 << (1 + random.below(3));
  const int nodes = 3 + static_cast<int>(random.below(10));
  int tp = 1 << random.below(3);
  int pp = 1 << random.below(3);
  if (gpus % tp != 0) tp = 1;
  if (gpus * nodes % (tp * pp) != 0) pp = 1;
  const int dp = gpus * nodes / tp / pp;
  const int half = std::max(1, dp / 2);
  const std::string sharding = pp > 1 ? one_of({"none", "zero1"}) : one_of({"zero1", "zero3"});
  return {
      fmt::format(
          "name: a\nmodel: {{layers: 12, hidden: 2048, heads: 16, vocabulary: 32000, sequence: "
          "2048}}\n"
          "cluster: {{nodes: {}, node: {{base: {}, gpus: {}, nics: {}}}, storage: {{write: {}, "
          "read: "
          "{}}}}}\nlayout: {{tp: {}, pp: {}, dp: {}, sharding: {}}}\n"
          "batch: {{global: {}, micro: 1}}\nprecision: bf16\nrecompute: full\n"
          "snapshots: [{{tier: storage, every: {}}}]\n"
          "failures: [{{class: node, rate: {} per 1000 node-days, repair: {}}}]\n"
          "campaign: {{length: 20 d, replicas: 8}}\n",
          nodes, one_of({"dgx-h100", "dgx-a100"}), gpus, gpus,
          one_of({"0.2 GB/s", "1 GB/s", "20 GB/s"}), one_of({"0.5 GB/s", "50 GB/s"}), tp, pp, dp,
          sharding, dp * (4 + 2 * static_cast<int>(random.below(3))), one_of({"10 min", "1 h"}),
          one_of({"300", "2000", "9000"}), one_of({"20 min", "4 h", "1 d"})),
      half < dp && dp % half == 0 && tp * pp * half % gpus == 0
          ? fmt::format("[{{tp: {}, pp: {}, dp: {}}}]", tp, pp, half)
          : ""};
}

class AnyLayout : public testing::TestWithParam<int> {};

// The policy may do what `shrink` and `wait` do, and chooses what progresses furthest under a set
// of failures; under these it never loses to them. The cost of moving to a list of layouts depends
// on the list, so the policy may lose to a stated list, but only by chance.
TEST_P(AnyLayout, NeverLosesToWhatItMayChoose) {
  for (int i = 0; i < 10; ++i) {
    RandomStream random(4, RandomPurpose::test, 10 * GetParam() + i);
    const Drawn drawn = random_campaign(random);
    const auto goodputs = [&](const std::string& recovery) {
      const std::string text = drawn.text + "recovery: {" + recovery + "}\n";
      const Case the_case = parse_case(text, "a.yaml");
      MeasuredIteration measured = measure_iteration(the_case, {.allow_oom = true});
      const CampaignInputs inputs = campaign_inputs(the_case.job, std::move(measured.table));
      return run_campaign(to_choose_by(inputs)).trial_goodput;
    };
    const std::vector<double> any = goodputs("when_no_spare: relayout, relayout: any");
    std::vector<std::string> others = {"when_no_spare: shrink", "when_no_spare: wait"};
    if (!drawn.listed.empty()) {
      others.push_back("when_no_spare: relayout, relayout: " + drawn.listed);
    }
    for (const std::string& other : others) {
      std::vector<double> gained;
      for (const double goodput : goodputs(other)) gained.push_back(any[gained.size()] - goodput);
      const double mean = std::accumulate(gained.begin(), gained.end(), 0.0) / std::ssize(gained);
      const double least = other == others.back() && !drawn.listed.empty()
                               ? mean - estimate(gained, 1, -1).high - 2e-3
                               : -1e-12;
      EXPECT_GE(mean, least) << other << "\n" << drawn.text;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Blocks, AnyLayout, testing::Range(0, 1));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, AnyLayout, testing::Range(1, 20));

}  // namespace
}  // namespace windtunnel
