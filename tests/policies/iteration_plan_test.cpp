#include "policies/iteration_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/random.hpp"
#include "models/memory.hpp"
#include "policies/schedules.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

using testing::small_job;

struct Built {
  Schedule schedule;
  std::vector<ChunkCost> chunks;
  Plan plan;
};

Built build(const Job& job, const IterationPlanOptions& options = {}) {
  Built built;
  built.schedule = generate_schedule(job.schedule, job.layout.pp,
                                     microbatches(job.layout, job.batch), job.layout.vpp);
  built.chunks = chunk_costs(job);
  built.plan = iteration_plan(job, built.schedule, built.chunks, options);
  return built;
}

const Task& named(const RankClass& owner, const std::string& name) {
  const auto found = std::ranges::find(owner.tasks, name, &Task::name);
  EXPECT_NE(found, owner.tasks.end()) << name;
  return *found;
}

TaskIndex index_of(const RankClass& owner, const Task& task) {
  return static_cast<TaskIndex>(&task - owner.tasks.data());
}

double seconds_of(const RankClass& owner, Category category) {
  double seconds = 0;
  for (const Task& task : owner.tasks) {
    if (task.category == category) seconds += total_seconds(task.cost);
  }
  return seconds;
}

TEST(IterationPlan, RandomJobsGiveValidPlansThatLoseNothing) {
  RandomStream random(1, RandomPurpose::test, 0);
  const std::vector<std::string> names = {"gpipe", "1f1b", "interleaved-1f1b"};
  for (int round = 0; round < 40; ++round) {
    const std::string name = names[random.below(3)];
    const int vpp = name == "interleaved-1f1b" ? 2 : 1;
    const int pp = vpp == 2 ? 2 : 1 << random.below(3);
    Job job = small_job(1 << random.below(2), pp, 1 << random.below(3), vpp);
    job.schedule = name;
    if (random.below(2) == 0) job.communication.overlap = GradientOverlap::none;
    if (random.below(2) == 0) job.layout.sharding = Sharding::none;
    if (random.below(2) == 0) job.model.tied_embeddings = false;
    job.communication.bucket_bytes = 1e6 * (1 + random.below(40));
    const Built built = build(job, {.iterations = 1 + static_cast<int>(random.below(2))});
    ASSERT_NO_THROW(validate_plan(built.plan));
    for (int r = 0; r < pp; ++r) {
      const RankClass& owner = built.plan.classes[r];
      double forward = 0;
      double backward = 0;
      double parameters = 0;
      for (int s = 0; s < built.schedule.stages(); ++s) {
        if (built.schedule.rank_of_stage[s] != r) continue;
        forward += total_seconds(built.chunks[s].forward);
        backward += total_seconds(built.chunks[s].recompute) +
                    total_seconds(built.chunks[s].backward_input) +
                    total_seconds(built.chunks[s].backward_weight);
        parameters += built.chunks[s].parameters;
      }
      const double times = double(built.schedule.microbatches) * built.plan.iterations;
      EXPECT_NEAR(seconds_of(owner, Category::forward), forward * times, 1e-9 * forward * times);
      EXPECT_NEAR(seconds_of(owner, Category::backward), backward * times, 1e-9 * backward * times);
      double reduced = 0;
      double alive = 0;
      for (const Task& task : owner.tasks) {
        alive += task.allocate_bytes - task.free_bytes;
        if (task.name.starts_with("reduce ") && task.name != "reduce embedding") {
          reduced += task.bytes / gradient_bytes_per_parameter(job);
        }
      }
      EXPECT_NEAR(alive, 0, 1) << "activations are freed as often as they are kept";
      const double expected = job.layout.dp > 1 ? parameters * built.plan.iterations : 0;
      EXPECT_NEAR(reduced, expected, 1e-9 * parameters);
    }
  }
}

TEST(IterationPlan, MessagesCarryTheBoundaryTensorOncePerMicrobatchAndDirection) {
  const Job job = small_job(1, 4, 2);
  const Built built = build(job);
  for (int r = 0; r < 4; ++r) {
    double sent = 0;
    for (const Task& task : built.plan.classes[r].tasks) {
      if (task.kind == TaskKind::send) sent += task.bytes;
    }
    const int boundaries = (r > 0) + (r < 3);
    const double boundary = 1024.0 * 1024 * 2;  // s x h x bf16
    EXPECT_DOUBLE_EQ(sent, boundaries * 8 * boundary) << r;
  }
}

TEST(IterationPlan, ReductionsStartInsideTheLastBackwardOnly) {
  Job job = small_job(1, 2, 2);
  job.communication.bucket_bytes = 1e6;
  const Built built = build(job);
  const RankClass& owner = built.plan.classes[1];
  const Task& first = named(owner, "reduce 1/0");
  ASSERT_EQ(first.after.size(), 1U);
  const Task& piece = owner.tasks[first.after.front()];
  EXPECT_EQ(piece.name, "B1.7/0");
  EXPECT_LT(total_seconds(piece.cost), total_seconds(named(owner, "B1.6").cost));
  EXPECT_EQ(piece.free_bytes, 0);
}

TEST(IterationPlan, Zero1ScattersGradientsAndGathersWeights) {
  Job job = small_job(1, 2, 4);
  const Built zero1 = build(job);
  job.layout.sharding = Sharding::none;
  const Built plain = build(job);
  const RankClass& sharded = zero1.plan.classes[0];
  EXPECT_EQ(named(sharded, "reduce 0/0").collective, CollectiveKind::reduce_scatter);
  EXPECT_EQ(named(sharded, "gather 0").collective, CollectiveKind::all_gather);
  EXPECT_EQ(named(plain.plan.classes[0], "reduce 0/0").collective, CollectiveKind::all_reduce);
  EXPECT_NEAR(total_seconds(named(sharded, "optimizer").cost) * 4,
              total_seconds(named(plain.plan.classes[0], "optimizer").cost), 1e-12);
  // The first forward of the stage waits for its weights.
  const auto& after = named(sharded, "F0.0").after;
  EXPECT_NE(std::ranges::find(after, index_of(sharded, named(sharded, "gather 0"))), after.end());
}

TEST(IterationPlan, SnapshotsHoldBackWhatTheyMust) {
  Job job = small_job(1, 2, 2);
  job.snapshots.resize(2);
  job.snapshots[0].place = SnapshotPlace::host_memory;
  job.snapshots[0].mode = SnapshotMode::async;
  job.snapshots[1].place = SnapshotPlace::storage;
  job.snapshots[1].mode = SnapshotMode::sync;
  const auto waits_for = [](const RankClass& owner, const Task& task, const std::string& name) {
    const auto before = index_of(owner, named(owner, name));
    return std::ranges::find(task.after, before) != task.after.end();
  };
  const Built async = build(job, {.due_snapshots = {0}});
  const RankClass& a = async.plan.classes[0];
  EXPECT_FALSE(waits_for(a, named(a, "F0.0"), "copy to host"));
  EXPECT_TRUE(waits_for(a, named(a, "optimizer"), "copy to host"));
  const Built sync = build(job, {.due_snapshots = {1}});
  const RankClass& s = sync.plan.classes[1];
  EXPECT_TRUE(waits_for(s, named(s, "F1.0"), "write to storage"));
  const auto bytes = snapshot_bytes_per_gpu(job, sync.chunks);
  EXPECT_DOUBLE_EQ(named(s, "write to storage").bytes, bytes[1]);
}

}  // namespace
}  // namespace windtunnel
