// Collectives of tensor, context and expert parallelism run as tasks of the Plan. On an idle
// network the step equals the closed form, and no step is shorter than its links allow.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/parallel/expert_parallel.hpp"
#include "policies/analysis/plan_bound.hpp"
#include "policies/iteration.hpp"
#include "sim/engine/engine.hpp"
#include "tests/sim/study/random_layout.hpp"

namespace windtunnel {
namespace {

constexpr int kBlocks = 20;

struct Simulated {
  Plan plan;
  double step_s = 0;
};

Simulated run_of(Job job, const PreparedIteration& prepared, InnerForm inner,
                 FoldMode fold = FoldMode::automatic) {
  job.communication.inner = inner;
  Simulated run{iteration_plan(job, prepared), 0};
  run.step_s = execute(run.plan, job.cluster,
                       {.fold = fold,
                        .calibration = job.calibration,
                        .pool_calibrations = job.pool_calibrations})
                   .makespan_s;
  return run;
}

bool talks(const Job& job) {
  return job.layout.tp * job.layout.cp * job.layout.ep > 1;
}

// Checks `jobs` random jobs of a block for which `wanted` holds.
void for_each_job(int block, int jobs, InnerSpread spread, bool (*wanted)(const Job&),
                  const std::function<void(const Job&)>& check) {
  constexpr std::uint64_t kMost = 10000;
  const std::uint64_t first = block * kMost;
  for (std::uint64_t number = first; jobs > 0; ++number) {
    ASSERT_LT(number, first + kMost) << "the reader refuses nearly all scenarios";
    const auto drawn = random_layout_case(number, spread);
    if (!drawn || !wanted(drawn->job)) continue;
    SCOPED_TRACE(random_layout(number, spread));
    check(drawn->job);
    --jobs;
  }
}

class InnerCollectives : public testing::TestWithParam<int> {};

// On slow nodes longer kernels hide more of a collective, which the closed form does not model.
TEST_P(InnerCollectives, TakeAsLongAsInClosedFormWhereNothingElseUsesTheirLinks) {
  const auto wanted = [](const Job& job) { return talks(job) && job.cluster.slow_nodes.empty(); };
  for_each_job(GetParam(), 500 / kBlocks, InnerSpread::in_node, wanted, [](const Job& job) {
    const PreparedIteration prepared = prepare_iteration(job);
    const double folded_s = run_of(job, prepared, InnerForm::folded).step_s;
    EXPECT_NEAR(run_of(job, prepared, InnerForm::tasks).step_s / folded_s, 1, 1e-6);
  });
}

// Jobs have a slow node, a slow NIC, both, or messages over unlike paths. Ranks of a group within a
// node start together and stay together, so a few of the tasks give the same step as all.
TEST_P(InnerCollectives, OfRanksThatStayTogetherTakeAsLongAsAllTasks) {
  const auto wanted = [](const Job& job) {
    return talks(job) && job.cluster.nodes > 1 && job.cluster.node.gpu_path == GpuPath::nvlink &&
           !job.cluster.jitter.active();
  };
  const auto tasks_of = [](const Plan& plan) {
    std::size_t tasks = 0;
    for (const RankClass& one : plan.classes) tasks += one.tasks.size();
    return tasks;
  };
  std::size_t few = 0;
  std::size_t all = 0;
  for_each_job(GetParam(), 100 / kBlocks, InnerSpread::in_node, wanted, [&](Job job) {
    for (const int which : {1, 2, 3, 4}) {
      job.cluster.slow_nodes.clear();
      job.cluster.degraded_nics.clear();
      job.cluster.fabric.variation = {};
      if (which & 1) job.cluster.slow_nodes = {{.node = 0, .slowdown = 1.7}};
      if (which & 2) job.cluster.degraded_nics = {{1, 0, 0.1}};
      if (which & 4) job.cluster.fabric.variation = {.sigma = 0.2, .seed = 1};
      const PreparedIteration prepared = prepare_iteration(job);
      const Simulated own = run_of(job, prepared, InnerForm::automatic, FoldMode::exact);
      const Simulated tasks = run_of(job, prepared, InnerForm::tasks, FoldMode::exact);
      EXPECT_NEAR(own.step_s / tasks.step_s, 1, 1e-5) << which;
      few += tasks_of(own.plan);
      all += tasks_of(tasks.plan);
    }
  });
  EXPECT_LT(few, all);
}

class InnerBounds : public testing::TestWithParam<int> {};

TEST_P(InnerBounds, AreBeatenByNoJob) {
  const auto any = [](const Job&) { return true; };
  for_each_job(GetParam(), 2000 / kBlocks, InnerSpread::anywhere, any, [](const Job& job) {
    const Simulated run = run_of(job, prepare_iteration(job), InnerForm::tasks);
    const PlanBound bound = plan_bound(run.plan, job.cluster, CountedTransfers::all);
    EXPECT_GE(run.step_s, bound.seconds() * (1 - 1e-9)) << bound.link;
  });
}

TEST_P(InnerCollectives, FoldAsAnythingElse) {
  for_each_job(GetParam(), 60 / kBlocks, InnerSpread::anywhere, talks, [](const Job& job) {
    const PreparedIteration prepared = prepare_iteration(job);
    const double folded_s = run_of(job, prepared, InnerForm::tasks).step_s;
    const double whole_s = run_of(job, prepared, InnerForm::tasks, FoldMode::none).step_s;
    EXPECT_NEAR(whole_s / folded_s, 1, 1e-6);
  });
}

// There are two nodes with one NIC per GPU, so that a rank's NIC receives what its experts get.
Case zipf_job(const std::string& node, const Overrides& more = {}) {
  Overrides overrides = {{"model.layers", "8"},     {"model.moe.experts", "16"},
                         {"model.moe.ffn", "3584"}, {"model.moe.zipf", "1"},
                         {"cluster.node", node},    {"cluster.nodes", "2"},
                         {"layout.pp", "1"},        {"layout.ep", "16"},
                         {"batch.global", "32"},    {"schedule", "1f1b"}};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/mixtral-shared-nics.yaml", overrides);
}

// Returns how much less time a layer's forward exchanges take if each pair of ranks has its own
// bytes.
double shorter_s(const Job& job) {
  const UnevenExchange exchange = expert_exchanges(job).front();
  std::vector<std::int32_t> gpus(job.layout.ep);
  std::iota(gpus.begin(), gpus.end(), 0);
  double seconds = 0;
  const std::vector<ChunkRounds> chunks = chunk_rounds(job);
  for (const LayerRounds& layers : chunks.front()) {
    for (const InnerRound& round : layers.rounds.forward) {
      for (const InnerCollective& sent : round.collectives) {
        const std::vector<double> bytes =
            exchange_bytes(exchange, sent.way == ExchangeWay::back, sent.bytes, gpus, job.cluster);
        seconds += sent.transfer_s -
                   all_to_all_v_cost(bytes, gpus, job.cluster, job.calibration).transfer_s;
      }
    }
  }
  return seconds;
}

// Alone on its links each exchange takes as long as its busiest link. Towards the experts that is
// the NIC of the busiest rank; on the way back its bytes are spread over the NICs of its node
// (PXN).
TEST(InnerCollectives, UnevenExchangesTakeWhatTheirBusiestLinkDoes) {
  const Job job = zipf_job("dgx-h100", {{"communication.overlap", "none"}}).job;
  const PreparedIteration prepared = prepare_iteration(job);
  const double closed_s = run_of(job, prepared, InnerForm::folded).step_s;
  const double flows_s = run_of(job, prepared, InnerForm::tasks).step_s;
  const double less_s = 2 * job.model.layers * microbatches(job.layout, job.batch) * shorter_s(job);
  EXPECT_GT(less_s, 0.05 * closed_s);
  EXPECT_NEAR(flows_s, closed_s - less_s, 1e-4 * closed_s);
}

// If eight ranks share a NIC, its load is eight times their mean, in flows as in closed form. If
// all ranks were as busy as the busiest, exchanges would take far longer.
TEST(InnerCollectives, RanksThatShareANicShareWhatTheyGet) {
  const Job job = zipf_job("{base: dgx-h100, nics: 1, nic: 100 Gb/s}",
                           {{"layout.sharding", "none"}, {"communication.overlap", "none"}})
                      .job;
  const PreparedIteration prepared = prepare_iteration(job);
  const Simulated own = run_of(job, prepared, InnerForm::tasks);
  EXPECT_NEAR(own.step_s / run_of(job, prepared, InnerForm::folded).step_s, 1, 0.1);
  const double whole_s = run_of(job, prepared, InnerForm::tasks, FoldMode::none).step_s;
  EXPECT_NEAR(whole_s / own.step_s, 1, 1e-6);
  EXPECT_GE(own.step_s, plan_bound(own.plan, job.cluster, CountedTransfers::all).link_s);
  Job alike = job;
  alike.model.moe.zipf = 0;
  alike.model.moe.imbalance = expert_exchanges(job).front().most();
  EXPECT_LT(own.step_s, 0.9 * run_of(alike, prepare_iteration(alike), InnerForm::tasks).step_s);
}

// Each layer's exchange has bytes of its own, in folding, in the bound and in the closed form.
TEST(InnerCollectives, LayersThatDrawTheirOwnRouting) {
  const Job job =
      zipf_job("{base: dgx-h100, nics: 1, nic: 100 Gb/s}", {{"layout.sharding", "none"},
                                                            {"communication.overlap", "none"},
                                                            {"model.moe.orders", "by-layer"}})
          .job;
  const PreparedIteration prepared = prepare_iteration(job);
  const Simulated own = run_of(job, prepared, InnerForm::tasks);
  EXPECT_EQ(std::ssize(own.plan.exchanges), job.model.moe_layers());
  EXPECT_NEAR(own.step_s / run_of(job, prepared, InnerForm::folded).step_s, 1, 0.1);
  const double whole_s = run_of(job, prepared, InnerForm::tasks, FoldMode::none).step_s;
  EXPECT_NEAR(whole_s / own.step_s, 1, 1e-6);
  EXPECT_GE(own.step_s, plan_bound(own.plan, job.cluster, CountedTransfers::all).link_s);
}

// The bound is needed here: with exchanges as fixed seconds of the passes there is no contention,
// and the step would be shorter than its NICs allow.
TEST(InnerCollectives, SecondsOfPassesBeatTheNics) {
  const Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/mixtral-shared-nics.yaml",
                                  {{"model.layers", "8"},
                                   {"model.moe.experts", "16"},
                                   {"model.moe.ffn", "3584"},
                                   {"layout.pp", "1"},
                                   {"layout.ep", "16"},
                                   {"batch.global", "128"},
                                   {"recompute", "none"},
                                   {"schedule", "1f1b"}});
  const Job& job = the_case.job;
  const PreparedIteration prepared = prepare_iteration(job);
  const Simulated tasks = run_of(job, prepared, InnerForm::tasks);
  const double bound_s = plan_bound(tasks.plan, job.cluster, CountedTransfers::all).link_s;
  EXPECT_GT(bound_s, 1.3);
  EXPECT_GE(tasks.step_s, bound_s);
  EXPECT_GE(tasks.step_s, 1.807);  // at the bandwidth share that NICs reach
  EXPECT_LT(run_of(job, prepared, InnerForm::folded).step_s, 1.807);
}

// Half the clock halves the kernels' speed; NVLink and NICs stay as fast. Collectives come from
// constants, so that slower kernels hide no more of them.
TEST(InnerCollectives, ASlowNodeCostsWhatItsKernelsCost) {
  const std::string text =
      "name: slow\nmodel: {layers: 8, hidden: 4096, heads: 32, vocabulary: 32000, sequence: 4096}\n"
      "cluster: {nodes: 1, node: dgx-h100}\nlayout: {tp: 8, sequence_parallel: true}\n"
      "batch: {global: 8, micro: 1}\nrecompute: none\ncalibration: h100-pytorch\n"
      "software: {cuda_graphs: true}\ncommunication: {law: constants}\n";
  Job job = parse_case(text, "slow.yaml").job;
  const auto run = [&] { return run_of(job, prepare_iteration(job), InnerForm::tasks); };
  const auto kernels_s = [&](const Simulated& of) {
    return plan_bound(of.plan, job.cluster, CountedTransfers::all).compute_s;
  };
  const Simulated plain = run();
  const double plain_s = kernels_s(plain);
  job.cluster.slow_nodes = {{.node = 0, .slowdown = 2}};
  const Simulated slow = run();
  const double longer_s = kernels_s(slow) - plain_s;
  EXPECT_GT(longer_s, 0.7 * plain_s);
  EXPECT_NEAR(slow.step_s - plain.step_s, longer_s, 0.01 * plain.step_s);
  EXPECT_GT(plain.step_s - longer_s, 0.05 * plain.step_s);  // a part of the step does not grow
}

// A quarter of the jobs run in every test run, the others only in long ones.
INSTANTIATE_TEST_SUITE_P(Blocks, InnerCollectives, testing::Range(0, kBlocks / 10));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, InnerCollectives, testing::Range(kBlocks / 10, kBlocks));
INSTANTIATE_TEST_SUITE_P(Blocks, InnerBounds, testing::Range(0, kBlocks / 10));
INSTANTIATE_TEST_SUITE_P(ManyBlocks, InnerBounds, testing::Range(kBlocks / 10, kBlocks));

}  // namespace
}  // namespace windtunnel
