#include "models/plan/kernel_pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace windtunnel {
namespace {

// 16 ranks of one class run three tasks over two iterations, on nodes of four GPUs.
struct Paced {
  Plan plan;
  Cluster cluster;

  Paced() {
    plan.ranks = 16;
    plan.iterations = 2;
    RankClass& all = plan.classes.emplace_back();
    all.tasks.resize(3);
    for (RankId rank = 0; rank < plan.ranks; ++rank) all.members.push_back(rank);
    cluster.nodes = 4;
    cluster.node.gpus = 4;
  }
  std::vector<double> of(RankId rank) const {
    KernelPace pace(plan, cluster);
    const auto slowdowns = pace.slowdowns(rank);
    return {slowdowns.begin(), slowdowns.end()};
  }
};

TEST(KernelPace, WithoutJitterAllTasksAreAsSlowAsTheNode) {
  Paced paced;
  paced.cluster.slow_nodes = {{1, 1.5}};
  EXPECT_EQ(paced.of(3), std::vector<double>{1});
  EXPECT_EQ(paced.of(4), std::vector<double>{1.5});
  EXPECT_EQ(KernelPace(paced.plan, paced.cluster).place(2, 1), 0U);
}

TEST(KernelPace, DrawsPerStepOrTask) {
  Paced paced;
  paced.cluster.jitter = {.sigma = 0.1};
  EXPECT_EQ(paced.of(5).size(), 2U);
  EXPECT_EQ(KernelPace(paced.plan, paced.cluster).place(2, 1), 1U);
  paced.cluster.jitter.per = JitterPer::task;
  EXPECT_EQ(paced.of(5).size(), 3U);
  EXPECT_EQ(KernelPace(paced.plan, paced.cluster).place(2, 1), 2U);
  std::vector<double> drawn(3);
  draw_factors(paced.cluster.jitter, 5, 0, drawn);
  EXPECT_EQ(paced.of(5), drawn);
  paced.plan.draw = 1;
  EXPECT_NE(paced.of(5), drawn);
}

TEST(KernelPace, GpusOfANodeShareTheirDrawsWhereAsked) {
  Paced paced;
  paced.cluster.jitter = {.sigma = 0.1};
  EXPECT_NE(paced.of(4), paced.of(5));
  paced.cluster.jitter.of = JitterOf::node;
  EXPECT_EQ(paced.of(4), paced.of(5));
  EXPECT_NE(paced.of(4), paced.of(3));
}

TEST(KernelPace, RanksInStepAreAsSlowAsTheSlowestOfThem) {
  Paced paced;
  paced.cluster.jitter = {.sigma = 0.1};
  std::vector<std::vector<double>> alone;
  for (RankId rank = 0; rank < 16; ++rank) alone.push_back(paced.of(rank));
  paced.plan.in_step = 8;
  paced.cluster.slow_nodes = {{1, 2}};
  KernelPace pace(paced.plan, paced.cluster);
  // The order of the questions does not matter.
  for (const RankId rank : {9, 3, 4, 0, 15, 8}) {
    const auto slowdowns = pace.slowdowns(rank);
    for (int i = 0; i < 2; ++i) {
      double slowest = 0;
      for (int other = rank / 8 * 8; other < rank / 8 * 8 + 8; ++other) {
        slowest = std::max(slowest, alone[other][i]);
      }
      EXPECT_EQ(slowdowns[i], slowest * (rank / 4 == 1 ? 2 : 1));
    }
  }
}

}  // namespace
}  // namespace windtunnel
