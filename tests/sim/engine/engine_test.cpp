// Each hand-written Plan tests one ability against results worked out by hand.
#include "sim/engine/engine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/random.hpp"
#include "policies/analysis/plan_bound.hpp"
#include "tests/sim/engine/plan_maker.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

// Runs folded and unfolded, which must agree; returns the unfolded Timeline of all ranks.
Timeline run(const Plan& plan, const Cluster& cluster) {
  validate_plan(plan);
  EngineOptions options;
  const Timeline folded = execute(plan, cluster, options);
  options.fold = FoldMode::none;
  options.record_all = true;
  const Timeline all = execute(plan, cluster, options);
  EXPECT_NEAR(folded.makespan_s, all.makespan_s, 1e-9 * all.makespan_s);
  for (const RankTimeline& rank : all.ranks) {
    const RankTimeline& same = folded.ranks[folded.recorded_as[rank.rank]];
    for (size_t t = 0; t < rank.spans.size(); ++t) {
      EXPECT_NEAR(rank.spans[t].start_s, same.spans[t].start_s, 1e-9) << rank.rank << " " << t;
      EXPECT_NEAR(rank.spans[t].end_s, same.spans[t].end_s, 1e-9) << rank.rank << " " << t;
    }
  }
  return all;
}

void expect_span(const Timeline& timeline, RankId rank, TaskIndex task, double start, double end) {
  const Span& span = timeline.ranks[timeline.recorded_as[rank]].spans[task];
  EXPECT_NEAR(span.start_s, start, 1e-9) << "rank " << rank << " task " << task;
  EXPECT_NEAR(span.end_s, end, 1e-9) << "rank " << rank << " task " << task;
}

Plan one_class(std::vector<RankId> members, std::vector<Stream> the_streams,
               std::vector<Task> tasks) {
  Plan plan;
  plan.ranks = static_cast<int>(members.size());
  plan.classes.push_back(
      {"all", std::move(members), std::move(the_streams), std::move(tasks), {}, {}});
  return plan;
}

// In this Plan rank 0 sends and rank `to` receives.
Plan two_classes(std::vector<Stream> first, std::vector<Task> first_tasks,
                 std::vector<Stream> second, std::vector<Task> second_tasks) {
  Plan plan;
  plan.ranks = 2;
  plan.classes.push_back({"first", {0}, std::move(first), std::move(first_tasks), {}, {{1}}});
  plan.classes.push_back({"second", {1}, std::move(second), std::move(second_tasks), {}, {{0}}});
  return plan;
}

// Streams share no SMs: the seconds of tasks include what concurrent kernels take from each other.
// The bound therefore adds up kernels stream by stream.
TEST(Engine, KernelsOfTwoStreamsRunBesideEachOther) {
  const Plan plan =
      one_class({0}, streams(2), {compute("F0", 0, 2), compute("F1", 0, 1), compute("G0", 1, 2.5)});
  const Cluster cluster = small_cluster(1);
  EXPECT_DOUBLE_EQ(run(plan, cluster).makespan_s, 3);
  EXPECT_DOUBLE_EQ(plan_bound(plan, cluster, CountedTransfers::as_flows).seconds(), 3);
}

TEST(Engine, TwoIterationsOverlapAcrossTheirBoundary) {
  // Stream 0 computes in two iterations, 2 s each. On stream 1 a copy of 3 s follows the first
  // compute of each iteration and ends in the next iteration.
  Plan plan = one_class({0}, streams(2),
                        {compute("F0", 0, 2), compute("D0", 1, 3, {0}), compute("F1", 0, 2),
                         compute("D1", 1, 3, {2})});
  plan.iterations = 2;
  plan.classes[0].tasks[2].iteration = plan.classes[0].tasks[3].iteration = 1;
  const Timeline timeline = run(plan, small_cluster(1));
  expect_span(timeline, 0, 1, 2, 5);
  expect_span(timeline, 0, 2, 2, 4);
  expect_span(timeline, 0, 3, 5, 8);  // ready at 4, but its stream is busy until 5
  EXPECT_DOUBLE_EQ(timeline.iteration_end_s[0], 5);
  EXPECT_DOUBLE_EQ(timeline.iteration_end_s[1], 8);
  EXPECT_DOUBLE_EQ(timeline.makespan_s, 8);
}

// A clock between 2^n and 2^(n+1) s that advances by more than its value rounds the advance, and
// may step past the date that it should reach. What ends there must still be processed. Values
// range from hours to decades.
TEST(Engine, MeetsEndsThatTheClockSteppedPast) {
  RandomStream random(1, RandomPurpose::test, 0);
  for (const double power : {std::exp2(13), std::exp2(30)}) {
    for (int round = 0; round < 50; ++round) {
      const double first_s = power * (1 + 0.1 * random.uniform());
      const double last_s = power * (3.2 + 0.1 * random.uniform());
      const Plan plan =
          one_class({0}, streams(2), {compute("a", 0, first_s), compute("b", 1, last_s)});
      EXPECT_DOUBLE_EQ(run(plan, small_cluster(1)).makespan_s, last_s);
    }
  }
}

TEST(Engine, JoinsTheFirstTwoOfThree) {
  Plan plan = one_class({0}, streams(4),
                        {compute("a", 0, 5), compute("b", 1, 2), compute("c", 2, 3),
                         compute("join", 3, 1, {0, 1, 2})});
  plan.classes[0].tasks[3].join_first = 2;
  expect_span(run(plan, small_cluster(1)), 0, 3, 3, 4);
}

TEST(Engine, RunsTheMostUrgentReadyTaskFirst) {
  // On the stream ordered by priority only "low" is ready at 0, and it runs to 4. "mid" is ready at
  // 1, "high" at 2: high runs from 4 to 5, mid from 5 to 7. Equal priorities keep list order, mid
  // before mid2.
  Plan plan = one_class(
      {0}, streams(1),
      {compute("t1", 0, 1), compute("t2", 0, 1), compute("low", 1, 4), compute("mid", 1, 2, {0}),
       compute("mid2", 1, 1, {0}), compute("high", 1, 1, {1})});
  plan.classes[0].streams.push_back({"by priority", StreamOrder::by_priority});
  plan.classes[0].tasks[3].priority = plan.classes[0].tasks[4].priority = 1;
  plan.classes[0].tasks[5].priority = 2;
  const Timeline timeline = run(plan, small_cluster(1));
  expect_span(timeline, 0, 2, 0, 4);
  expect_span(timeline, 0, 5, 4, 5);
  expect_span(timeline, 0, 3, 5, 7);
  expect_span(timeline, 0, 4, 7, 8);
}

TEST(Engine, WaitsForNotBefore) {
  // In order: b starts at 3 though its stream is free at 1. By priority: the urgent task may not
  // start before 2, so the other runs first. Unordered: the receive is posted at 6.
  Plan plan = two_classes(streams(1, 1),
                          {compute("a", 0, 1), compute("b", 0, 1), compute("urgent", 2, 1),
                           compute("other", 2, 1.5), recv("r", 1, 0, 7, 0)},
                          streams(1), {send("s", 0, 0, 7, 0)});
  plan.classes[0].streams.push_back({"by priority", StreamOrder::by_priority});
  std::vector<Task>& tasks = plan.classes[0].tasks;
  tasks[1].not_before_s = 3;
  tasks[2].not_before_s = 2;
  tasks[2].priority = 5;
  tasks[4].not_before_s = 6;
  const Timeline timeline = run(plan, small_cluster(1));
  expect_span(timeline, 0, 1, 3, 4);
  expect_span(timeline, 0, 3, 0, 1.5);
  expect_span(timeline, 0, 2, 2, 3);
  expect_span(timeline, 0, 4, 6, 6);
}

TEST(Engine, RunsCollectivesOfDifferentGroupsAtTheSameTime) {
  // Four ranks form groups {0,1}, {2,3} (slot 0, 2 s) and {0,2}, {1,3} (slot 1, 3 s), on two
  // streams. Rank r reaches slot 0 at r s and slot 1 at 0 s: {0,1} starts at 1, {2,3} at 3, slot 1
  // at 0.
  Plan plan;
  plan.ranks = 4;
  plan.groups = {{Category::tp, {0, 1}},
                 {Category::tp, {2, 3}},
                 {Category::dp, {0, 2}},
                 {Category::dp, {1, 3}}};
  for (RankId r = 0; r < 4; ++r) {
    plan.classes.push_back(
        {"r",
         {r},
         streams(2),
         {compute("c", 0, r), collective("tp", 0, 0, 0, 2), collective("dp", 1, 1, 0, 3)},
         {{r / 2}, {2 + r % 2}},
         {}});
  }
  const Timeline timeline = run(plan, small_cluster(2));
  expect_span(timeline, 0, 1, 0, 3);
  expect_span(timeline, 1, 1, 1, 3);
  expect_span(timeline, 2, 1, 2, 5);
  expect_span(timeline, 3, 1, 3, 5);
  for (RankId r = 0; r < 4; ++r) expect_span(timeline, r, 2, 0, 3);
}

TEST(Engine, AsynchronousSendsDoNotWaitForTheReceive) {
  // A message has 1 s of fixed cost and 200 bytes over NVLink at 100 B/s, so it is sent from 0 to
  // 3. Its receive is posted at 5 and ends at once; the second one is posted at 5 and waits until 2
  // s + 4 s.
  Plan plan = two_classes(
      streams(2), {send("s0", 0, 0, 0, 200), compute("c", 1, 4), send("s1", 0, 0, 1, 200, {1})},
      streams(1, 1),
      {compute("c", 0, 5), recv("r0", 1, 0, 0, 200, {0}), recv("r1", 1, 0, 1, 200, {0})});
  plan.classes[0].tasks[0].cost = {{Category::pp, Origin::assumed, 1}};
  const Timeline timeline = run(plan, small_cluster(1));
  expect_span(timeline, 0, 0, 0, 3);
  expect_span(timeline, 0, 2, 4, 6);
  expect_span(timeline, 1, 1, 5, 5);
  expect_span(timeline, 1, 2, 5, 6);
}

TEST(Engine, SynchronousSendsStartWhenTheReceiveIsPosted) {
  // The receive is posted at 5; 200 bytes take 2 s from then on.
  Plan plan = two_classes(streams(1), {send("s", 0, 0, 0, 200), compute("next", 0, 1)}, streams(2),
                          {compute("c", 0, 5), recv("r", 1, 0, 0, 200, {0})});
  plan.classes[0].tasks[0].synchronous = true;
  const Timeline timeline = run(plan, small_cluster(1));
  expect_span(timeline, 0, 0, 5, 7);
  expect_span(timeline, 0, 1, 7, 8);
  expect_span(timeline, 1, 1, 5, 7);
}

TEST(Engine, CopiesContendForHostMemory) {
  // Both GPUs of a node copy 60 bytes to the host. Alone, PCIe allows 20 B/s; a copy uses host
  // memory twice (read and write), so the two share its 30 B/s as 7.5 B/s each: 8 s. Another flow
  // of the first copy, 30 bytes over PCIe only, gets the other 12.5 B/s: 2.4 s, after 1 s of fixed
  // cost.
  Plan plan;
  plan.ranks = 2;
  for (RankId r = 0; r < 2; ++r) {
    plan.classes.push_back({"r", {r}, streams(1), {}, {}, {}});
    Task copy = plain(TaskKind::copy, "D2H", 0, 1);
    copy = with_flow(copy, 60, {{Resource::pcie_out, 1}, {Resource::host_memory, 2}});
    if (r == 0) copy = with_flow(copy, 30, {{Resource::pcie_out, 1}});
    plan.classes[r].tasks = {copy};
  }
  const Timeline timeline = run(plan, small_cluster(1));
  expect_span(timeline, 0, 0, 0, 9);
  expect_span(timeline, 1, 0, 0, 9);
}

TEST(Engine, ClassesWithMultiplicityFold) {
  // There are four pairs of nodes: each rank of the first two nodes sends 50 bytes to its
  // counterpart two nodes further (NIC 10 B/s: 5 s). Everything is symmetric, so one rank per class
  // is simulated.
  Plan plan;
  plan.ranks = 8;
  plan.classes.push_back({"from",
                          {0, 1, 2, 3},
                          streams(2),
                          {compute("c", 0, 1), send("s", 1, 0, 0, 50, {0})},
                          {},
                          {{4, 5, 6, 7}}});
  plan.classes.push_back({"to",
                          {4, 5, 6, 7},
                          streams(1, 1),
                          {recv("r", 1, 0, 0, 50), compute("c", 0, 2, {0})},
                          {},
                          {{0, 1, 2, 3}}});
  const Timeline timeline = run(plan, small_cluster(4));
  expect_span(timeline, 3, 1, 1, 6);
  expect_span(timeline, 7, 1, 6, 8);
  const Timeline folded = execute(plan, small_cluster(4));
  EXPECT_EQ(folded.ranks_simulated, 2);
  ASSERT_EQ(folded.ranks.size(), 2u);
  EXPECT_EQ(folded.ranks[0].multiplicity, 4);
}

TEST(Engine, ReceivesEndOutOfOrder) {
  // The sender sends tag 1 first. An unordered stream receives tag 1 at 1 s although tag 0 is
  // listed first. In order, the receive of tag 1 is posted when tag 0 has ended, at 2 s.
  for (const bool in_order : {false, true}) {
    Plan plan = two_classes(streams(1), {send("s1", 0, 0, 1, 100), send("s0", 0, 0, 0, 100)},
                            streams(1, 1), {recv("r0", 1, 0, 0, 100), recv("r1", 1, 0, 1, 100)});
    if (in_order) plan.classes[1].streams[1].order = StreamOrder::in_order;
    const Timeline timeline = run(plan, small_cluster(1));
    expect_span(timeline, 1, 0, 0, 2);
    if (in_order) expect_span(timeline, 1, 1, 2, 2);
    if (!in_order) expect_span(timeline, 1, 1, 0, 1);
  }
}

TEST(Engine, ADemandMayCapItsOwnRate) {
  // 10 bytes at no more than 2 B/s share a PCIe link of 20 B/s with 90 bytes, which get the other
  // 18 B/s: both take 5 s.
  Task task = compute("c", 0, 0);
  task = with_flow(task, 10, {{Resource::pcie_out, 1}}, 2);
  task = with_flow(task, 90, {{Resource::pcie_out, 1}});
  expect_span(run(one_class({0, 1}, streams(1), {task}), small_cluster(1)), 1, 0, 0, 5);
}

TEST(Engine, ACommunicationKernelTakesSmsFromCompute) {
  // On 100 SMs a GEMM of 300 SM-seconds alone takes 3 s. A communication kernel holds 20 SMs for 2
  // s (40 SM-seconds at 20 SMs). The GEMM gets 80 SMs until 2 s (160 SM-seconds), then 100 (140 in
  // 1.4 s): it ends at 3.4 s.
  Plan plan = one_class({0, 1}, streams(2),
                        {with_flow(compute("gemm", 0, 0), 300, {{Resource::sm, 1}}),
                         with_flow(compute("nccl", 1, 0), 40, {{Resource::sm, 1}}, 20)});
  const Timeline timeline = run(plan, small_cluster(1));
  expect_span(timeline, 0, 0, 0, 3.4);
  expect_span(timeline, 0, 1, 0, 2);
}

TEST(Engine, ASlowNodeSlowsComputesAndCopiesOnly) {
  Cluster cluster = small_cluster(2);
  cluster.slow_nodes = {{1, 1.5}};
  Plan plan =
      one_class({0, 1, 2, 3}, streams(1),
                {compute("c", 0, 2),
                 with_flow(plain(TaskKind::copy, "d", 0, 1), 40, {{Resource::pcie_out, 1}}),
                 with_flow(plain(TaskKind::store, "w", 0, 1), 15, {{Resource::storage_write, 1}})});
  const Timeline timeline = run(plan, cluster);
  expect_span(timeline, 0, 1, 2, 5);
  expect_span(timeline, 2, 0, 0, 3);
  expect_span(timeline, 2, 1, 3, 7.5);
  // Ranks 0 and 1 write to storage from 6 s on, 5 B/s each through their node's NIC. At 8.5 s, when
  // 2.5 bytes are left, ranks 2 and 3 join, and the storage's 15 B/s give 3.75 to each: 2/3 s more.
  // The others then have 12.5 bytes left and 5 B/s each.
  expect_span(timeline, 0, 2, 5, 8.5 + 2.0 / 3);
  expect_span(timeline, 2, 2, 7.5, 11 + 2.0 / 3);
}

TEST(Engine, LongChainsOfReceivesNeedNoStack) {
  // 5,000 messages have long arrived when the first of 5,000 receives, each after the one before,
  // is posted: they all end at that moment. A recursion that deep would overflow a stack of 16 KiB.
  constexpr int kMessages = 5000;
  for (const StreamOrder order : {StreamOrder::unordered, StreamOrder::in_order}) {
    std::vector<Task> sends, receives = {compute("c", 0, 1)};
    for (int i = 0; i < kMessages; ++i) {
      sends.push_back(send("s", 0, 0, i, 0));
      receives.push_back(recv("r", 1, 0, i, 0, {i}));
    }
    Plan plan = two_classes(streams(1), sends, {{"compute", {}}, {"recv", order}}, receives);
    expect_span(execute(plan, small_cluster(1)), 1, kMessages, 1, 1);
  }
}

TEST(Engine, ADeadlockNamesItsPlace) {
  // Both ranks send synchronously before they receive.
  const auto tasks = [] {
    std::vector<Task> list = {send("to the other", 0, 0, 3, 8), recv("from it", 0, 0, 3, 8)};
    list[0].synchronous = true;
    return list;
  };
  const Plan plan = two_classes(streams(1), tasks(), streams(1), tasks());
  EXPECT_THROW(
      {
        try {
          execute(plan, small_cluster(1));
        } catch (const InternalError& error) {
          EXPECT_STREQ(error.what(),
                       "the plan deadlocks: rank 0, class 'first', stream 's0' never ends task 0 "
                       "'to the other'");
          throw;
        }
      },
      InternalError);
}

TEST(Engine, AFlowWithoutBandwidthIsTheUsersError) {
  Cluster cluster = small_cluster(1);
  cluster.storage.write_Bps.value = 0;
  const Plan plan = one_class({0, 1}, streams(1),
                              {with_flow(compute("w", 0, 0), 1, {{Resource::storage_write, 1}})});
  EXPECT_EQ(error_of([&] { execute(plan, cluster); }),
            "the plan sends data over 'storage-write', which has no bandwidth");
}

// This is the case "A faster kernel, a longer step" of docs/physics/schedules.md. A message follows
// each of two kernels, and a last kernel of 6 s waits for the message of the kernel of 2 s. No task
// waits for the other message. Both have 20 bytes, and the NIC sends 10 B/s.
Plan five_tasks(double kernel_s, bool awaited_first) {
  Plan plan;
  plan.ranks = 3;
  // Both kernels run on rank 0, which sends both messages.
  std::vector<Task> tasks = {compute("kernel", 0, kernel_s), compute("other kernel", 1, 2),
                             send("awaited", 3, 0, 2, 20, {1})};
  tasks.push_back(send("message", 2, 0, 1, 20,
                       awaited_first ? std::vector<TaskIndex>{0, 2} : std::vector<TaskIndex>{0}));
  plan.classes.push_back({"sender", {0}, streams(4), std::move(tasks), {}, {{2}}});
  plan.classes.push_back({"idle", {1}, streams(1), {compute("nothing", 0, 0)}, {}, {}});
  plan.classes.push_back(
      {"receiver",
       {2},
       streams(1, 1),
       {recv("message", 1, 0, 1, 20), recv("awaited", 1, 0, 2, 20), compute("last", 0, 6, {1})},
       {},
       {{0}}});
  return plan;
}

// Graham (1969): a shorter task may make all tasks together take longer. Here two messages meet at
// a port and share it; they do not if the awaited message has priority.
TEST(Engine, AFasterKernelMayLengthenAStep) {
  Cluster cluster = small_cluster(2);
  const auto makespan_s = [&](double kernel_s, bool awaited_first) {
    return run(five_tasks(kernel_s, awaited_first), cluster).makespan_s;
  };
  EXPECT_NEAR(makespan_s(4, false), 2 + 2 + 6, 1e-6);
  EXPECT_NEAR(makespan_s(2, false), 2 + 4 + 6, 1e-6);
  EXPECT_NEAR(makespan_s(4, true), 10, 1e-6);
  EXPECT_NEAR(makespan_s(2, true), 10, 1e-6);
}

// Replicas run in lockstep: two ranks behind one NIC alternate a kernel of 2 s and a message that
// takes 2 s if it has the NIC alone. `first_s` is the length of the second rank's first kernel.
Plan two_replicas(double first_s) {
  Plan plan;
  plan.ranks = 4;
  for (const RankId rank : {0, 1}) {
    std::vector<Task> tasks;
    for (TaskIndex round = 0; round < 3; ++round) {
      const double kernel_s = rank == 1 && round == 0 ? first_s : 2;
      const std::vector<TaskIndex> last =
          round == 0 ? std::vector<TaskIndex>{} : std::vector<TaskIndex>{2 * round - 1};
      tasks.push_back(compute("kernel", 0, kernel_s, last));
      tasks.push_back(send("message", 1, 0, round, 20, {2 * round}));
    }
    plan.classes.push_back({"sender", {rank}, streams(2), std::move(tasks), {}, {{rank + 2}}});
  }
  for (const RankId rank : {2, 3}) {
    std::vector<Task> tasks;
    for (TaskIndex round = 0; round < 3; ++round) {
      tasks.push_back(recv("message", 0, 0, round, 20));
    }
    plan.classes.push_back({"receiver", {rank}, streams(0, 1), std::move(tasks), {}, {{rank - 2}}});
  }
  return plan;
}

// Fair shares keep ranks in lockstep, so that first all wait for the NIC and then the NIC is idle
// (docs/physics/schedules.md). If one rank is late, each sends while the other computes.
TEST(Engine, FairSharesMayLengthenAStepOfRanksInLockstep) {
  Cluster cluster = small_cluster(2);
  cluster.node.nics = 1;
  EXPECT_NEAR(run(two_replicas(2), cluster).makespan_s, 3 * (2 + 4), 1e-6);
  EXPECT_NEAR(run(two_replicas(4), cluster).makespan_s, 4 + 2 + 2 * (2 + 2), 1e-6);
}

}  // namespace
}  // namespace windtunnel
