#include "models/plan/joined_plan.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

// One of two ranks computes and sends to the other, then both reduce.
Plan two_ranks() {
  Plan plan;
  plan.ranks = 2;
  plan.groups = {{Category::dp, {0, 1}}};
  Task compute;
  compute.cost = {{Category::forward, Origin::assumed, 1.0}};
  Task message;
  message.kind = TaskKind::send;
  message.after = {0};
  message.peer_slot = 0;
  message.bytes = 8;
  Task receive = message;
  receive.kind = TaskKind::recv;
  receive.after = {};
  Task reduce;
  reduce.kind = TaskKind::collective;
  reduce.group_slot = 0;
  reduce.after = {0};
  RankClass first{"first", {0}, {{"compute"}}, {compute, message, reduce}, {{0}}, {{1}}};
  first.tasks[2].after = {1};
  const RankClass second{"second", {1}, {{"compute"}}, {receive, reduce}, {{0}}, {{0}}};
  plan.classes = {first, second};
  return plan;
}

TEST(JoinedPlan, KeepsRanksGroupsAndPeersApart) {
  Plan longer = two_ranks();
  longer.iterations = 3;
  const JoinedPlan joint = joined({two_ranks(), longer}, {0, 2.5});
  EXPECT_EQ(joint.plan.ranks, 4);
  EXPECT_EQ(joint.plan.iterations, 3);
  EXPECT_EQ(joint.first_class, (std::vector<std::int32_t>{0, 2, 4}));
  validate_plan(joint.plan);
  EXPECT_EQ(joint.plan.groups[1].members, (std::vector<RankId>{2, 3}));
  EXPECT_EQ(joint.plan.classes[2].members, std::vector<RankId>{2});
  EXPECT_EQ(joint.plan.classes[2].peers[0], std::vector<RankId>{3});
  EXPECT_EQ(joint.plan.classes[3].groups[0], std::vector<std::int32_t>{1});
  EXPECT_EQ(joint.plan.classes[0], two_ranks().classes[0]) << "the first is as it was";
  EXPECT_EQ(joint.plan.classes[2].tasks[0].not_before_s, 2.5);
  EXPECT_EQ(joint.plan.classes[2].tasks[1].not_before_s, 0) << "waits for the first";
  EXPECT_EQ(joint.plan.classes[3].tasks[0].not_before_s, 0) << "waits for its message";
}

TEST(JoinedPlan, OneAloneIsItself) {
  EXPECT_EQ(joined({two_ranks()}, {0}).plan, two_ranks());
}

TEST(JoinedPlan, ExchangesStayThoseOfTheirJob) {
  Plan uneven = two_ranks();
  uneven.exchanges = {{{0.5, 1.5}, std::nullopt}};
  for (RankClass& owner : uneven.classes) {
    owner.tasks.back().collective = CollectiveKind::all_to_all;
    owner.tasks.back().exchange = 0;
  }
  Plan other = uneven;
  other.exchanges[0].received = {2, 0};
  const Plan plan = joined({uneven, two_ranks(), other}, {0, 0, 0}).plan;
  validate_plan(plan);
  ASSERT_EQ(plan.exchanges.size(), 2u);
  EXPECT_EQ(plan.exchanges[plan.classes[0].tasks.back().exchange], uneven.exchanges[0]);
  EXPECT_EQ(plan.classes[2].tasks.back().exchange, -1);
  EXPECT_EQ(plan.exchanges[plan.classes[4].tasks.back().exchange], other.exchanges[0]);
}

TEST(JoinedClusters, NodesStandWhereTheyStood) {
  Cluster a;
  a.nodes = 2;
  a.machine_nodes = 6;
  a.places = {5, 1};
  Cluster b = a;
  b.nodes = 1;
  b.places = {3};
  const Cluster both = joined({&a, &b});
  EXPECT_EQ(both.nodes, 3);
  EXPECT_EQ(both.fabric_nodes(), 6);
  EXPECT_EQ(both.places, (std::vector<int>{5, 1, 3}));
  b.machine_nodes = 7;
  EXPECT_THROW(joined({&a, &b}), InternalError);
}

}  // namespace
}  // namespace windtunnel
