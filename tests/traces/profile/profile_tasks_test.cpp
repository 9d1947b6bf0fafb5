#include "traces/profile/profile_tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/profile/kineto_text.hpp"
#include "tests/traces/profile/made_kineto.hpp"
#include "traces/chakra/rank_plan.hpp"

namespace windtunnel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GpuWork kernel(double start_s, double end_s, double launched_s, WorkKind kind = WorkKind::product) {
  return {.start_s = start_s, .end_s = end_s, .launched_s = launched_s, .kind = kind};
}

GpuWork call(double start_s, double end_s, double launched_s) {
  GpuWork work = kernel(start_s, end_s, launched_s, WorkKind::communication);
  work.call = 0;
  return work;
}

RankProfile profile_of(std::vector<GpuWork> work) {
  RankProfile profile;
  profile.file = "t.json";
  profile.rank = 0;
  profile.ranks = 4;
  profile.names = {"k"};
  profile.work = std::move(work);
  profile.groups = {{"7", "dp", {0, 2}, 0}};
  profile.calls = {{CallKind::collective, CollectiveKind::all_gather, 800, "7", 2, -1}};
  finish_profile(profile);
  return profile;
}

ProfileTasks tasks(const RankProfile& profile) {
  const CapturedRank rank = captured_steps(profile);
  return tasks_of(profile, rank, rank.steps.front());
}

double seconds_of(const Task& task, Category category) {
  double seconds = 0;
  for (const CostPart& part : task.cost) seconds += part.category == category ? part.seconds : 0;
  return seconds;
}

// A collective starts after the first kernel and overlaps the second. The two kernels after it
// become one task, which waits for the collective.
TEST(ProfileTasks, WhoWaitsForWhomFollowsFromWhenTheyRan) {
  const RankProfile profile = profile_of({kernel(0, 2, 0), call(2, 8, 0.1), kernel(2, 4, 0.2),
                                          kernel(8.5, 9.5, 0.3), kernel(10, 11, 0.4)});
  const ProfileTasks made = tasks(profile);
  const std::vector<Task>& all = made.trace.rank_class.tasks;
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(made.priced, 1);
  EXPECT_EQ(made.as_measured, 0);
  EXPECT_EQ(seconds_of(all[0], Category::forward), 2);
  EXPECT_EQ(all[1].kind, TaskKind::collective);
  EXPECT_EQ(all[1].bytes, 800);  // the full buffer
  EXPECT_THAT(all[1].after, ElementsAre(0));
  EXPECT_EQ(all[1].category, Category::dp);
  EXPECT_EQ(seconds_of(all[2], Category::forward), 2);
  EXPECT_THAT(all[2].after, ElementsAre(0));
  EXPECT_THAT(all[3].after, ElementsAre(1, 2));
  EXPECT_EQ(seconds_of(all[3], Category::forward), 2);
  EXPECT_EQ(seconds_of(all[3], Category::host), 1);  // idle time after the collective
  EXPECT_EQ(made.trace.rank_class.streams.size(), 2u);
}

TEST(ProfileTasks, AKernelThatTheHostLaunchedLaterWaitsForTheHost) {
  const ProfileTasks made =
      tasks(profile_of({kernel(0, 2, 0), call(2, 3, 0.1), kernel(6, 7, 5.5)}));
  const Task& last = made.trace.rank_class.tasks.back();
  EXPECT_THAT(last.after, ElementsAre(0));
  EXPECT_EQ(seconds_of(last, Category::host), 4);
}

TEST(ProfileTasks, TheOptimizerWaitsForAllThatWasHidden) {
  const ProfileTasks made = tasks(profile_of({kernel(0, 2, 0), call(2, 3, 0.1), kernel(2, 6, 0.2),
                                              kernel(6, 7, 0.3, WorkKind::optimizer)}));
  EXPECT_THAT(made.trace.rank_class.tasks.back().after, ElementsAre(1, 2));
}

TEST(ProfileTasks, WithoutASizeItTakesItsTime) {
  RankProfile profile = profile_of({kernel(0, 2, 0), call(2, 5, 0.1)});
  profile.calls[0].bytes = -1;
  const ProfileTasks made = tasks(profile);
  EXPECT_EQ(made.as_measured, 1);
  EXPECT_EQ(total_seconds(made.trace.rank_class.tasks[1].cost), 3);
}

TEST(ProfileTasks, AGroupOfUnknownRanksIsRefused) {
  RankProfile profile = profile_of({kernel(0, 2, 0), call(2, 5, 0.1)});
  profile.groups.clear();
  EXPECT_THAT(error_of([&] { tasks(profile); }),
              HasSubstr("does not say which 2 ranks form process group '7'"));
  profile.calls[0].group_size = 4;  // all ranks
  EXPECT_EQ(tasks(profile).priced, 1);
}

TEST(ProfileTasks, MessagesOfOneKernelGoSideBySideToRanksOfTheirGroup) {
  RankProfile profile = profile_of({kernel(0, 2, 0), call(2, 5, 0.1)});
  CommunicationCall& both = profile.calls[0];
  both = {CallKind::send, CollectiveKind::all_reduce, 80, "7", 2, 1};
  both.beside = {{CallKind::receive, CollectiveKind::all_reduce, 40, "7", 2, 1}};
  const ProfileTasks made = tasks(profile);
  const std::vector<Task>& all = made.trace.rank_class.tasks;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(made.priced, 2);
  EXPECT_EQ(all[1].kind, TaskKind::send);
  EXPECT_EQ(all[1].bytes, 80);
  EXPECT_EQ(all[2].kind, TaskKind::recv);
  EXPECT_EQ(all[2].bytes, 40);
  ASSERT_EQ(made.trace.rank_class.peers.size(), 1u);
  EXPECT_THAT(made.trace.rank_class.peers[0], ElementsAre(2));  // the other of ranks 0 and 2
  both.beside[0].peer = 2;
  EXPECT_THAT(error_of([&] { tasks(profile); }), HasSubstr("rank 2 of process group '7'"));
  both.beside[0].peer = -1;  // if the other end is unknown, the measured time counts
  EXPECT_EQ(tasks(profile).as_measured, 1);
}

RankPlan plan_of(std::vector<RankTrace> traces) {
  std::size_t next = 0;
  return plan_of_ranks([&]() -> std::optional<RankTrace> {
    if (next == traces.size()) return std::nullopt;
    return std::move(traces[next++]);
  });
}

TEST(ProfileTasks, OneRankStandsForAllAndForMore) {
  const RankProfile profile = read_text(made_kineto({.tp = 2, .dp = 2, .steps = 2}));
  for (const int times : {1, 3}) {
    ProfileTasks made = tasks(profile);
    replicate(made.trace, times);
    const RankPlan merged = plan_of({std::move(made.trace)});
    EXPECT_EQ(merged.plan.ranks, 4 * times);
    EXPECT_EQ(merged.captured, 1);
    ASSERT_EQ(merged.plan.classes.size(), 1u);  // all ranks are alike
    std::size_t tensor = 0;
    std::size_t data = 0;
    for (const Group& group : merged.plan.groups) {
      (group.members[1] - group.members[0] == 1 ? tensor : data) += 1;
      const bool of_tensor = group.members[1] - group.members[0] == 1;
      EXPECT_EQ(group.members.size(), static_cast<std::size_t>(of_tensor ? 2 : 2 * times));
    }
    EXPECT_EQ(tensor, static_cast<std::size_t>(2 * times));
    EXPECT_EQ(data, 2u);
  }
}

// With hybrid sharding the number of shards stays, and the number of replicas that hold them grows.
TEST(ProfileTasks, OfHybridShardingTheReplicasGrow) {
  RankProfile profile = profile_of({kernel(0, 2, 0), call(2, 5, 0.1)});
  profile.groups = {{"0", "default_pg", {0, 1, 2, 3}, 0},
                    {"7", "mesh_dp_shard", {0, 1}, 0},
                    {"8", "mesh_dp_replicate", {0, 2}, 0}};
  RankTrace trace = tasks(profile).trace;
  replicate(trace, 2);
  EXPECT_THAT(trace.declared[0].ranks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(trace.declared[1].ranks, ElementsAre(0, 1));
  EXPECT_THAT(trace.declared[2].ranks, ElementsAre(0, 2, 4, 6));
}

// Two stages have two data-parallel ranks each; all are captured, and then doubled.
TEST(ProfileTasks, PipelinesGrowByCopiesOfAllStages) {
  std::vector<RankTrace> traces;
  for (const int rank : {0, 1, 2, 3}) {
    const MadeTrace made{.rank = rank, .dp = 2, .pp = 2, .steps = 2, .microbatches = 3};
    RankTrace trace = tasks(read_text(made_kineto(made))).trace;
    replicate(trace, 2);
    for (const int copy : {0, 1}) traces.push_back(copy_of(trace, copy, 2));
  }
  const RankPlan merged = plan_of(std::move(traces));
  EXPECT_EQ(merged.plan.ranks, 8);
  EXPECT_EQ(merged.captured, 8);
  validate_plan(merged.plan);
  std::vector<std::vector<RankId>> groups;
  for (const Group& group : merged.plan.groups) groups.push_back(group.members);
  EXPECT_THAT(groups, ::testing::UnorderedElementsAre(std::vector<RankId>{0, 1, 4, 5},
                                                      std::vector<RankId>{2, 3, 6, 7}));
  for (const RankClass& owner : merged.plan.classes) {
    for (const auto& slot : owner.peers) {
      for (std::size_t i = 0; i < slot.size(); ++i) {
        EXPECT_EQ(slot[i], owner.members[i] ^ 2);  // the other stage of the same copy
      }
    }
  }
}

TEST(ProfileTasks, WithoutDataParallelismNothingGrows) {
  ProfileTasks made = tasks(profile_of({kernel(0, 2, 0), call(2, 5, 0.1)}));
  made.trace.declared[0].axis = "tp";
  EXPECT_NO_THROW(replicate(made.trace, 1));
  EXPECT_THAT(error_of([&] { replicate(made.trace, 2); }),
              HasSubstr("has neither a process group of data parallelism"));
}

TEST(ProfileTasks, ACopyBesideThatNothingWaitsForTakesNoTime) {
  GpuWork copy = kernel(2, 9, 0.1, WorkKind::copy);
  copy.stream = 21;
  const GpuWork last = kernel(4, 10, 0.3);
  const auto seconds = [](const ProfileTasks& made) {
    double sum = 0;
    for (const Task& task : made.trace.rank_class.tasks) sum += total_seconds(task.cost);
    return sum;
  };
  const double without_s = seconds(tasks(profile_of({kernel(0, 4, 0), last})));
  EXPECT_EQ(seconds(tasks(profile_of({kernel(0, 4, 0), copy, last}))), without_s);
  copy.end_s = 14;
  EXPECT_EQ(seconds(tasks(profile_of({kernel(0, 4, 0), copy, last}))), without_s);
  copy.stream = 0;  // a copy on the stream of kernels is work
  EXPECT_EQ(seconds(tasks(profile_of({kernel(0, 4, 0), copy, last}))), without_s + 4);
}

TEST(ProfileTasks, CallsWithoutAPriceOfTwoStreamsRunBesideEachOther) {
  GpuWork other = call(2, 6, 0.2);
  other.stream = 9;
  RankProfile profile = profile_of({kernel(0, 2, 0), call(2, 5, 0.1), other});
  profile.calls[0].bytes = -1;
  const ProfileTasks made = tasks(profile);
  const std::vector<Task>& all = made.trace.rank_class.tasks;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_NE(all[1].stream, all[2].stream);
}

// In an exchange of tokens for experts the ranks send unlike amounts.
TEST(ProfileTasks, TheLargestOfAnExchangeCounts) {
  std::vector<RankTrace> ranks;
  for (const RankId rank : {0, 1}) {
    RankProfile profile = profile_of({kernel(0, 2, 0), call(2, 5, 0.1)});
    profile.rank = rank;
    profile.ranks = 2;
    profile.groups[0].ranks = {0, 1};
    profile.calls[0].collective = CollectiveKind::all_to_all;
    profile.calls[0].bytes = rank == 0 ? 2000 : 2020;
    ranks.push_back(tasks(profile).trace);
  }
  std::size_t next = 0;
  const RankPlan merged = plan_of_ranks([&]() -> std::optional<RankTrace> {
    if (next == ranks.size()) return std::nullopt;
    return ranks[next++];
  });
  for (const RankClass& owner : merged.plan.classes) EXPECT_EQ(owner.tasks[1].bytes, 2020);
}

// Rank 1 takes longer, and so does its copy.
TEST(ProfileTasks, ACopyOfARankRunsAsThatRank) {
  std::vector<RankTrace> traces;
  for (const RankId rank : {0, 1}) {
    RankProfile profile = profile_of({kernel(0, 2 + rank, 0), call(4, 5, 0.1), call(5, 6, 0.1)});
    profile.rank = rank;
    profile.ranks = 2;
    profile.groups = {{"7", "mesh_dp", {rank}, 0}, {"8", "mesh_tp", {0, 1}, 0}};
    profile.calls.push_back(profile.calls[0]);
    profile.calls[1].group = "8";
    profile.work.back().call = 1;
    RankTrace trace = tasks(profile).trace;
    replicate(trace, 2);
    for (const int copy : {0, 1}) traces.push_back(copy_of(trace, copy, 2));
  }
  const RankPlan merged = plan_of(std::move(traces));
  EXPECT_EQ(merged.plan.ranks, 4);
  ASSERT_EQ(merged.plan.classes.size(), 2u);
  EXPECT_THAT(merged.plan.classes[0].members, ElementsAre(0, 2));
  EXPECT_THAT(merged.plan.classes[1].members, ElementsAre(1, 3));
  std::vector<std::vector<RankId>> groups;
  for (const Group& group : merged.plan.groups) groups.push_back(group.members);
  EXPECT_THAT(groups, ::testing::UnorderedElementsAre(
                          std::vector<RankId>{0, 2}, std::vector<RankId>{1, 3},
                          std::vector<RankId>{0, 1}, std::vector<RankId>{2, 3}));
}

TEST(ProfileTasks, ManyRanksAreRefusedBeforeTheyAreFilledIn) {
  ProfileTasks made = tasks(profile_of({kernel(0, 2, 0), call(2, 5, 0.1)}));
  EXPECT_THAT(error_of([&] { replicate(made.trace, 2'000'000'000); }),
              HasSubstr("are more than 10000000 ranks"));
  made.trace.ranks = 5'000'000;
  bool given = false;
  EXPECT_THAT(error_of([&] {
                plan_of_ranks(
                    [&]() -> std::optional<RankTrace> {
                      if (given) return std::nullopt;
                      given = true;
                      return made.trace;
                    },
                    [](int ranks) { throw Error(fmt::format("no room for {}", ranks)); });
              }),
              HasSubstr("no room for 5000000"));
}

TEST(ProfileTasks, OfAPipelineAllRanksAreNeeded) {
  RankProfile profile = profile_of({kernel(0, 2, 0), call(2, 5, 0.1)});
  profile.calls[0].kind = CallKind::send;
  profile.calls[0].peer = 1;
  EXPECT_THAT(error_of([&] { plan_of({tasks(profile).trace}); }),
              HasSubstr("a pipeline needs the traces of all ranks"));
}

}  // namespace
}  // namespace windtunnel
