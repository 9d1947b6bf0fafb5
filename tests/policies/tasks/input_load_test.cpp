// Loading samples beside training: without shared resources a step takes the longer of both, in
// closed form too; what shares links or cores with the loader slows it down.
#include "policies/tasks/input_load.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <optional>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/results/iteration_report.hpp"
#include "models/workload/input_pipeline.hpp"
#include "policies/iteration.hpp"
#include "policies/schedules/schedules.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Job with_input(Job job, InputPipeline input) {
  job.input = std::make_shared<const InputPipeline>(input);
  return job;
}

double engine_step_s(const Job& job, const std::vector<int>& due = {}, int iterations = 1) {
  const PreparedIteration prepared = prepare_iteration(job);
  const Plan plan = iteration_plan(job, prepared, {.iterations = iterations, .due_snapshots = due});
  validate_plan(plan);
  const Timeline timeline = execute(plan, job.cluster, {.calibration = job.calibration});
  return foreground_end_s(plan, timeline, plan.iterations - 1);
}

double load_s(const Job& job) {
  const PreparedIteration prepared = prepare_iteration(job);
  const InputLoad load = input_load(job, prepared.schedule);
  return load.sample_s * samples_of_iteration(job, load, prepared.schedule, 0);
}

Job two_nodes() {
  Job job = small_job(1, 2, 4);
  job.batch.global = 32;
  job.communication.fidelity = Fidelity::closed;
  return job;
}

TEST(InputLoad, AStepTakesWhatIsLonger) {
  const double calm_s = engine_step_s(two_nodes());
  for (const double core_s : {1e-4, 1e-2, 1.0, 3.0}) {
    const Job job = with_input(two_nodes(), {.sample_core_s = core_s, .workers = 4});
    // Each replica reads eight samples on four cores.
    EXPECT_NEAR(load_s(job), 8 * core_s / 4, 1e-12);
    EXPECT_NEAR(engine_step_s(job), std::max(calm_s, load_s(job)), 1e-6 * calm_s);
    EXPECT_NEAR(iteration_step_s(job, prepare_iteration(job)), engine_step_s(job), 1e-6 * calm_s);
  }
}

TEST(InputLoad, IsBoundByWhatIsScarce) {
  Job job = two_nodes();
  job.cluster.node.cpu_cores = spec(64);
  const auto bound = [&](InputPipeline input) {
    const Job own = with_input(job, input);
    return input_load(own, prepare_iteration(own).schedule).bound;
  };
  EXPECT_EQ(bound({.sample_core_s = 1, .workers = 4}), "workers");
  // One node has four loaders.
  EXPECT_EQ(bound({.sample_core_s = 1, .workers = 17}), "CPU cores");
  EXPECT_EQ(bound({.sample_bytes = 1e9, .sample_core_s = 1e-3}), "storage NIC of the node");
  job.cluster.storage.read_Bps = spec(1e9);
  EXPECT_EQ(bound({.sample_bytes = 1e9, .sample_core_s = 1e-3}), "storage");
  EXPECT_EQ(bound({.sample_bytes = 1e9, .source = InputSource::local_disk}), "local drives");
  EXPECT_EQ(bound({}), "");
}

// All GPUs of a replica share one loader.
TEST(InputLoad, TheRanksOfAReplicaReadOnce) {
  Job job = small_job(4, 2, 1);
  job.batch.global = 8;
  const Job own = with_input(job, {.sample_core_s = 1, .workers = 2});
  EXPECT_NEAR(load_s(own), 8 * 1 / 2.0, 1e-12);
}

TEST(InputLoad, WithoutPrefetchingTheFirstForwardWaits) {
  const double calm_s = engine_step_s(two_nodes());
  const InputPipeline input{.sample_core_s = 0.1 * calm_s, .workers = 1, .prefetch = 0};
  const Job job = with_input(two_nodes(), input);
  // A micro-batch has one sample.
  EXPECT_GT(engine_step_s(job), calm_s + 0.09 * calm_s);
  EXPECT_LT(engine_step_s(job), calm_s + load_s(job));
  EXPECT_NEAR(iteration_step_s(job, prepare_iteration(job)), engine_step_s(job), 1e-6 * calm_s);
}

TEST(InputLoad, ALoaderThatIsSlowerSetsThePeriod) {
  const Job job = with_input(two_nodes(), {.sample_core_s = 1, .workers = 1});
  const double one_s = engine_step_s(job);
  EXPECT_NEAR(engine_step_s(job, {}, 3), 3 * one_s, 1e-6 * one_s);
}

TEST(InputLoad, SharesStorageWithSnapshots) {
  Job job = two_nodes();
  job.cluster.storage.read_Bps = job.cluster.storage.write_Bps = spec(4e9);
  SnapshotTier tier;
  tier.place = SnapshotPlace::local_disk;
  tier.every_iterations = 1;
  job.snapshots = {tier};
  const double written_s = engine_step_s(job, {0});
  InputPipeline input{.sample_bytes = 1, .source = InputSource::local_disk};
  // Reading keeps the drives busy for twice as long as an undisturbed step.
  input.sample_bytes = 2 * engine_step_s(job) * job.cluster.node.local_disk_Bps.value / 32;
  job = with_input(job, input);
  EXPECT_GT(written_s, 0);
  EXPECT_GT(engine_step_s(job, {0}), engine_step_s(job) * 1.001);
}

// ---- any job ----

template <typename T>
T pick(RandomStream& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

Job random_job(RandomStream& random) {
  const auto& kinds = schedule_kinds();
  const ScheduleKind& kind = kinds[random.below(kinds.size())];
  const int pp = pick(random, {1, 2, 4});
  Job job =
      small_job(pick(random, {1, 2}), pp, pick(random, {1, 2, 4}), pp > 1 ? kind.usual_chunks : 1);
  job.model.layers = 16;
  const int per_node = 4;
  const int ranks = job.layout.ranks();
  job.cluster = small_cluster(std::max(1, ranks / per_node), std::min(ranks, per_node));
  job.schedule.name = pp > 1 ? kind.name : "1f1b";
  if (pp > 1) job.schedule.slices = kind.usual_slices;
  job.batch.global = job.layout.dp * pp * (1 + static_cast<int>(random.below(3)));
  job.batch.sequence = 1024;
  job.communication.fidelity = Fidelity::closed;
  job.layout.sharding = pick(random, {Sharding::none, Sharding::zero1});
  return job;
}

TEST(InputLoad, TheClosedFormAgreesWithTheEngine) {
  constexpr int kJobs = 120;
  int seen = 0;
  int waited = 0;
  for (std::uint64_t i = 0; seen < kJobs && i < 10 * kJobs; ++i) {
    RandomStream random(20261202, RandomPurpose::test, i);
    const Job calm = random_job(random);
    std::optional<PreparedIteration> prepared;
    try {
      prepared = prepare_iteration(calm);
    } catch (const Error&) {
      continue;
    }
    const auto engine_s = [&](const Job& job) {
      const Plan plan = iteration_plan(job, *prepared);
      return iteration_s(job, plan, execute(plan, job.cluster, {.calibration = job.calibration}));
    };
    const double calm_s = engine_s(calm);
    if (std::abs(iteration_step_s(calm, *prepared) / calm_s - 1) > 1e-7) continue;
    ++seen;
    InputPipeline input;
    input.sample_core_s = calm_s * std::pow(10, -2 + 2 * random.uniform());
    input.workers = 1 + static_cast<int>(random.below(40));
    input.sample_bytes = random.below(2) * 1e8 * random.uniform();
    input.source = pick(random, {InputSource::storage, InputSource::local_disk});
    input.prefetch = static_cast<int>(random.below(2));
    const Job job = with_input(calm, input);
    const double step_s = engine_s(job);
    waited += step_s > calm_s * (1 + 1e-6);
    ASSERT_GE(step_s, calm_s * (1 - 1e-9));
    ASSERT_NEAR(iteration_step_s(job, *prepared) / step_s, 1, 1e-6)
        << fmt::format("job {}: {} pp {} dp {}, prefetch {}", i, job.schedule.name, job.layout.pp,
                       job.layout.dp, input.prefetch);
  }
  EXPECT_EQ(seen, kJobs);
  EXPECT_GT(waited, kJobs / 4);
  EXPECT_LT(waited, kJobs);
}

}  // namespace
}  // namespace windtunnel
