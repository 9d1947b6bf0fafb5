#include "models/results/iteration_report.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

CostPart seconds(Category category, double value) {
  return {category, Origin::spec, value};
}

Task compute(const char* name, double value, std::vector<TaskIndex> after = {}) {
  Task task;
  task.name = name;
  task.cost = {seconds(Category::forward, value)};
  task.after = std::move(after);
  return task;
}

// Rank 0 runs F (1 s) and sends (0.5 s). Rank 1 runs its own F (0.2 s), waits for the message and
// runs B (2 s); a snapshot in the background then outlasts everything.
struct TwoRanks {
  Plan plan;
  Timeline timeline;
};

TwoRanks two_ranks() {
  TwoRanks two;
  two.plan.ranks = 2;
  RankClass a;
  a.name = "a";
  a.members = {0};
  a.streams = {{"compute", StreamOrder::in_order}, {"recv", StreamOrder::unordered}};
  a.peers = {{1}};
  RankClass b = a;
  b.name = "b";
  b.members = {1};
  b.peers = {{0}};
  Task send;
  send.kind = TaskKind::send;
  send.name = "send";
  send.cost = {seconds(Category::pp, 0.1)};
  send.category = Category::pp;
  send.origin = Origin::assumed;
  send.peer_slot = 0;
  a.tasks = {compute("F", 1), send};
  Task recv;
  recv.kind = TaskKind::recv;
  recv.name = "recv";
  recv.stream = 1;
  recv.category = Category::pp;
  recv.peer_slot = 0;
  Task snapshot;
  snapshot.kind = TaskKind::copy;
  snapshot.name = "copy";
  snapshot.category = Category::snapshot;
  b.tasks = {compute("F", 0.2), recv, compute("B", 2, {1}), snapshot};
  b.tasks[2].cost = {seconds(Category::recompute, 0.5), seconds(Category::backward, 1.5)};
  b.tasks[2].category = Category::backward;
  two.plan.classes = {a, b};
  two.timeline.ranks = {{0, 0, 1, {{0, 1}, {1, 1.5}}},
                        {1, 1, 1, {{0, 0.2}, {0, 1.5}, {1.5, 3.5}, {3.5, 9}}}};
  two.timeline.recorded_as = {0, 1};
  two.timeline.makespan_s = 9;
  return two;
}

TEST(CriticalPath, CrossesRanksThroughTheMessage) {
  const TwoRanks two = two_ranks();
  validate_plan(two.plan);
  const auto path = critical_path(two.plan, two.timeline);
  std::vector<std::string> names;
  for (const PathStep& step : path) {
    names.push_back(two.plan.classes[step.rank_class].tasks[step.task].name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"F", "send", "recv", "B"}));
  EXPECT_EQ(foreground_end_s(two.plan, two.timeline, 0), 3.5);
  EXPECT_EQ(snapshot_end_s(two.plan, two.timeline), 9);
}

TEST(IterationReport, ChargesEverySecondOfTheStepOnce) {
  const TwoRanks two = two_ranks();
  Job job = small_job(1, 2, 1);
  const auto path = critical_path(two.plan, two.timeline);
  const IterationReport report = iteration_report(job, {}, {}, two.plan, two.timeline, path);
  EXPECT_DOUBLE_EQ(report.time_s, 3.5);
  const auto& by_category = report.critical_path_s;
  EXPECT_DOUBLE_EQ(by_category[static_cast<int>(Category::forward)], 1);
  EXPECT_DOUBLE_EQ(by_category[static_cast<int>(Category::pp)], 0.5);
  EXPECT_DOUBLE_EQ(by_category[static_cast<int>(Category::recompute)], 0.5);
  EXPECT_DOUBLE_EQ(by_category[static_cast<int>(Category::backward)], 1.5);
  EXPECT_DOUBLE_EQ(std::accumulate(by_category.begin(), by_category.end(), 0.0), 3.5);
  // The origin of the message's fixed 0.1 s is the data sheet, that of its transfer time is an
  // assumption.
  EXPECT_DOUBLE_EQ(report.origin_s[static_cast<int>(Origin::spec)], 3.1);
  EXPECT_DOUBLE_EQ(report.origin_s[static_cast<int>(Origin::assumed)], 0.4);
  // Rank 1 is the busiest with 2.2 s of compute, between its first start at 0 and its last end at
  // 3.5.
  EXPECT_DOUBLE_EQ(report.bubble.makespan_s, 1.3);
  EXPECT_DOUBLE_EQ(report.bubble.longest_stage_s, 1.3);
  EXPECT_DOUBLE_EQ(report.bubble.idle, ((1 - 1 / 3.5) + (1 - 2.2 / 3.5)) / 2);
}

TEST(IterationReport, BubblesOfUnevenRanksInTheLastOfTwoIterations) {
  // In each iteration of 10 s rank 0 computes in 0-2 and 7-9, rank 1 without interruption in 3-6.
  Plan plan;
  plan.ranks = 2;
  plan.iterations = 2;
  Timeline timeline;
  for (const RankId rank : {0, 1}) {
    RankClass owner;
    owner.name = rank == 0 ? "ends" : "middle";
    owner.members = {rank};
    owner.streams = {{"compute", StreamOrder::in_order}};
    RankTimeline recorded{rank, rank, 1, {}};
    for (std::int16_t iteration : {0, 1}) {
      const double at = 10.0 * iteration;
      const std::vector<Span> spans = rank == 0 ? std::vector<Span>{{at, at + 2}, {at + 7, at + 9}}
                                                : std::vector<Span>{{at + 3, at + 6}};
      for (const Span& span : spans) {
        owner.tasks.push_back(compute("F", span.end_s - span.start_s));
        owner.tasks.back().iteration = iteration;
        recorded.spans.push_back(span);
      }
      // The iteration ends with a task of which half waits for tensor-parallel communication.
      Task tail = compute("tail", 0);
      tail.cost = {seconds(Category::tp, 0.5), seconds(Category::optimizer, 0.5)};
      tail.category = Category::optimizer;
      tail.iteration = iteration;
      owner.tasks.push_back(tail);
      recorded.spans.push_back({at + 9, at + 10});
    }
    plan.classes.push_back(owner);
    timeline.ranks.push_back(recorded);
  }
  timeline.recorded_as = {0, 1};
  timeline.makespan_s = 20;
  const IterationReport report =
      iteration_report(small_job(1, 2, 1), {}, {}, plan, timeline, critical_path(plan, timeline));
  EXPECT_DOUBLE_EQ(report.time_s, 10);
  EXPECT_DOUBLE_EQ(report.bubble.makespan_s, 6);       // 10 - 4
  EXPECT_DOUBLE_EQ(report.bubble.longest_stage_s, 5);  // 9 - 4; never above the makespan's
  EXPECT_DOUBLE_EQ(report.bubble.idle, 1 - (4.5 + 3.5) / 20);
}

// Returns the critical path of one rank whose tasks, on up to three streams, ran at these times.
std::vector<PathStep> critical_path_of(RankClass owner, const std::vector<Span>& times) {
  owner.name = "a";
  owner.members = {0};
  owner.streams = {{"a", {}}, {"b", {}}, {"c", {}}};
  Plan plan;
  plan.ranks = 1;
  plan.classes = {std::move(owner)};
  Timeline timeline;
  timeline.ranks = {{0, 0, 1, times}};
  timeline.recorded_as = {0};
  return critical_path(plan, timeline);
}

TEST(CriticalPath, AJoinOfTheFirstGoesOnWithTheOneItTook) {
  // C starts with the first of A (0-1, stream 0) and B (0-5, stream 1): it runs from 1 to 10.
  RankClass owner;
  owner.tasks = {compute("A", 1), compute("B", 5), compute("C", 9, {0, 1})};
  owner.tasks[1].stream = 1;
  owner.tasks[2].stream = 2;
  owner.tasks[2].join_first = 1;
  const auto path = critical_path_of(owner, {{0, 1}, {0, 5}, {1, 10}});
  ASSERT_EQ(path.size(), 2U);
  EXPECT_EQ(path[0].task, 0);
  EXPECT_DOUBLE_EQ(path[1].start_s, 1);
}

// C waits for A and B, which end together: the path continues with the one that is named first, and
// ends there, because that task is the first of its stream.
TEST(CriticalPath, OfTwoThatEndTogetherTheFirstIsTheCause) {
  RankClass owner;
  owner.tasks = {compute("A", 2), compute("B", 2), compute("C", 1, {1, 0})};
  owner.tasks[1].stream = 1;
  owner.tasks[2].stream = 2;
  const auto path = critical_path_of(owner, {{0, 2}, {0, 2}, {2, 3}});
  ASSERT_EQ(path.size(), 2U);
  EXPECT_EQ(path[0].task, 1);
  EXPECT_EQ(path[1].task, 2);
}

// B waits for no task, although A ended before B began: B is the first task of its stream.
TEST(CriticalPath, BeginsWithWhatWaitsForNobody) {
  RankClass owner;
  owner.tasks = {compute("A", 1), compute("B", 2)};
  owner.tasks[1].stream = 1;
  const auto path = critical_path_of(owner, {{0, 1}, {2, 4}});
  ASSERT_EQ(path.size(), 1U);
  EXPECT_EQ(path[0].task, 1);
}

TEST(CriticalPath, ACollectiveContinuesWithItsLastMember) {
  // Two ranks compute 1 s and 3 s, then meet for 1 s.
  Plan plan;
  plan.ranks = 2;
  plan.groups = {{Category::dp, {0, 1}}};
  Timeline timeline;
  for (const RankId rank : {0, 1}) {
    RankClass owner;
    owner.name = rank == 0 ? "fast" : "slow";
    owner.members = {rank};
    owner.streams = {{"compute", StreamOrder::in_order}, {"dp", StreamOrder::in_order}};
    owner.groups = {{0}};
    Task meet;
    meet.kind = TaskKind::collective;
    meet.name = "reduce";
    meet.stream = 1;
    meet.after = {0};
    meet.cost = {seconds(Category::dp, 1)};
    meet.category = Category::dp;
    meet.group_slot = 0;
    const double own = rank == 0 ? 1 : 3;
    owner.tasks = {compute("F", own), meet};
    plan.classes.push_back(owner);
    timeline.ranks.push_back({rank, rank, 1, {{0, own}, {own, 4}}});
  }
  timeline.recorded_as = {0, 1};
  timeline.makespan_s = 4;
  const auto path = critical_path(plan, timeline);
  ASSERT_EQ(path.size(), 2U);
  EXPECT_EQ(path[0].rank, 1);
  EXPECT_DOUBLE_EQ(path[0].end_s, 3);
  EXPECT_DOUBLE_EQ(path[1].start_s, 3);
}

// Both MFU figures are printed if they differ by more than 2 %.
TEST(IterationReport, CountsOfCausalAttentionDifferFromTwoPerCentOn) {
  IterationReport report;
  report.mfu = 0.5;
  report.mfu_causal = 0.492;
  EXPECT_FALSE(counts_differ(report));
  report.mfu_causal = 0.488;
  EXPECT_TRUE(counts_differ(report));
}

}  // namespace
}  // namespace windtunnel
