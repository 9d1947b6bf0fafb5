#include "policies/outer/outer_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "policies/iteration.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// Puts 8 replicas on 8 GPUs and groups them into islands.
Job island_job(std::vector<int> groups, Sharding sharding = Sharding::none) {
  Job job = small_job(1, 1, 8);
  job.layout.sharding = sharding;
  job.layout.sync_groups = std::move(groups);
  for (std::size_t level = 0; level < job.layout.sync_groups.size(); ++level) {
    job.sync.push_back({.over = "islands", .every_steps = 100.0 * (level + 1)});
  }
  return job;
}

class Exchanged {
 public:
  explicit Exchanged(Job job) : job_(std::move(job)), prepared_(prepare_iteration(job_)) {}
  std::vector<Transfer> row(int level = 0) const { return exchange().row(level, 0); }
  double sent_bytes(int level = 0) const { return exchange().sent_bytes(level, 0); }
  double parameters() const { return prepared_.chunks.front().parameters; }

 private:
  OuterExchange exchange() const {
    return {job_, prepared_.schedule, prepared_.chunks, prepared_.geometry->network()};
  }
  Job job_;
  PreparedIteration prepared_;
};

// A ring sends 2 (P - 1) / P of the summed bytes.
TEST(OuterExchange, EachCopySendsItsPartToTheOtherIslands) {
  for (const int islands : {2, 4, 8}) {
    const Exchanged all(island_job({islands}));
    const double part = all.parameters() / (8.0 / islands);
    EXPECT_NEAR(all.sent_bytes(), 2.0 * (islands - 1) / islands * 4 * part, 1e-6 * part);
  }
}

TEST(OuterExchange, FragmentsAndShardsSendAsMuchInAll) {
  const double whole = Exchanged(island_job({2})).sent_bytes();
  Job fragments = island_job({2});
  fragments.sync[0].fragments = 8;
  EXPECT_NEAR(Exchanged(fragments).sent_bytes(), whole, 1e-9 * whole);
  EXPECT_NEAR(Exchanged(island_job({2}, Sharding::zero3)).sent_bytes(), whole, 1e-9 * whole);
}

TEST(OuterExchange, FewerBytesAnElementSendFewerBytes) {
  const double fp32 = Exchanged(island_job({2})).sent_bytes();
  Job job = island_job({2});
  job.sync[0].element_bytes = 0.5;
  EXPECT_NEAR(Exchanged(job).sent_bytes(), fp32 / 8, 1e-9 * fp32);
  job.sync[0].element_bytes = 4;
  job.sync[0].compressor.name = "int8";
  // int8 sends one byte per element, and a scale of four bytes per block of 256.
  EXPECT_NEAR(Exchanged(job).sent_bytes(), fp32 / 4 * (1 + 4.0 / 256), 1e-9 * fp32);
}

// INTELLECT-1 (arXiv 2412.01152) exchanges every 100 steps, and one byte instead of four: 400 times
// less.
TEST(OuterExchange, SendsAsManyTimesLessAsStepsAndBytesSay) {
  Job job = island_job({8});
  Job every_step = job;
  every_step.sync.clear();
  every_step.layout.sync_groups.clear();
  const PreparedIteration prepared = prepare_iteration(every_step);
  std::vector<Transfer> reduced;
  append_reductions(CollectiveCosts(every_step), prepared.geometry->network(), 0,
                    {prepared.chunks.front().parameters, 0}, reduced);
  const double dense = 2.0 * 7 / 8 * reduced.front().bytes;
  job.sync[0].element_bytes = 1;
  const double ratio = reduce_bytes_per_parameter(job);
  EXPECT_NEAR(dense / (Exchanged(job).sent_bytes() / job.sync[0].every_steps), 100 * ratio, 1e-6);
  EXPECT_EQ(ratio, 4);
}

TEST(OuterExchange, ALeaderSendsWhatOthersReceiveOnce) {
  Job job = island_job({4});
  const double summed = Exchanged(job).sent_bytes();
  job.sync[0].pattern = SyncPattern::leader;
  EXPECT_NEAR(Exchanged(job).sent_bytes(), summed / 1.5, 1e-9 * summed);
  EXPECT_EQ(outer_state_bytes_per_parameter(job.sync[0]), 0);
}

TEST(OuterExchange, TheCopiesOfAnIslandGatherWhatEachExchanged) {
  const auto kinds = [](const Job& job) {
    std::vector<CollectiveKind> found;
    for (const Transfer& transfer : Exchanged(job).row()) {
      if (transfer.bytes > 0) found.push_back(transfer.kind);
    }
    return found;
  };
  using enum CollectiveKind;
  EXPECT_EQ(kinds(island_job({2})), (std::vector{all_reduce, all_gather}));
  EXPECT_EQ(kinds(island_job({8})), std::vector{all_reduce});
  EXPECT_EQ(kinds(island_job({2}, Sharding::zero3)), std::vector{all_reduce});
}

TEST(OuterExchange, RegionsExchangeWhatTheirIslandsHave) {
  const Exchanged all(island_job({2, 2}));
  EXPECT_NEAR(all.sent_bytes(0), all.sent_bytes(1), 1e-6);
  EXPECT_EQ(all.row(1).at(1).axis, ReplicaAxis::region_peers);
}

// Each island sends its weights to each neighbour, whatever the number of islands.
TEST(OuterExchange, GossipSendsToNeighboursOnly) {
  for (const int islands : {2, 4, 8}) {
    Job job = island_job({islands});
    job.sync[0].pattern = SyncPattern::gossip;
    const Exchanged ring(job);
    const double part = 4 * ring.parameters() / (8.0 / islands);
    EXPECT_NEAR(ring.sent_bytes(), std::min(2, islands - 1) * part, 1e-6 * part);
    job.sync[0].graph = SyncGraph::exponential;
    EXPECT_NEAR(Exchanged(job).sent_bytes(), std::log2(islands) * part, 1e-6 * part);
    job.sync[0].peers = 1;
    EXPECT_NEAR(Exchanged(job).sent_bytes(), part, 1e-6 * part);
    job.sync[0].graph = SyncGraph::random;
    EXPECT_NEAR(Exchanged(job).sent_bytes(), part, 1e-6 * part);
    job.sync[0].compressor.name = "int8";
    EXPECT_NEAR(Exchanged(job).sent_bytes(), part / 4 * (1 + 4.0 / 256), 1e-6 * part);
  }
}

// On a uniform network the time is that of the bytes that leave a NIC, and the latencies.
TEST(OuterExchange, GossipTakesAsLongAsItsBytes) {
  const auto seconds_of = [](SyncGraph graph, int peers) {
    Job job = small_job(1, 1, 8);
    job.cluster = small_cluster(8, 1);
    job.layout.sync_groups = {8};
    job.sync = {{.over = "node", .pattern = SyncPattern::gossip, .graph = graph, .peers = peers}};
    double seconds = 0;
    for (const Transfer& transfer : Exchanged(job).row()) seconds += transfer.seconds;
    return seconds;
  };
  const double one_s = seconds_of(SyncGraph::exponential, 1);
  EXPECT_NEAR(seconds_of(SyncGraph::exponential, 3), 3 * one_s, 0.05 * one_s);
  EXPECT_NEAR(seconds_of(SyncGraph::ring, 2), 2 * one_s, 0.05 * one_s);
  EXPECT_NEAR(seconds_of(SyncGraph::random, 1), one_s, 0.05 * one_s);
}

TEST(OuterExchange, IslandsThatNeverExchangeSendNothing) {
  Job job = island_job({8});
  job.sync[0].pattern = SyncPattern::none;
  EXPECT_TRUE(Exchanged(job).row().empty());
  EXPECT_EQ(Exchanged(job).sent_bytes(), 0);
}

// A module is exchanged only among the islands that train it: the first half by 2 of 8 islands, the
// second half by 4.
TEST(OuterExchange, PathsExchangeEachModuleAmongItsUsers) {
  Job job = island_job({8});
  job.layout.path_modules = {4, 2};
  const Exchanged paths(job);
  const double whole = Exchanged(island_job({8})).sent_bytes() / (2.0 * 7 / 8);
  EXPECT_LT(paths.sent_bytes(), whole * 2 * 3 / 4);
  EXPECT_GT(paths.sent_bytes(), whole * 2 * 1 / 2);
  std::set<ReplicaAxis> axes;
  for (const Transfer& transfer : paths.row()) axes.insert(transfer.axis);
  EXPECT_TRUE(axes.contains(ReplicaAxis::path_near));
  EXPECT_TRUE(axes.contains(ReplicaAxis::path_far));
}

// Two all-reduces sum factors of rank 4, with 4 (rows + columns) elements per matrix; vectors are
// sent as they are.
TEST(OuterExchange, LowRankDeltasSendTheirFactors) {
  Job job = island_job({8});
  job.sync[0].compressor.name = "powersgd";
  const PreparedIteration prepared = prepare_iteration(job);
  double sent = 0;
  for (const StageTensor& tensor :
       stage_tensors(job, 0, 0, job.model.layers, prepared.chunks.front())) {
    const TensorShape& shape = tensor.shape;
    const double numbers = shape.matrix() ? 4 * (shape.rows + shape.columns) : shape.columns;
    sent += 4 * shape.count * numbers;
  }
  EXPECT_NEAR(Exchanged(job).sent_bytes(), 2.0 * 7 / 8 * sent, 1e-6 * sent);
  // Memory holds the matrices' errors in fp32, and the factor that the next exchange starts from.
  Job dense = job;
  dense.sync[0].compressor = {};
  const double kept =
      prepared.memory.front().optimizer - prepare_iteration(dense).memory.front().optimizer;
  EXPECT_NEAR(kept, 4 * job.model.parameters(), 0.01 * kept);
  // Whole matrices cannot be divided evenly: the rank that has most holds at least a quarter of
  // them.
  Job wide = island_job({2});
  wide.sync[0].compressor.name = "powersgd";
  const double whole = Exchanged(job).sent_bytes() / (2.0 * 7 / 8);
  EXPECT_GE(Exchanged(wide).sent_bytes(), whole / 4 * (1 - 1e-9));
  EXPECT_LT(Exchanged(wide).sent_bytes(), whole / 2);
  wide.sync[0].fragments = 1000;
  EXPECT_GT(Exchanged(wide).sent_bytes(), whole) << "a fragment has a matrix at least";
}

// If every step's exchange may be one step late, a step takes as long as its exchange or hides it.
TEST(OuterExchange, OneStepLateInEveryStep) {
  for (const double nic_Bps : {0.1e9, 1e15}) {
    Job job = island_job({8});
    job.cluster.node.nic_Bps = spec(nic_Bps);
    job.sync[0].every_steps = 1;
    job.sync[0].delay_steps = 1;
    Job alone = job;
    alone.sync[0].pattern = SyncPattern::none;
    const double step_s = iteration_step_s(alone, prepare_iteration(alone));
    const PreparedIteration prepared = prepare_iteration(job);
    const double exchange_s = sync_seconds(job, prepared, step_s).front().exchange_s;
    EXPECT_NEAR(iteration_step_s(job, prepared), std::max(step_s, exchange_s), 1e-9 * exchange_s);
    EXPECT_EQ(exchange_s > step_s, nic_Bps < 1e9);
  }
}

TEST(OuterExchange, StatesOfTheOptimizerTravelAlong) {
  Job job = island_job({4});
  const double weights = Exchanged(job).sent_bytes();
  job.sync[0].optimizer_states = 2;
  EXPECT_NEAR(Exchanged(job).sent_bytes(), 3 * weights, 1e-6 * weights);
}

}  // namespace
}  // namespace windtunnel
