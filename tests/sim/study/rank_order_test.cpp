// layout.order moves ranks to other GPUs and changes nothing else. If GPUs are alike the step time
// stays, and moving whole nodes equals a placement of nodes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/base/random.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"

namespace windtunnel {
namespace {

constexpr double kRounding = 1e-9;

struct Axes {
  int tp = 1, pp = 1, dp = 1;
};

std::string text_of(RandomStream& random, int nodes, const Axes& axes, const std::string& more) {
  const auto one_of = [&](const std::vector<std::string>& all) {
    return all[random.below(all.size())];
  };
  const std::string schedule = one_of({"1f1b", "gpipe", "zb-h1"});
  return fmt::format(
      "name: order\n"
      "model: {{layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}}\n"
      "cluster: {{nodes: {}, node: {{base: dgx-h100, nics: {}}}, fabric: {{topology: {}, "
      "nodes_per_pod: 2, pod_oversubscription: 3}}}}\n"
      "layout: {{tp: {}, pp: {}, dp: {}, sharding: {}{}}}\n"
      "batch: {{global: {}, micro: 1}}\nprecision: bf16\nschedule: {}\n"
      "communication: {{overlap: {}, fidelity: {}}}\n",
      nodes, one_of({"2", "8"}), one_of({"fat-tree", "rail-fat-tree"}), axes.tp, axes.pp, axes.dp,
      one_of({"none", "zero1"}), more, 8 * axes.dp, schedule, one_of({"none", "bucketed"}),
      one_of({"closed", "flows"}));
}

double step_s(const std::string& text, const std::vector<NamedFile>& files = {}) {
  return simulate(resolve_case({.file = "a.yaml", .text = text, .files = files}),
                  {.allow_oom = true})
      .iteration.time_s;
}

// Within a node all pairs of GPUs are equally near, so the order does not matter.
TEST(RankOrder, IsNothingWithinANode) {
  const std::vector<Axes> all = {{2, 2, 2}, {1, 4, 2}, {4, 2, 1}, {1, 2, 4}};
  std::vector<std::string> names = {"tp", "pp", "dp"};
  for (int i = 0; i < 40; ++i) {
    RandomStream random(1, RandomPurpose::test, i);
    const Axes axes = all[random.below(all.size())];
    for (std::size_t k = names.size() - 1; k > 0; --k) {
      std::swap(names[k], names[random.below(k + 1)]);
    }
    RandomStream same = random;
    const double in_order_s = step_s(text_of(random, 1, axes, ""));
    const std::string order = fmt::format(", order: [{}]", fmt::join(names, ", "));
    EXPECT_NEAR(step_s(text_of(same, 1, axes, order)), in_order_s, kRounding * in_order_s) << order;
  }
}

// Replica r of a pipeline of p stages is on the nodes r p to r p + p - 1.
TEST(RankOrder, OfWholeNodesIsAPlacement) {
  for (int i = 0; i < 40; ++i) {
    RandomStream random(2, RandomPurpose::test, i);
    const Axes axes = random.below(2) == 0 ? Axes{8, 2, 4} : Axes{8, 4, 2};
    std::vector<int> places;
    for (int pp = 0; pp < axes.pp; ++pp) {
      for (int dp = 0; dp < axes.dp; ++dp) places.push_back(dp * axes.pp + pp);
    }
    RandomStream same = random;
    const double placed_s = step_s(
        text_of(random, 8, axes, ", placement: places.csv"),
        {{.name = "places.csv", .text = fmt::format("node\n{}\n", fmt::join(places, "\n"))}});
    const double ordered_s = step_s(text_of(same, 8, axes, ", order: [tp, pp, dp]"));
    EXPECT_NEAR(ordered_s, placed_s, kRounding * placed_s) << i;
  }
}

// A pipeline inside a node sends no messages over NICs. That pays with slow NICs, and costs nothing
// with NICs as fast as the links in the node.
TEST(RankOrder, KeepsAPipelineInItsNode) {
  for (const char* fidelity : {"closed", "flows"}) {
    const auto step = [&](const std::string& nic, const std::string& order) {
      return step_s(fmt::format(
          "name: order\nmodel: llama2-7b\n"
          "cluster: {{nodes: 4, node: {{base: dgx-h100, nic: {}}}}}\n"
          "layout: {{tp: 2, pp: 4, dp: 4, sequence_parallel: true{}}}\n"
          "batch: {{global: 2048, micro: 1}}\nprecision: bf16\ncommunication: {{fidelity: {}}}\n",
          nic, order, fidelity));
    };
    EXPECT_LT(step("25 Gb/s", ", order: [tp, pp, dp]"), 0.97 * step("25 Gb/s", "")) << fidelity;
    EXPECT_LT(step("3200 Gb/s", ", order: [tp, pp, dp]"), 1.01 * step("3200 Gb/s", "")) << fidelity;
  }
}

// A hash of the pair of NICs chooses the path, so that ranks of a tensor group get messages at
// unlike times, and each must wait for all. The messages of one replica keep their order, so no
// choice of paths beats using all of them.
TEST(RankOrder, HashedWaysNeverBeatSprayedPacketsOfOneReplica) {
  int slower = 0;
  for (int i = 0; i < 40; ++i) {
    RandomStream random(3, RandomPurpose::test, i);
    const auto one_of = [&](const std::vector<std::string>& all) {
      return all[random.below(all.size())];
    };
    const std::string text = fmt::format(
        "name: ways\n"
        "model: {{layers: 16, hidden: 4096, heads: 32, vocabulary: 32000, sequence: 4096}}\n"
        "cluster: {{nodes: 8, node: {{base: dgx-h100, nic: {}}}, fabric: {{topology: fat-tree, "
        "nodes_per_pod: {}, pod_oversubscription: {}, ",
        one_of({"25 Gb/s", "100 Gb/s", "400 Gb/s"}), one_of({"1", "2", "4"}),
        one_of({"1", "2", "4"}));
    const std::string rest = fmt::format(
        "layout: {{tp: 8, pp: 8, sequence_parallel: true}}\nbatch: {{global: {}, micro: 1}}\n"
        "precision: bf16\nschedule: {}\nsoftware: {{sends: synchronous}}\n",
        one_of({"8", "16"}), one_of({"1f1b", "gpipe"}));
    const double sprayed_s = step_s(text + "routing: spray}}\n" + rest);
    const double hashed_s = step_s(
        text + fmt::format("routing: ecmp, uplinks: {}}}}}\n", one_of({"4", "8", "16"})) + rest);
    EXPECT_GE(hashed_s, sprayed_s * (1 - kRounding)) << text << rest;
    slower += hashed_s > 1.001 * sprayed_s;
  }
  EXPECT_GT(slower, 5);
}

}  // namespace
}  // namespace windtunnel
