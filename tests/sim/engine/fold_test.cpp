// Folded and unfolded runs agree, and folding merges as many ranks as possible.
#include "sim/engine/fold.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

#include "scenarios/language/text/choices.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/engine/random_plan.hpp"
#include "tests/support/test_names.hpp"

namespace windtunnel {
namespace {

Calibration fold_calibration() {
  Calibration result;
  result.nvlink_efficiency = exactly(0.5);
  result.nic_efficiency = exactly(0.8);
  return result;
}

double largest_difference(const Timeline& folded, const Timeline& all) {
  double difference = std::abs(folded.makespan_s - all.makespan_s);
  for (const RankTimeline& rank : all.ranks) {
    const RankTimeline& same = folded.ranks[folded.recorded_as[rank.rank]];
    for (size_t t = 0; t < rank.spans.size(); ++t) {
      difference = std::max({difference, std::abs(rank.spans[t].start_s - same.spans[t].start_s),
                             std::abs(rank.spans[t].end_s - same.spans[t].end_s)});
    }
  }
  return difference / all.makespan_s;
}

// Runs the plan with folded ranks, and with all ranks.
std::pair<Timeline, Timeline> both_ways(const RandomCase& random) {
  EngineOptions options;
  options.calibration = calibration();
  Timeline folded = execute(random.plan, random.cluster, options);
  options.fold = FoldMode::none;
  options.record_all = true;
  return {std::move(folded), execute(random.plan, random.cluster, options)};
}

class FoldedEqualsUnfolded : public ::testing::TestWithParam<int> {};

TEST_P(FoldedEqualsUnfolded, OnRandomJobs) {
  int folded_cases = 0;
  for (int i = 0; i < 15; ++i) {
    const RandomCase random = RandomCaseMaker(GetParam() * 100 + i).make();
    validate_plan(random.plan);
    const auto [folded, all] = both_ways(random);
    ASSERT_EQ(all.ranks_simulated, random.plan.ranks);
    EXPECT_LT(largest_difference(folded, all), 1e-6)
        << "seed " << GetParam() * 100 + i << " tp " << random.tp << " dp " << random.dp << " pp "
        << random.pp << " slow " << random.slow << " degraded " << random.degraded;
    double stood_for = 0;
    for (const RankTimeline& rank : folded.ranks) stood_for += rank.multiplicity;
    EXPECT_EQ(stood_for, random.plan.ranks);
    folded_cases += folded.ranks_simulated < random.plan.ranks;
  }
  EXPECT_GT(folded_cases, 5);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FoldedEqualsUnfolded, ::testing::Range(0, 5));

class FoldedWithJitter : public ::testing::TestWithParam<int> {};

TEST_P(FoldedWithJitter, EqualsUnfolded) {
  const Jitter laws[] = {{.sigma = 0.1},
                         {.bursts = {.good = 20, .bad = 5, .slowdown = 1.7}},
                         {.share = 0.05, .slowdown = 1.4}};
  int folded_cases = 0;
  for (int i = 0; i < 12; ++i) {
    RandomCase random = RandomCaseMaker(5000 + GetParam() * 100 + i).make();
    Jitter& jitter = random.cluster.jitter = laws[i % 3];
    jitter.per = i % 2 == 0 ? JitterPer::step : JitterPer::task;
    jitter.of = i % 4 < 2 ? JitterOf::gpu : JitterOf::node;
    random.plan.draw = i;
    if (i % 5 == 0) random.plan.in_step = random.tp;
    const auto [folded, all] = both_ways(random);
    EXPECT_LT(largest_difference(folded, all), 1e-6) << "case " << i;
    folded_cases += folded.ranks_simulated < random.plan.ranks;
  }
  EXPECT_GT(folded_cases, 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FoldedWithJitter, ::testing::Range(0, 4));

class FoldedOnEveryFabric : public ::testing::TestWithParam<std::tuple<Topology, Routing>> {};

TEST_P(FoldedOnEveryFabric, EqualsUnfolded) {
  const auto [topology, routing] = GetParam();
  for (int seed = 0; seed < 6; ++seed) {
    RandomCase random = RandomCaseMaker(1000 + seed).make();
    put_on_fabric(random.cluster, topology, routing, seed);
    const auto [folded, all] = both_ways(random);
    EXPECT_LT(largest_difference(folded, all), 1e-6) << "seed " << seed;
    EXPECT_LE(folded.ranks_simulated, all.ranks_simulated);
  }
}

std::string fabric_name(const std::tuple<Topology, Routing>& fabric) {
  const auto [topology, routing] = fabric;
  return std::string(name_of(topology)) + " " + std::string(name_of(routing));
}

INSTANTIATE_TEST_SUITE_P(
    Fabrics, FoldedOnEveryFabric,
    ::testing::Combine(::testing::Values(Topology::rail_fat_tree, Topology::fat_tree,
                                         Topology::rail_only, Topology::clos, Topology::torus,
                                         Topology::dragonfly),
                       ::testing::Values(Routing::spray, Routing::ecmp, Routing::split_single_path,
                                         Routing::planned)),
    named(fabric_name));
INSTANTIATE_TEST_SUITE_P(Adaptive, FoldedOnEveryFabric,
                         ::testing::Values(std::tuple(Topology::dragonfly, Routing::adaptive)),
                         named(fabric_name));

// The job has two pipeline ranks, four replicas, and tp 2 on nodes of two GPUs: replica d of
// pipeline rank p is on node 4 p + d.
struct FoldedJob {
  Cluster cluster = small_cluster(8);
  bool dp_flows = false;
  bool backward = false;  // messages go both ways

  std::int64_t ranks_simulated() const {
    Plan plan;
    plan.ranks = 16;
    for (int group = 0; group < 4; ++group) plan.groups.push_back({Category::dp, {}});
    for (int pp = 0; pp < 2; ++pp) {
      RankClass rank_class;
      rank_class.name = "pp";
      rank_class.streams = {{"compute", {}}, {"dp", {}}, {"recv", StreamOrder::unordered}};
      rank_class.groups.resize(1);
      rank_class.peers.resize(1);
      for (int r = 0; r < 8; ++r) {
        const int group = 2 * pp + r % 2;
        plan.groups[group].members.push_back(8 * pp + r);
        rank_class.members.push_back(8 * pp + r);
        rank_class.groups[0].push_back(group);
        rank_class.peers[0].push_back(8 * (1 - pp) + r);
      }
      if (pp == 0) {
        rank_class.tasks = {compute("F", 0, 1), send("s", 0, 0, 0, 5, {0})};
      } else {
        rank_class.tasks = {recv("r", 2, 0, 0, 5), compute("F", 0, 1, {0})};
      }
      Task reduce = collective("dp", 1, 0, 0, 0.5, {pp});
      if (backward && pp == 0) rank_class.tasks.push_back(recv("r", 2, 0, 1, 5));
      if (backward && pp == 1) rank_class.tasks.push_back(send("s", 0, 0, 1, 5, {1}));
      reduce.as_flows = dp_flows;
      reduce.algorithm = CollectiveAlgorithm::ring;
      reduce.bytes = 10;
      rank_class.tasks.push_back(reduce);
      plan.classes.push_back(rank_class);
    }
    validate_plan(plan);
    EngineOptions options;
    options.calibration = fold_calibration();
    return execute(plan, cluster, options).ranks_simulated;
  }
};

TEST(Fold, ASymmetricJobIsOneRankPerClass) {
  EXPECT_EQ(FoldedJob().ranks_simulated(), 2);
  FoldedJob flows;
  flows.dp_flows = true;
  EXPECT_EQ(flows.ranks_simulated(), 2);
}

TEST(Fold, ASlowNodeUnfoldsItsOwnPipelineOnly) {
  // The slow node's tp group is a class of its own, and so is its partner on the other pipeline
  // rank; the three other replicas stay folded.
  FoldedJob job;
  job.cluster.slow_nodes = {{1, 1.5}};
  EXPECT_EQ(job.ranks_simulated(), 4);
}

TEST(Fold, JitterUnfoldsWhatItMakesDiffer) {
  FoldedJob job;
  job.cluster.jitter = {.sigma = 0.1};
  EXPECT_EQ(job.ranks_simulated(), 16);
  job.cluster.jitter.of = JitterOf::node;  // a node has two GPUs, one tp group
  EXPECT_EQ(job.ranks_simulated(), 8);
  job.cluster.jitter = {.share = 1, .slowdown = 2};
  EXPECT_EQ(job.ranks_simulated(), 2);
}

TEST(Fold, ADegradedNicUnfoldsItsRank) {
  // A NIC serves one GPU of the tp group: ranks 2 and 10 leave their groups, and the dp groups of
  // tp coordinate 0 differ from those of 1. The classes per pipeline rank are the rank itself, its
  // dp partners (3), and the ranks of the other dp group (4).
  FoldedJob job;
  job.cluster.degraded_nics = {{1, 0, 0.5}};
  EXPECT_EQ(job.ranks_simulated(), 6);
}

TEST(Fold, ASlowNodeStaysInItsPipelineThoughRingsRunAsFlows) {
  // The slow node's messages meet the ring on its NIC at another time than other nodes' messages
  // do. This slows the ring as a whole, so the other replicas stay alike, in both directions of
  // messages.
  FoldedJob job;
  job.dp_flows = true;
  job.cluster.slow_nodes = {{1, 1.5}};
  EXPECT_EQ(job.ranks_simulated(), 4);
  job.backward = true;
  EXPECT_EQ(job.ranks_simulated(), 4);
}

TEST(Fold, PodsUnfoldOnlyWhatTheyTellApart) {
  // Pods have two nodes, so each replica group spans two pods: the ring leaves each pod once, and
  // all messages cross between pods. All nodes are alike, whether uplinks are limited or not.
  FoldedJob job;
  job.dp_flows = true;
  job.cluster.fabric.topology = Topology::fat_tree;
  job.cluster.fabric.nodes_per_pod = 2;
  EXPECT_EQ(job.ranks_simulated(), 2);
  job.cluster.fabric.pod_oversubscription = 4;
  EXPECT_EQ(job.ranks_simulated(), 2);
  // Pods of three nodes hold 3, 1 + 2 and 2 nodes of the two pipeline ranks: replicas 0 to 2 of the
  // first rank send from pod 0, replica 3 from pod 1; their partners are in pods 1, 1, 2 and 2.
  job.cluster.fabric.nodes_per_pod = 3;
  EXPECT_EQ(job.ranks_simulated(), 6);
}

TEST(Fold, TheSameBytesEveryTime) {
  const RandomCase random = RandomCaseMaker(7).make();
  EngineOptions options;
  options.calibration = fold_calibration();
  const Timeline a = execute(random.plan, random.cluster, options);
  const Timeline b = execute(random.plan, random.cluster, options);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  EXPECT_EQ(a.makespan_s, b.makespan_s);
  EXPECT_EQ(a.events, b.events);
  for (size_t r = 0; r < a.ranks.size(); ++r) {
    EXPECT_EQ(std::memcmp(a.ranks[r].spans.data(), b.ranks[r].spans.data(),
                          a.ranks[r].spans.size() * sizeof(Span)),
              0);
  }
}

}  // namespace
}  // namespace windtunnel
