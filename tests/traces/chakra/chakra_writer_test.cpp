// A Plan that is written as Chakra traces and read back runs the same.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "models/base/random.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "policies/iteration.hpp"
#include "policies/lowering/unit_cost.hpp"
#include "policies/schedules/schedules.hpp"
#include "sim/engine/engine.hpp"
#include "tests/support/pool_job.hpp"
#include "traces/chakra/chakra.hpp"
#include "traces/chakra/chakra_fields.hpp"
#include "traces/chakra/trace_machine.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

std::string scratch_folder() {
  const std::string folder =
      ::testing::TempDir() + "windtunnel-chakra-engine-" + std::to_string(getpid());
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::vector<std::string> export_plan(const Plan& plan, ChakraRanks ranks) {
  const std::string folder = scratch_folder();
  const ChakraExport traces(plan, ranks);
  for (int i = 0; i < traces.files(); ++i) {
    std::ofstream(folder + "/job." + std::to_string(traces.rank(i)) + ".et", std::ios::binary)
        << traces.content(i);
  }
  return chakra_files(folder);
}

void expect_same(const Timeline& a, const Timeline& b) {
  EXPECT_EQ(a.makespan_s, b.makespan_s);
  EXPECT_EQ(a.iteration_end_s, b.iteration_end_s);
  EXPECT_EQ(a.ranks_simulated, b.ranks_simulated);
  EXPECT_EQ(a.recorded_as, b.recorded_as);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  for (size_t r = 0; r < a.ranks.size(); ++r) {
    EXPECT_EQ(a.ranks[r].rank, b.ranks[r].rank);
    EXPECT_EQ(a.ranks[r].multiplicity, b.ranks[r].multiplicity);
    ASSERT_EQ(a.ranks[r].spans.size(), b.ranks[r].spans.size());
    for (size_t t = 0; t < a.ranks[r].spans.size(); ++t) {
      EXPECT_EQ(a.ranks[r].spans[t].start_s, b.ranks[r].spans[t].start_s);
      EXPECT_EQ(a.ranks[r].spans[t].end_s, b.ranks[r].spans[t].end_s);
    }
  }
}

Job random_traced_job(RandomStream& random) {
  const bool interleaved = random.below(3) == 0;
  Job job = small_job(1 << random.below(3), 2 << random.below(2), 1 << random.below(3),
                      interleaved ? 2 : 1);
  if (!interleaved && random.below(2) == 0) job.schedule.name = "gpipe";
  if (random.below(2) == 0) job.communication.overlap = GradientOverlap::none;
  if (random.below(2) == 0) job.layout.sharding = Sharding::none;
  job.communication.fidelity = random.below(2) == 0 ? Fidelity::flows : Fidelity::automatic;
  job.calibration.nic_latency_s.value = 1e-6 * random.uniform();
  job.calibration.gemm_efficiency.value = 0.5 + 0.5 * random.uniform();
  job.snapshots = {
      {.place = SnapshotPlace::storage, .mode = SnapshotMode::async, .every_iterations = 10},
      {.place = SnapshotPlace::host_memory, .mode = SnapshotMode::sync, .every_iterations = 1}};
  if (random.below(3) == 0) job.cluster.slow_nodes = {{0, 1.25}};
  return job;
}

TEST(ChakraRoundTrip, RandomJobsRunTheSame) {
  RandomStream random(5, RandomPurpose::test, 0);
  for (int round = 0; round < 12; ++round) {
    const Job job = random_traced_job(random);
    const Schedule schedule = generate_schedule(
        job.schedule.name, job.layout.pp, microbatches(job.layout, job.batch), job.layout.vpp);
    IterationPlanOptions options;
    options.iterations = 1 + static_cast<int>(random.below(2));
    if (random.below(2) == 0) options.due_snapshots = {0, 1};
    const std::vector<ChunkCost> chunks = chunk_costs(job);
    const Plan plan =
        iteration_plan(job, {schedule, chunks, unit_costs(job, schedule, chunks)}, options);
    const Timeline expected = execute(plan, job.cluster, {.calibration = job.calibration});
    for (const ChakraRanks ranks : {ChakraRanks::all, ChakraRanks::one_per_class}) {
      const Plan read = read_chakra(export_plan(plan, ranks)).plan;
      EXPECT_TRUE(read == plan) << "round " << round;
      expect_same(execute(read, job.cluster, {.calibration = job.calibration}), expected);
    }
  }
}

TEST(ChakraRoundTrip, UnlikeNodesRunTheSame) {
  for (const PoolAxis axis : {PoolAxis::pp, PoolAxis::dp}) {
    Job job = pool_job(axis);
    job.communication.fidelity = Fidelity::flows;
    Plan plan = iteration_plan(job, prepare_iteration(job));
    const EngineOptions options{.calibration = job.calibration,
                                .pool_calibrations = job.pool_calibrations};
    const Timeline expected = execute(plan, job.cluster, options);
    Plan read = read_chakra(export_plan(plan, ChakraRanks::all)).plan;
    run_collectives_as(job, read);
    EXPECT_TRUE(read == plan);
    expect_same(execute(read, job.cluster, options), expected);
  }
}

// In a schedule that splits off weight gradients, an input gradient may leave more memory allocated
// than it frees.
TEST(ChakraRoundTrip, ATaskMayLeaveMoreThanItFrees) {
  const Job job = small_job(1, 2, 1);
  Plan plan = iteration_plan(job, prepare_iteration(job));
  plan.classes.front().tasks.front().free_bytes = -5e6;
  EXPECT_TRUE(read_chakra(export_plan(plan, ChakraRanks::all)).plan == plan);
}

// A Plan written as flows and read in closed form takes as long as the job in closed form, also
// with uneven all-to-alls of experts within nodes.
TEST(ChakraRoundTrip, UnevenExchangesCostInClosedFormWhatTheyCostAJob) {
  for (const double zipf : {0.0, 1.0}) {
    for (const std::optional<double> locality :
         {std::optional<double>{}, std::optional<double>{0.3}, std::optional<double>{0.9}}) {
      Job job = small_job(1, 1, 8);
      job.cluster.node.nics = 1;
      job.layout.sharding = Sharding::zero1;
      job.model.moe = {.experts = 16, .per_token = 2, .ffn_hidden = 1024};
      job.model.moe.zipf = zipf;
      job.model.moe.locality = locality;
      job.layout.ep = zipf > 0 ? 8 : 4;
      job.calibration.nic_latency_s.value = 3e-6;
      job.communication.inner = InnerForm::tasks;
      job.communication.overlap = GradientOverlap::none;
      const PreparedIteration prepared = prepare_iteration(job);
      job.communication.fidelity = Fidelity::flows;
      Plan read = read_chakra(export_plan(iteration_plan(job, prepared), ChakraRanks::all)).plan;
      job.communication.fidelity = Fidelity::closed;
      const Plan closed = iteration_plan(job, prepared);
      run_collectives_as(job, read);
      const Timeline expected = execute(closed, job.cluster, {.calibration = job.calibration});
      const Timeline got = execute(read, job.cluster, {.calibration = job.calibration});
      EXPECT_NEAR(got.makespan_s, expected.makespan_s, 1e-9 * expected.makespan_s)
          << zipf << " " << locality.value_or(-1);
    }
  }
}

// A foreign trace of data-parallel ranks takes as long as the closed form, and folds to one rank.
TEST(ChakraRoundTrip, ForeignReductionTakesTheTimeOfTheClosedForm) {
  constexpr double kBytes = 1e9;
  const Job job = small_job(1, 1, 8);
  chakra::GlobalMetadata metadata;
  chakra::Node step;
  step.set_type(chakra::COMP_NODE);
  step.set_duration_micros(5000);
  add_attribute(*step.mutable_attr(), "is_cpu_op", false);
  chakra::Node reduce;
  reduce.set_id(1);
  reduce.set_type(chakra::COMM_COLL_NODE);
  reduce.add_data_deps(0);
  add_attribute(*reduce.mutable_attr(), "is_cpu_op", false);
  add_attribute(*reduce.mutable_attr(), "comm_type", std::int64_t{chakra::ALL_REDUCE});
  add_attribute(*reduce.mutable_attr(), "comm_size", static_cast<std::uint64_t>(kBytes));
  const std::string folder = scratch_folder();
  for (RankId rank = 0; rank < 8; ++rank) {
    std::ofstream(folder + "/dp." + std::to_string(rank) + ".et", std::ios::binary)
        << encode(metadata) << encode(step) << encode(reduce);
  }
  RankPlan import = read_chakra(chakra_files(folder));
  add_transfer_costs(import.plan, job.cluster, job.calibration);
  const Timeline timeline = execute(import.plan, job.cluster, {.calibration = job.calibration});
  const CollectiveCost closed =
      collective_cost(CollectiveKind::all_reduce, CollectiveAlgorithm::automatic,
                      group_shape(import.plan.groups[0].members, job.cluster), kBytes, job.cluster,
                      job.calibration);
  EXPECT_NEAR(timeline.makespan_s, 5e-3 + closed.seconds, 1e-6 * closed.seconds);
  EXPECT_EQ(timeline.ranks_simulated, 1);
}

}  // namespace
}  // namespace windtunnel
