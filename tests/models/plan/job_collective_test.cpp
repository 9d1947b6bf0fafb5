#include "models/plan/job_collective.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

GroupShape shape_of(const std::vector<std::int32_t>& gpus, const Job& job) {
  return group_shape(gpus, job.cluster);
}

TEST(JobCollective, RunsAsTheScenarioSaysElseAsCostsLeast) {
  Job job = small_job(1, 1, 8);
  const GroupShape all = shape_of({0, 1, 2, 3, 4, 5, 6, 7}, job);
  const auto seconds = [&](CollectiveKind kind) {
    return collective_cost(job, Category::dp, kind, all, 1e9).seconds;
  };
  const double least_s = seconds(CollectiveKind::all_reduce);
  const double gather_s = seconds(CollectiveKind::all_gather);
  CollectiveRule& rule = job.communication.collectives.emplace_back();
  rule.algorithm = CollectiveAlgorithm::recursive_doubling;
  // log2(8) = 3 exchanges move 1e9 bytes each. Two stay in a node (NVLink: 200 GB/s); in the third
  // all four GPUs of a node send over a NIC of 25 GB/s each.
  EXPECT_NEAR(seconds(CollectiveKind::all_reduce), 2 * 1e9 / 200e9 + 1e9 / 25e9, 1e-9);
  EXPECT_LT(least_s, seconds(CollectiveKind::all_reduce));
  EXPECT_EQ(seconds(CollectiveKind::all_gather), gather_s);
}

TEST(JobCollective, WhatDoesNotApplyIsRefusedWhereItStands) {
  Job job = small_job(1, 1, 8);
  CollectiveRule& rule = job.communication.collectives.emplace_back();
  rule.algorithm = CollectiveAlgorithm::nvls;
  rule.where = {"a.yaml", 9, 5};
  const GroupShape rail = shape_of({0, 4}, job);
  const auto choose = [&] {
    collective_choice(job, Category::dp, CollectiveKind::all_reduce, rail);
  };
  EXPECT_TRUE(fails(choose, "a.yaml:9:5: communication.collectives: all-reduce by nvls needs"));
  const GroupShape alone = shape_of({0}, job);
  EXPECT_EQ(collective_choice(job, Category::dp, CollectiveKind::all_reduce, alone),
            CollectiveChoice());
}

// A choice for an axis precedes one for a kind of collective, if the kind has that algorithm.
TEST(JobCollective, AnAxisHasItsOwn) {
  Job job = small_job(1, 1, 8);
  const GroupShape all = shape_of({0, 1, 2, 3, 4, 5, 6, 7}, job);
  CollectiveRule& every = job.communication.collectives.emplace_back();
  every.algorithm = CollectiveAlgorithm::ring;
  CollectiveRule& replicas = job.communication.collectives.emplace_back();
  replicas.axis = Category::dp;
  replicas.algorithm = CollectiveAlgorithm::tree;
  replicas.protocol = Protocol::ll;
  const auto choice = [&](Category axis, CollectiveKind kind) {
    return collective_choice(job, axis, kind, all);
  };
  EXPECT_EQ(choice(Category::dp, CollectiveKind::all_reduce),
            CollectiveChoice(CollectiveAlgorithm::tree, Protocol::ll));
  EXPECT_EQ(choice(Category::tp, CollectiveKind::all_reduce),
            CollectiveChoice(CollectiveAlgorithm::ring));
  EXPECT_EQ(choice(Category::dp, CollectiveKind::all_gather), CollectiveChoice());  // no tree
}

}  // namespace
}  // namespace windtunnel
