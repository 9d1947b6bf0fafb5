#include "sim/study/iterations/iteration_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/random.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/cost/snapshot/restore_cost.hpp"
#include "models/results/iteration_report.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "sim/campaign/pace.hpp"
#include "sim/study/iterations/pool_state.hpp"
#include "sim/study/tier_reports.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

struct Measured {
  PreparedIteration prepared;
  Execution plain;
  IterationTable table;
  double stall_s(unsigned set = 1) const { return table.iteration_s[set] - table.iteration_s[0]; }
  double overhead() const { return stall_s() / table.iteration_s[0]; }
};

Measured measured(const Job& job) {
  Measured result;
  result.prepared = prepare_iteration(job);
  auto [plain, sync, table] = campaign_iterations(job, result.prepared);
  result.plain = std::move(plain.execution);
  result.table = std::move(table);
  return result;
}

// Returns the bytes of the fullest GPU.
double state_bytes(const Job& job) {
  const auto bytes = snapshot_bytes_per_gpu(job, chunk_costs(job));
  return *std::ranges::max_element(bytes);
}

// The job has 4 nodes of 4 GPUs and XOR over 3 + 1 nodes.
Job coded_job(int tp, int pp, int dp) {
  Job job = small_job(tp, pp, dp);
  SnapshotTier tier{.place = SnapshotPlace::peers, .every_iterations = 10, .keeper_process = true};
  tier.code = {.name = CodeName::xor_parity, .data = 3, .parity = 1, .cpu_cores = 4};
  job.snapshots = {tier};
  return job;
}

TEST(IterationTable, ASnapshotCostsWhatItsBytesTakeOnEveryLink) {
  Job job = coded_job(4, 1, 4);
  job.layout.sharding = Sharding::none;  // no gathering of weights that could hide the copy
  // Each GPU has one core of 40 GB/s, PCIe of 20 GB/s and a NIC of 25 GB/s, used one after the
  // other.
  const auto expected_s = [&](double share) {
    const double bytes = share * state_bytes(job);
    const double nic_Bps = job.cluster.node.nic_Bps.value * job.cluster.node.nics / 4;
    return bytes / 20e9 + bytes / 40e9 + bytes / nic_Bps;
  };
  for (const int nics : {4, 2, 1}) {
    job.cluster.node.nics = nics;
    for (const double share : {0.5, 1.0}) {
      job.snapshots[0].quantised_share = share;
      EXPECT_NEAR(measured(job).stall_s(), expected_s(share), 0.05 * expected_s(share))
          << nics << " NICs, " << share;
    }
  }
  // Storage is reached over PCIe and a NIC of 10 GB/s per node; all four nodes share 20 GB/s.
  job.snapshots = {{.place = SnapshotPlace::storage, .every_iterations = 10}};
  const double bytes = state_bytes(job);
  const auto expect_stall = [&](double expected_s) {
    EXPECT_NEAR(measured(job).stall_s(), expected_s, 0.05 * expected_s);
  };
  expect_stall(bytes / 20e9 + 16 * bytes / 20e9);
  job.cluster.storage.write_Bps = spec(80e9);
  expect_stall(bytes / 20e9 + 4 * bytes / 10e9);
  job.snapshots[0].place = SnapshotPlace::local_disk;
  expect_stall(bytes / 20e9 + 4 * bytes / 14e9);
}

// The engine's time for the tasks must equal the closed form, whichever ranks write.
TEST(IterationTable, ASaveTakesAsLongAsItsClosedForm) {
  for (const SnapshotPlace place :
       {SnapshotPlace::host_memory, SnapshotPlace::local_disk, SnapshotPlace::storage}) {
    for (const WritingRanks ranks : {WritingRanks::all, WritingRanks::holders, WritingRanks::one}) {
      Job job = small_job(2, 1, 8);
      job.layout.sharding = Sharding::none;
      job.snapshots = {{.place = place, .every_iterations = 10}};
      job.snapshots[0].writer = {.write_Bps = 1e9, .copy_Bps = 8e9, .start_s = 0.2, .ranks = ranks};
      const Measured saved = measured(job);
      const double closed_s = save_s(job.snapshots[0], state_of_all(job, saved.prepared).state,
                                     job.layout, job.cluster, job.calibration);
      EXPECT_NEAR(saved.stall_s(), closed_s, 0.01 * closed_s) << name_of(place) << name_of(ranks);
    }
  }
}

TEST(IterationTable, ALazySnapshotThatFitsIntoTheIterationIsFree) {
  for (const auto& [tp, pp, dp] : {std::array{4, 1, 4}, {1, 4, 4}, {2, 2, 4}}) {
    Job job = coded_job(tp, pp, dp);
    SnapshotTier& tier = job.snapshots[0];
    tier.mode = SnapshotMode::lazy;
    job.batch.global *= 4;
    const Measured lazy = measured(job);
    ASSERT_LT(state_bytes(job) / 20e9, 0.5 * lazy.table.iteration_s[0]);
    tier.code = {};
    tier.place = SnapshotPlace::host_memory;
    EXPECT_LT(measured(job).overhead(), 0.005);
    EXPECT_GT(measured(job).table.tiers[0].complete_s, state_bytes(job) / 20e9 * (1 - 1e-9));
  }
}

TEST(IterationTable, ParityCompetesWithTheReductionOfGradients) {
  // The copy is lazy, and its parity is sent during the backward pass and the reduction. If the
  // reduction saturates the NIC, the parity's bytes delay the end of the step; over a fast NIC they
  // do not.
  Job job = coded_job(4, 1, 4);
  job.snapshots[0].mode = SnapshotMode::lazy;
  job.communication.overlap = GradientOverlap::none;
  job.cluster.node.pcie_Bps = spec(400e9);
  job.cluster.node.host_memory_Bps = spec(4e12);
  const auto stall_s = [&](double nic_Bps) {
    job.cluster.node.nic_Bps = spec(nic_Bps);
    return measured(job).stall_s();
  };
  const double fast_s = stall_s(200e9);
  const double slow_s = stall_s(0.2e9);
  const double wire_s = state_bytes(job) / 0.2e9;
  EXPECT_LT(fast_s, 0.01 * state_bytes(job) / 200e9 + 1e-5);
  // Parity is sent while the step computes or reduces, so that it adds at most its own time, less
  // the part that computation hides.
  const double hidden_s = measured(job).table.iteration_s[0];
  EXPECT_LE(slow_s, wire_s * 1.001);
  EXPECT_GT(slow_s, 0.5 * std::min(wire_s, hidden_s));
}

TEST(IterationTable, TheMoreAModeWaitsForTheMoreItStalls) {
  RandomStream random(11, RandomPurpose::test, 0);
  for (int round = 0; round < 12; ++round) {
    const std::vector<std::array<int, 3>> layouts = {{4, 1, 4}, {1, 4, 4}, {2, 2, 4}, {1, 1, 16}};
    const auto [tp, pp, dp] = layouts[random.below(4)];
    Job job = coded_job(tp, pp, dp);
    SnapshotTier& tier = job.snapshots[0];
    if (random.below(3) == 0) tier = {.place = SnapshotPlace::storage, .every_iterations = 5};
    if (random.below(3) == 0) tier.code.on_gpu = tier.code.parity > 0;
    job.cluster.node.nic_Bps = spec(5e9 * (1 << random.below(4)));
    job.cluster.node.pcie_Bps = spec(5e9 * (1 << random.below(4)));
    double before_s = 1e9;
    for (const SnapshotMode mode : {SnapshotMode::sync, SnapshotMode::async, SnapshotMode::lazy}) {
      tier.mode = mode;
      const double stall_s = measured(job).stall_s();
      EXPECT_LE(stall_s, before_s + 1e-9) << round;
      before_s = stall_s;
    }
    EXPECT_GE(before_s, -1e-9);
  }
}

TEST(IterationTable, FoldedAndUnfoldedSnapshotsTakeEquallyLong) {
  for (const bool spread : {false, true}) {
    Job job = coded_job(2, 2, 8);  // 8 nodes
    job.snapshots[0].mode = SnapshotMode::lazy;
    job.snapshots[0].code.spread = spread;
    job.cluster.fabric.nodes_per_pod = 4;
    job.cluster.fabric.pod_oversubscription = 4;
    const Measured folded = measured(job);
    job.fold = FoldMode::none;
    const Measured unfolded = measured(job);
    EXPECT_NEAR(folded.table.iteration_s[1], unfolded.table.iteration_s[1],
                1e-6 * unfolded.table.iteration_s[1]);
    EXPECT_NEAR(folded.table.tiers[0].complete_s, unfolded.table.tiers[0].complete_s,
                1e-6 * unfolded.table.tiers[0].complete_s);
  }
}

// Groups of four on stages of six nodes are unlike; on an idle network the bytes over each member's
// own NIC take equally long.
TEST(IterationTable, GroupsAcrossStagesTakeTheirNicsTimeToo) {
  Job job = coded_job(2, 2, 12);
  const Measured own_nics = measured(job);
  EXPECT_EQ(own_nics.plain.timeline.ranks_simulated,
            run_iteration(job, own_nics.prepared, {0}).timeline.ranks_simulated);
  job.communication.fidelity = Fidelity::flows;
  const Measured flows = measured(job);
  EXPECT_NEAR(own_nics.stall_s(), flows.stall_s(), 0.05 * flows.stall_s());
}

TEST(IterationTable, ReplicasAreNeverDue) {
  Job job = coded_job(4, 1, 4);
  job.layout.sharding = Sharding::none;
  job.snapshots.push_back({.place = SnapshotPlace::replicas});
  const Measured both = measured(job);
  ASSERT_EQ(both.table.iteration_s.size(), 4u);
  EXPECT_EQ(both.table.iteration_s[2], both.table.iteration_s[0]);
  EXPECT_EQ(both.table.iteration_s[3], both.table.iteration_s[1]);
  EXPECT_GT(both.table.iteration_s[1], both.table.iteration_s[0]);
  EXPECT_EQ(both.table.tiers[1].complete_s, 0);
  EXPECT_GT(both.table.tiers[1].restore_s, 0);
}

TEST(IterationTable, ASlowNodeHoldsAllBack) {
  Job job = small_job(4, 1, 4);
  job.failures = {{.name = "gpu", .kind = FailureKind::node},
                  {.name = "slow", .kind = FailureKind::slow_node, .slowdown = 2}};
  const IterationTable table = measured(job).table;
  ASSERT_EQ(table.slow_iteration_s.size(), 2u);
  EXPECT_EQ(table.slow_iteration_s[0], 0);
  EXPECT_GT(table.slow_iteration_s[1], 1.5 * table.iteration_s[0]);
  EXPECT_LE(table.slow_iteration_s[1], 2.0001 * table.iteration_s[0]);
}

// One more slow node changes nothing if a slower one already holds up all others.
TEST(IterationTable, ASlowNodeIsOneThatWasNot) {
  Job job = small_job(4, 1, 4);
  job.failures = {{.name = "slow", .kind = FailureKind::slow_node, .slowdown = 2}};
  job.cluster.slow_nodes = {{0, 3}};
  IterationTable table = measured(job).table;
  EXPECT_NEAR(table.slow_iteration_s[0], table.iteration_s[0], 1e-9 * table.iteration_s[0]);
  job.cluster.slow_nodes = {{0, 1.2}, {1, 1.2}, {2, 1.2}, {3, 1.2}};
  table = measured(job).table;
  job.cluster.slow_nodes[0].slowdown = 2;
  const double expected_s = measured(job).table.iteration_s[0];
  EXPECT_NEAR(table.slow_iteration_s[0], expected_s, 1e-9 * expected_s);
}

// Two of the six sizes below are simulated; the closed form gives the others within the stated gap.
TEST(IterationTable, SizesThatAreNotSimulatedAreAsFarOffAsTheGapSays) {
  Job job = small_job(4, 1, 24);
  job.recovery.when_no_spare = WhenNoSpare::shrink;
  const IterationTable table = measured(job).table;
  ASSERT_EQ(table.shrunk_iteration_s.size(), 23u);
  for (const int out : {2, 5, 8, 12, 16, 20}) {
    const double exact_s = measured(small_job(4, 1, 24 - out)).table.iteration_s[0];
    EXPECT_NEAR(table.shrunk_iteration_s[out - 1] / exact_s, 1, table.shrunk_gap + 1e-9) << out;
  }
  EXPECT_LT(table.shrunk_gap, 0.2);
}

// Each slow node or NIC keeps a place of its own, as long as there is one.
TEST(IterationTable, SlowNodesAndNicsStayInAShrunkJob) {
  Job job = small_job(4, 1, 4);
  job.recovery.when_no_spare = WhenNoSpare::shrink;
  job.cluster.slow_nodes = {{0, 1.2}, {2, 2}, {3, 3}};
  job.cluster.degraded_nics = {{2, 0, 0.25}, {3, 0, 0.5}};
  const IterationTable table = measured(job).table;
  ASSERT_EQ(table.shrunk_iteration_s.size(), 3u);
  const auto iteration_s = [](int nodes, std::vector<SlowNode> slow,
                              std::vector<DegradedNic> nics) {
    Job smaller = small_job(4, 1, nodes);
    smaller.cluster.slow_nodes = std::move(slow);
    smaller.cluster.degraded_nics = std::move(nics);
    return measured(smaller).table.iteration_s[0];
  };
  const double three_s = iteration_s(3, {{0, 1.2}, {1, 3}, {2, 2}}, {{2, 0, 0.25}, {1, 0, 0.5}});
  EXPECT_NEAR(table.shrunk_iteration_s[0], three_s, 1e-9 * three_s);
  const double one_s = iteration_s(1, {{0, 3}}, {{0, 0, 0.25}});
  EXPECT_NEAR(table.shrunk_iteration_s[2], one_s, 1e-9 * one_s);
}

TEST(IterationTable, AJobOfOneReplicaCannotShrink) {
  Job job = small_job(4, 1, 1);
  job.recovery.when_no_spare = WhenNoSpare::shrink;
  EXPECT_TRUE(measured(job).table.shrunk_iteration_s.empty());
}

// Each replica has two nodes: eight lost nodes cost four replicas, however they are spread.
TEST(IterationTable, AnyNumberOfNodesMayBeOut) {
  Job job = small_job(4, 2, 8);
  job.recovery.when_no_spare = WhenNoSpare::shrink;
  const IterationTable table = measured(job).table;
  ASSERT_EQ(table.shrunk_iteration_s.size(), 14u);  // one replica is left
  for (int out = 1; out <= 14; ++out) {
    const int replicas = 8 - (out + 1) / 2;
    EXPECT_EQ(table.shrunk_progress[out - 1], replicas / 8.0) << out;
    const double exact_s = measured(small_job(4, 2, replicas)).table.iteration_s[0];
    // The first, second, fourth and last size are simulated.
    const bool simulated = replicas == 7 || replicas == 6 || replicas == 4 || replicas == 1;
    const double bound = simulated ? 1e-9 : table.shrunk_gap;
    EXPECT_NEAR(table.shrunk_iteration_s[out - 1] / exact_s, 1, bound) << out;
  }
  EXPECT_GT(table.shrunk_gap, 0);
  EXPECT_LT(table.shrunk_gap, 0.3);
}

// Cables laid for the whole cluster stay, and so do the names of links.
TEST(IterationTable, AFabricOfSoManyNodesStaysWhole) {
  Job job = small_job(4, 1, 4);
  job.recovery.when_no_spare = WhenNoSpare::shrink;
  FabricSpec& fabric = job.cluster.fabric;
  fabric.topology = Topology::torus;
  fabric.dimensions = {2, 2};
  fabric.link_Bps = spec(25e9);
  EXPECT_EQ(measured(job).table.shrunk_iteration_s.size(), 3u);
  fabric = {};
  fabric.nodes_per_pod = 2;
  fabric.pod_oversubscription = 2;
  fabric.faults = {{"pod-up 1 rail 0", 0.5}};
  const IterationTable table = measured(job).table;
  ASSERT_EQ(table.shrunk_iteration_s.size(), 3u);
  for (const double progress : table.shrunk_progress) EXPECT_LT(progress, 1);
}

TEST(IterationTable, ReroutedWorkFillsIdleTimeFirst) {
  // Each of 16 nodes has one GPU: four stages in four replicas. Without one rank the three others
  // of its stage take over its work, 4 + 4/3 micro-batches each.
  Job job = small_job(1, 4, 4);
  job.cluster = small_cluster(16, 1);
  job.recovery.when_no_spare = WhenNoSpare::reroute;
  job.batch.global = 4 * 4;  // p = m = 4: idle 3/7 of the step
  IterationTable table = measured(job).table;
  ASSERT_EQ(table.shrunk_iteration_s.size(), 12u);  // one rank of each stage is left
  for (const double progress : table.shrunk_progress) EXPECT_EQ(progress, 1);
  EXPECT_NEAR(table.shrunk_iteration_s[0], table.iteration_s[0], 0.03 * table.iteration_s[0]);
  // With one stage and no idle time a step takes a third more.
  job = small_job(1, 1, 4);
  job.cluster = small_cluster(4, 1);
  job.cluster.node.nic_Bps = spec(1e15);
  job.recovery.when_no_spare = WhenNoSpare::reroute;
  job.batch.global *= 8;
  table = measured(job).table;
  ASSERT_EQ(table.shrunk_iteration_s.size(), 3u);
  EXPECT_NEAR(table.shrunk_iteration_s[0] / table.iteration_s[0], 4.0 / 3, 0.02);
  EXPECT_NEAR(table.shrunk_iteration_s[1] / table.iteration_s[0], 2, 0.06);
}

TEST(IterationTable, GroupsThatAreOutLeaveTheOthersAsTheyWere) {
  Job job = small_job(4, 1, 8);
  job.recovery.elastic.groups = 5;
  const IterationTable table = measured(job).table;
  EXPECT_EQ(table.shrunk_progress, (std::vector{0.8, 0.6}));
  EXPECT_EQ(table.shrunk_iteration_s, std::vector(2, table.iteration_s[0]));
}

TEST(IterationTable, AnOverheadBecomesTheShortestIntervalThatKeepsIt) {
  Job job = coded_job(4, 1, 4);
  job.campaign.length_s = 86400;
  SnapshotTier& tier = job.snapshots[0];
  tier.every_iterations = 0;
  tier.every_overhead = 0.05;
  const Measured made = measured(job);
  const double plain_s = made.table.iteration_s[0];
  const auto cadence = [&] {
    const IterationTable table = campaign_inputs(job, made.table).table;
    return Pace(table, plain_s, {1}).cadence(0);
  };
  const auto n = static_cast<double>(cadence().every_iterations);
  EXPECT_LE(made.stall_s(), 0.05 * n * plain_s * (1 + 1e-9));
  EXPECT_GT(made.stall_s(), 0.05 * (n - 1) * plain_s);
  tier.every_overhead = 1e6;  // so that only the copy's time limits it
  const double beside_s = made.table.tiers[0].complete_s - made.stall_s();
  EXPECT_EQ(cadence().every_iterations, static_cast<int>(std::ceil(beside_s / plain_s)));
  EXPECT_EQ(cadence().turns, 1) << "none is skipped";
}

TEST(TierReports, SayWhatATierCostsAndCovers) {
  Job job = coded_job(4, 1, 4);
  job.campaign.length_s = 30 * 86400.0;
  job.failures = {{.name = "gpu", .kind = FailureKind::node, .rate_per_node_s = 0.01 / 86400}};
  job.snapshots.push_back({.place = SnapshotPlace::storage, .every_s = 60});
  const Measured made = measured(job);
  const auto reports = tier_reports(job, made.prepared, campaign_inputs(job, made.table));
  ASSERT_EQ(reports.size(), 2u);
  const double bytes = state_bytes(job);
  EXPECT_EQ(reports[0].name, "peers");
  EXPECT_DOUBLE_EQ(reports[0].moved_bytes, bytes);
  EXPECT_DOUBLE_EQ(reports[0].wire_bytes, bytes);
  EXPECT_DOUBLE_EQ(reports[0].host_bytes, 2 * 4 * bytes * 4 / 3);
  EXPECT_DOUBLE_EQ(reports[0].stall_s, made.stall_s());
  EXPECT_DOUBLE_EQ(reports[0].every_s, 10 * made.table.iteration_s[0] + made.stall_s());
  EXPECT_DOUBLE_EQ(reports[0].overhead, reports[0].stall_s / reports[0].every_s);
  EXPECT_GT(reports[0].rebuild_s, reports[0].restore_s);
  // One of four nodes may be lost, but no other until the job has restarted and saved again. There
  // are 0.28 losses in seven days; the share that is followed by another one in that time is fatal.
  const double open_s = job.recovery.detect_s + job.recovery.restart_s + reports[0].restore_s +
                        reports[0].every_s + reports[0].saving_s;
  const double followed = 1 - std::exp(-3 * open_s * 0.01 / 86400);
  EXPECT_NEAR(reports[0].survival_7d, std::exp(-0.28 * followed), 1e-12);
  EXPECT_GT(reports[0].survival_7d, 0.99);
  EXPECT_EQ(reports[1].survival_7d, 1);
  EXPECT_EQ(reports[1].wire_bytes, 0);
  EXPECT_NEAR(reports[1].every_s, 60, made.table.iteration_s[0] + reports[1].stall_s);
  // Failures take one or two nodes; every second one exceeds what the tier tolerates.
  Job batches = job;
  batches.failures[0].batch_shares = {0.5, 0.5};
  const double by_batch =
      tier_reports(batches, made.prepared, campaign_inputs(batches, made.table))[0].survival_7d;
  EXPECT_NEAR(by_batch, std::exp(-0.28 * 0.5), 1e-3);
  EXPECT_LT(by_batch, std::exp(-0.28 * 0.5));
  // Without a keeper a crash of the trainer destroys the copy.
  job.failures.push_back(
      {.name = "crash", .kind = FailureKind::process, .rate_per_node_s = 0.01 / 86400});
  job.snapshots[0].keeper_process = false;
  const auto crashed = tier_reports(job, made.prepared, campaign_inputs(job, made.table));
  EXPECT_LT(crashed[0].survival_7d, std::exp(-4 * 0.07));
  // A corrupt snapshot ends no trainer.
  job.failures.push_back(
      {.name = "bad", .kind = FailureKind::corrupt_snapshot, .rate_per_node_s = 0.01 / 86400});
  const auto bad = tier_reports(job, made.prepared, campaign_inputs(job, made.table));
  EXPECT_EQ(bad[0].survival_7d, crashed[0].survival_7d);
}

// Groups of 64 ranks share experts on nodes of 72 GPUs. With fewer replicas the pipeline stages
// begin elsewhere in a node, so that other groups span two nodes.
TEST(IterationTable, SmallerJobsHaveTheirOwnGroupsOfExperts) {
  const Case the_case = parse_case(R"(
name: experts-over-racks
model: {base: gpt-oss-120b, layers: 6}
cluster: {nodes: 8, node: gb200-nvl72}
layout: {tp: 4, pp: 3, dp: 48, ep: 64, sharding: zero1, sequence_parallel: true}
batch: {global: 192, micro: 1, sequence: 4096}
schedule: 1f1b
failures: [{class: node, rate: 3 per 1000 node-days, repair: 1 d}]
recovery: {when_no_spare: shrink}
campaign: {length: 1 d, replicas: 2}
)",
                                   "experts.yaml");
  Job job = the_case.job;
  // Host time per kernel is as on H100, so that exchanges between nodes are a small part of a step.
  job.calibration.host_kernel_s.value = 45e-6;
  const CampaignIterations all = campaign_iterations(job, prepare_iteration(job));
  ASSERT_FALSE(all.table.shrunk_iteration_s.empty());
  EXPECT_NEAR(all.table.shrunk_iteration_s.front() / all.table.iteration_s.front(), 1, 0.1);
}

// The closed form that chooses among many jobs is near the simulation.
TEST(IterationTable, OtherIterationsInClosedFormAreNear) {
  const Case the_case = load_case(WINDTUNNEL_SOURCE_DIR "/scenarios/spot.yaml");
  const PreparedIteration prepared = prepare_iteration(the_case.job);
  const IterationTable exact = campaign_iterations(the_case.job, prepared).table;
  const IterationTable near =
      campaign_iterations(the_case.job, prepared, 1, OtherIterations::closed).table;
  EXPECT_EQ(near.iteration_s.front(), exact.iteration_s.front());
  ASSERT_EQ(near.iteration_s.size(), exact.iteration_s.size());
  EXPECT_NEAR(near.iteration_s[1] / exact.iteration_s[1], 1, 0.05);
  EXPECT_NEAR(near.tiers[0].complete_s / exact.tiers[0].complete_s, 1, 0.1);
  ASSERT_EQ(near.shrunk_iteration_s.size(), exact.shrunk_iteration_s.size());
  for (std::size_t i = 0; i < near.shrunk_iteration_s.size(); ++i) {
    EXPECT_NEAR(near.shrunk_iteration_s[i] / exact.shrunk_iteration_s[i], 1, 0.05) << i;
  }
}

}  // namespace
}  // namespace windtunnel
