#include "models/plan/plan.hpp"

#include <gtest/gtest.h>

#include "models/base/error.hpp"

namespace windtunnel {
namespace {

constexpr std::int16_t kMain = 0;
constexpr std::int16_t kInbox = 1;

RankClass one_rank(const char* name, RankId rank, RankId peer) {
  RankClass result;
  result.name = name;
  result.members = {rank};
  result.streams = {{"main", StreamOrder::in_order}, {"inbox", StreamOrder::unordered}};
  result.peers = {{peer}};
  return result;
}

Task message(TaskKind kind, std::int64_t tag, std::int16_t stream) {
  Task task;
  task.kind = kind;
  task.name = kind == TaskKind::send ? "send" : "recv";
  task.stream = stream;
  task.peer_slot = 0;
  task.tag = tag;
  return task;
}

// Rank 0 sends messages 7 and 8 to rank 1, which receives 8 first.
Plan two_messages() {
  Plan plan;
  plan.ranks = 2;
  plan.classes = {one_rank("a", 0, 1), one_rank("b", 1, 0)};
  plan.classes[0].tasks = {message(TaskKind::send, 7, kMain), message(TaskKind::send, 8, kMain)};
  plan.classes[1].tasks = {message(TaskKind::recv, 8, kInbox), message(TaskKind::recv, 7, kInbox)};
  return plan;
}

std::string complaint(const Plan& plan) {
  try {
    validate_plan(plan);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(Plan, MatchesMessagesByTagNotByOrder) {
  const auto partner = match_messages(two_messages());
  EXPECT_EQ(partner[0][0].rank_class, 1);
  EXPECT_EQ(partner[0][0].task, 1);
  EXPECT_EQ(partner[0][1].task, 0);
  EXPECT_EQ(partner[1][0].task, 1);
  EXPECT_EQ(complaint(two_messages()), "");
}

TEST(Plan, SaysWhichMessageLacksAPartner) {
  Plan plan = two_messages();
  plan.classes[1].tasks[0].tag = 9;
  EXPECT_NE(complaint(plan).find("class 'a', task 1 'send': no receive matches tag 8"),
            std::string::npos)
      << complaint(plan);
  plan = two_messages();
  plan.classes[0].tasks.pop_back();
  EXPECT_NE(complaint(plan).find("no send matches tag 8"), std::string::npos) << complaint(plan);
}

TEST(Plan, ARingWithinAClassFacesEachOther) {
  // Four ranks, each sends to the next one and receives from the one before.
  Plan plan;
  plan.ranks = 4;
  RankClass ring;
  ring.name = "ring";
  ring.members = {0, 1, 2, 3};
  ring.streams = {{"main", StreamOrder::in_order}, {"inbox", StreamOrder::unordered}};
  ring.peers = {{1, 2, 3, 0}, {3, 0, 1, 2}};
  ring.tasks = {message(TaskKind::send, 1, kMain), message(TaskKind::recv, 1, kInbox)};
  ring.tasks[1].peer_slot = 1;
  plan.classes = {ring};
  EXPECT_EQ(complaint(plan), "");
  plan.classes[0].peers[1] = {1, 2, 3, 0};  // receives from the wrong side
  EXPECT_NE(complaint(plan), "");
}

TEST(Plan, FindsDeadlocks) {
  // Both ranks send synchronously before they receive, on one stream in order.
  Plan plan;
  plan.ranks = 2;
  plan.classes = {one_rank("a", 0, 1), one_rank("b", 1, 0)};
  for (RankClass& owner : plan.classes) {
    owner.tasks = {message(TaskKind::send, 1, kMain), message(TaskKind::recv, 1, kMain)};
    owner.tasks[0].synchronous = true;
  }
  EXPECT_NE(complaint(plan).find("the plan deadlocks at class 'a', task 0"), std::string::npos)
      << complaint(plan);
  for (RankClass& owner : plan.classes) owner.tasks[0].synchronous = false;
  EXPECT_EQ(complaint(plan), "");
}

TEST(Plan, FindsCyclesAndBadIndices) {
  Plan plan = two_messages();
  plan.classes[0].tasks[0].after = {1};
  EXPECT_NE(complaint(plan).find("deadlocks"), std::string::npos);  // reverses the stream's order
  plan.classes[0].tasks[0].after = {5};
  EXPECT_NE(complaint(plan).find("comes after task 5"), std::string::npos);
  for (const int owner : {0, 1}) {
    plan = two_messages();
    plan.classes[owner].tasks[0].peer_slot = 7;
    EXPECT_NE(complaint(plan).find("no peer slot 7"), std::string::npos);
  }
  plan = two_messages();
  plan.classes[1].members = {0};
  EXPECT_NE(complaint(plan).find("rank 0 is in two classes"), std::string::npos);
  plan = two_messages();
  plan.classes[0].tasks[0].stream = kInbox;
  EXPECT_NE(complaint(plan).find("holds receives only"), std::string::npos);
}

TEST(Plan, CollectivesInDifferentOrdersDeadlock) {
  Plan plan;
  plan.ranks = 2;
  plan.groups = {{Category::dp, {0, 1}}};
  for (RankId rank : {0, 1}) {
    RankClass owner;
    owner.name = rank == 0 ? "a" : "b";
    owner.members = {rank};
    owner.streams = {{"main", StreamOrder::in_order}};
    owner.groups = {{0}};
    for (int i = 0; i < 2; ++i) {
      Task task;
      task.kind = TaskKind::collective;
      task.group_slot = 0;
      task.sequence = rank == 0 ? i : 1 - i;
      owner.tasks.push_back(task);
    }
    plan.classes.push_back(owner);
  }
  EXPECT_NE(complaint(plan).find("deadlocks"), std::string::npos);
  std::swap(plan.classes[1].tasks[0], plan.classes[1].tasks[1]);
  EXPECT_EQ(complaint(plan), "");
}

// On a node at half speed kernels take twice as long. Collectives between kernels and messages take
// as long as elsewhere.
TEST(Plan, ASlowNodeLengthensKernels) {
  Task task;
  task.cost = {{Category::forward, Origin::spec, 3},
               {Category::tp, Origin::spec, 2},
               {Category::host, Origin::spec, 1}};
  EXPECT_DOUBLE_EQ(plain_seconds(task, 1), 6);
  EXPECT_DOUBLE_EQ(plain_seconds(task, 2), 9);
  task.kind = TaskKind::send;
  EXPECT_DOUBLE_EQ(plain_seconds(task, 2), 6);
}

TEST(Plan, MeetingsJoinSlotsThatShareGroups) {
  Plan plan;
  plan.ranks = 4;
  plan.groups = {{Category::dp, {0, 1}}, {Category::dp, {2, 3}}, {Category::pp, {0, 1, 2, 3}}};
  RankClass a{"a", {0, 2}, {}, {}, {{0, 1}, {2, 2}}, {}};
  RankClass b{"b", {1, 3}, {}, {}, {{2, 2}, {0, 1}}, {}};
  plan.classes = {a, b};
  const auto rendezvous = rendezvous_of(plan);
  EXPECT_EQ(rendezvous[0][0], rendezvous[1][1]);
  EXPECT_EQ(rendezvous[0][1], rendezvous[1][0]);
  EXPECT_NE(rendezvous[0][0], rendezvous[0][1]);
}

}  // namespace
}  // namespace windtunnel
