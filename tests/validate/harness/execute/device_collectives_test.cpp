#include "validate/harness/execute/device_collectives.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "tests/support/error_of.hpp"
#include "tests/support/small_job.hpp"
#include "tests/validate/harness/device_ranks.hpp"
#include "validate/harness/execute/execute_plan.hpp"

namespace windtunnel {
namespace {

// The plan has collectives of all ranks, each kind twice.
Plan plan_of_all_kinds(int ranks) {
  Plan plan;
  plan.ranks = ranks;
  RankClass rank_class;
  rank_class.members.resize(static_cast<std::size_t>(ranks));
  std::iota(rank_class.members.begin(), rank_class.members.end(), 0);
  rank_class.streams = {{"dp"}};
  rank_class.groups = {std::vector<std::int32_t>(static_cast<std::size_t>(ranks), 0)};
  plan.groups = {{Category::dp, rank_class.members}};
  for (int sequence = 0; sequence < 8; ++sequence) {
    constexpr std::array kKinds = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                   CollectiveKind::all_gather, CollectiveKind::all_to_all};
    Task task;
    task.kind = TaskKind::collective;
    task.name = fmt::format("collective {}", sequence);
    task.group_slot = 0;
    task.sequence = sequence;
    task.collective = kKinds[static_cast<std::size_t>(sequence) % kKinds.size()];
    task.bytes = 1.2e6;
    rank_class.tasks.push_back(task);
  }
  plan.classes = {rank_class};
  validate_plan(plan);
  return plan;
}

#ifdef WINDTUNNEL_TEST_CUDA
class DeviceCollectivesTest : public DeviceRanksTest {};

// A wrong number would end the run with an error (CollectiveNumbers).
TEST_F(DeviceCollectivesTest, RunAPlansCollectivesThroughNccl) {
  ExecuteOptions options;
  options.scale = {1, 100};
  options.calibration = ideal_calibration();
  options.nccl = true;
  const Plan plan = plan_of_all_kinds(3);
  const Timeline timeline = execute_plan(plan, small_cluster(3, 1), options).timeline;
  ASSERT_EQ(timeline.ranks.size(), 3u);
  for (const RankTimeline& rank : timeline.ranks) {
    for (std::size_t t = 1; t < rank.spans.size(); ++t) {
      EXPECT_GE(rank.spans[t].start_s, rank.spans[t - 1].end_s);
    }
  }
}
#endif

TEST(DeviceCollectives, HaveOneOrder) {
  Plan plan = plan_of_all_kinds(2);
  EXPECT_NO_THROW(check_device_collectives(plan));
  plan.classes[0].streams.push_back({"tp"});
  plan.classes[0].tasks[1].stream = 1;
  EXPECT_TRUE(error_of([&] { check_device_collectives(plan); }).starts_with("--nccl: ")) << "two";
  // Each class has its collectives in a valid order, but the classes differ.
  plan = plan_of_all_kinds(2);
  plan.classes[0].members = {0};
  plan.classes[0].groups = {{0}};
  plan.classes.push_back(plan.classes[0]);
  plan.classes[1].members = {1};
  EXPECT_NO_THROW(check_device_collectives(plan));
  std::swap(plan.classes[1].tasks[0], plan.classes[1].tasks[1]);
  EXPECT_TRUE(error_of([&] { check_device_collectives(plan); }).starts_with("--nccl: "));
  Task task;
  task.collective = CollectiveKind::broadcast;
  task.bytes = 1;
  EXPECT_EQ(device_form(task), std::nullopt);
}

TEST(CollectiveNumbers, AreWhatEachKindMakesOfThem) {
  CollectiveNumbers numbers;
  numbers.members = 2;
  numbers.own = 1;
  numbers.part = 4;
  EXPECT_EQ(numbers.expected(5), numbers.given(0, 5) + numbers.given(1, 5));
  numbers.form = CollectiveForm::all_gather;
  EXPECT_EQ(numbers.expected(3), numbers.given(0, 3));
  numbers.form = CollectiveForm::all_to_all;
  EXPECT_EQ(numbers.expected(3), numbers.given(0, 4 + 3));
  int looked_at = 0;
  numbers.form = CollectiveForm::reduce_scatter;
  numbers.after([&](std::size_t at) { looked_at += at >= 4 ? 1 : 100; });
  EXPECT_EQ(looked_at, 3);
}

}  // namespace
}  // namespace windtunnel
