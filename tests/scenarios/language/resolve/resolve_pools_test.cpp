#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kPools =
    "pools: [{name: new, nodes: 2, node: dgx-h100}, {name: old, nodes: 2, node: dgx-a100}]";

struct Parts {
  std::string cluster = std::string(kPools);
  std::string layout = "tp: 8, pp: 2";
  std::string batch = "global: 16";
  std::string rest = {};
};

std::string text_of(const Parts& parts) {
  return fmt::format(
      "name: a\nmodel: {{layers: 12, hidden: 4096, heads: 16, vocabulary: 32000, sequence: 1024}}\n"
      "cluster: {{{}}}\nlayout: {{{}}}\nbatch: {{{}}}\n{}\n",
      parts.cluster, parts.layout, parts.batch, parts.rest);
}

Case case_of(const Parts& parts) {
  return parse_case(text_of(parts), "a.yaml");
}

std::string fault_of(const Parts& parts) {
  return error_of([&] { case_of(parts); });
}

TEST(ResolvePools, NumberTheNodesPoolByPool) {
  const Job job = case_of({}).job;
  EXPECT_EQ(job.cluster.nodes, 4);
  EXPECT_EQ(job.cluster.pools[1].node.name, "dgx-a100");
  EXPECT_EQ(job.cluster.pool_of(15), 0);
  EXPECT_EQ(job.cluster.pool_of(16), 1);
  EXPECT_EQ(job.pool_calibrations[0].name, "h100-published");
  EXPECT_EQ(job.pool_calibrations[1].name, "a100-published");
  EXPECT_EQ(job.calibration.name, "a100-published");  // that of the slower pool
  EXPECT_EQ(job.layout.dp, 2);
}

TEST(ResolvePools, CostWhatTheyCost) {
  const Job job =
      case_of({.cluster = "pools: [{name: new, nodes: 2, node: dgx-h100}, {name: old, nodes: 2, "
                          "node: dgx-a100, price: 1 USD per gpu-hour}]",
               .rest = "job: {tokens: 1 T, price: 3 USD per gpu-hour}"})
          .job;
  EXPECT_NEAR(price_usd_per_s(job) * 3600, 16 * 3 + 16 * 1, 1e-9);
}

TEST(ResolvePools, StandWhereTheLayoutPlacesThem) {
  const auto places = [](const std::string& layout) {
    return case_of({.layout = layout}).job.cluster.places;
  };
  EXPECT_EQ(places("tp: 8, pp: 2"), std::vector<int>());
  EXPECT_EQ(places("tp: 8, pp: 2, place: {pp: [old, new]}"), (std::vector<int>{2, 3, 0, 1}));
  EXPECT_EQ(places("tp: 8, pp: 2, place: {dp: [new, old]}"), (std::vector<int>{0, 2, 1, 3}));
  EXPECT_EQ(places("tp: 8, pp: 2, order: [tp, pp, dp]"), std::vector<int>());
  const auto place_of = [](const std::string& layout, int rank) {
    const Cluster cluster = case_of({.layout = layout}).job.cluster;
    return cluster.place_of(cluster.node_of(rank));
  };
  // Ranks 8 and 16 belong to the second stage of the first replica, or to the first stage of the
  // second.
  EXPECT_EQ(place_of("tp: 8, pp: 2, order: [tp, pp, dp]", 8), 2);
  EXPECT_EQ(place_of("tp: 8, pp: 2, order: [tp, pp, dp]", 16), 1);
  EXPECT_EQ(place_of("tp: 8, pp: 2, order: [tp, pp, dp], place: {dp: [old, new]}", 8), 0);
  EXPECT_EQ(place_of("tp: 4, pp: 2, order: [tp, pp, dp]", 16), 0);
  EXPECT_EQ(places("tp: 8, pp: 4, place: {pp: [new, old]}"), (std::vector<int>{0, 1, 2, 3}));
}

TEST(ResolvePools, LayersAndSequencesFollowWhatNodesCompute) {
  const Job job = case_of({.layout = "tp: 8, pp: 2, stages: auto"}).job;
  EXPECT_GT(job.layout.stage_layers[0], job.layout.stage_layers[1]);
  const Case shared = case_of(
      {.layout = "tp: 8, pp: 2, place: {dp: [new, old]}", .batch = "global: 64, shares: auto"});
  const auto& kinds = shared.prepared->kinds;
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_GT(kinds[0].kind.microbatches, kinds[1].kind.microbatches);
  EXPECT_EQ(kinds[0].kind.microbatches + kinds[1].kind.microbatches, 64);
}

TEST(ResolvePools, FaultsNameTheirPlace) {
  const auto expect = [](const Parts& parts, const std::string& fault) {
    EXPECT_EQ(fault_of(parts), "a.yaml:" + fault);
  };
  expect({.cluster = "nodes: 5, " + std::string(kPools)},
         "3:18: cluster.nodes: is 5, but cluster.pools have 4 nodes together");
  expect({.cluster = "node: dgx-h100, " + std::string(kPools)},
         "3:11: cluster.node: cluster.pools already says which nodes there are; keep one of them");
  expect({.cluster = "pools: [{name: a, nodes: 1, node: dgx-h100}, {name: a, nodes: 1, node: "
                     "dgx-a100}]"},
         "3:63: cluster.pools.1.name: is also the name of cluster.pools.0");
  expect({.cluster = "pools: [{name: a, nodes: 1, node: dgx-h100}, {name: b, nodes: 2, node: "
                     "polaris-a100}]"},
         "3:76: cluster.pools.1.node: polaris-a100 has another number of GPUs (4 instead of 8) "
         "than dgx-h100 of pool 'a'; all nodes of a job need the same number of GPUs, joined in "
         "the same way");
  expect({.cluster = "pools: [{name: a, nodes: 1, node: dgx-h100}, {name: b, nodes: 1, node: "
                     "dgx-a100, network: roce}]"},
         "3:11: pools on different networks need a network in common; add e.g. 'common: "
         "{bandwidth: 25 Gb/s}' to cluster");
  expect({.layout = "tp: 8, pp: 2, place: {pp: [new, newer]}"},
         "4:42: unknown pool 'newer'; did you mean 'new'?");
  expect({.layout = "tp: 8, pp: 2, place: {pp: [new, new]}"},
         "4:32: layout.place.pp: needs more nodes of pool 'new' than its 2");
  expect({.layout = "tp: 8, pp: 2, place: {pp: [new, old, old]}"},
         "4:32: layout.place.pp: lists 3 pools for 2 ranks of pp; list one pool a "
         "rank, or one for each of equal groups of consecutive ranks");
  expect({.layout = "tp: 4, pp: 2, place: {dp: [new, old, new, old]}"},
         "4:32: layout.place.dp: ranks 0 and 4 share a node, but are placed on different pools");
  expect(
      {.layout = "tp: 8, pp: 2, place: {pp: [new, old], dp: [new, old]}"},
      "4:32: layout.place.pp: layout.place.dp also says which nodes ranks use; keep one of them");
  expect({.layout = "tp: 8, pp: 2, order: [tp, pp]"},
         "4:24: layout.order: lacks dp, along which the layout has 2 ranks; list it, too");
  expect({.layout = "tp: 8, pp: 2, order: [tp, pp, pp]"}, "4:40: layout.order.2: pp stands twice");
  expect({.layout = "tp: 8, pp: 2, order: [tp, pp, pp-pairs]"},
         "4:40: layout.order.2: pp stands twice");
  expect({.cluster = "nodes: 3, node: dgx-h100", .layout = "tp: 8, pp: 3, order: [tp, pp-pairs]"},
         "4:36: layout.order.1: the layout has 3 pipeline ranks, an odd number, which cannot form "
         "pairs; take pp");
  expect({.layout = "tp: 8, pp: 2, stages: {first: -1, balance: auto}"},
         "4:24: layout.stages: auto also chooses the layers of the first and the last stage; leave "
         "first and last out");
  expect({.layout = "tp: 8, pp: 1, stages: auto"},
         "4:24: layout.stages: there is only one pipeline rank, so auto has nothing to divide");
  expect(
      {.cluster = "pools: [{name: a, nodes: 2, node: dgx-h100, price: 2 USD per gpu-hour}, {name: "
                  "b, nodes: 2, node: dgx-a100}]"},
      "3:83: pool 'b' has no price, but others have; add one, or job.price for pools without");
  expect({.layout = "tp: 8, pp: 2, order: [tp, ep]"},
         "4:36: unknown order 'ep'; did you mean 'tp'?");
  expect({.batch = "global: 16, shares: [1, 2, 3]"},
         "5:21: batch.shares: lists 3 shares for 2 pools");
  expect({.cluster = "nodes: 4, node: dgx-h100", .batch = "global: 16, shares: auto"},
         "5:21: batch.shares: all nodes are alike; uneven shares are for cluster.pools");
  expect({.rest = "calibration: h100-published"},
         "6:14: calibration: with cluster.pools each pool has its own calibration: "
         "cluster.pools.0.calibration");
}

TEST(ResolvePools, StagesAreBalancedOfLayoutsThatFitTheMachine) {
  const std::string fault = fault_of({.layout = "tp: 8, pp: 2, dp: 3, stages: auto"});
  EXPECT_NE(fault.find("GPUs"), std::string::npos) << fault;
}

TEST(ResolvePools, ABatchThatDoesNotDivideIsRefused) {
  const std::string fault = fault_of({.layout = "tp: 8, pp: 1, place: {dp: [new, new, new, old]}"});
  EXPECT_NE(fault.find("needs more nodes of pool"), std::string::npos) << fault;
  EXPECT_NE(fault_of({.layout = "tp: 8, pp: 2, place: {dp: [new, old]}",
                      .batch = "global: 1, shares: auto"})
                .find("all replicas of a pool get the same number"),
            std::string::npos);
}

}  // namespace
}  // namespace windtunnel
