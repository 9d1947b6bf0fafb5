#include "models/cost/snapshot/restore_cost.hpp"

#include <gtest/gtest.h>

#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

TEST(RestoreCost, HostMemoryReadsOverPcieAllGpusAtOnce) {
  Job job = small_job(1, 2, 4);
  const SnapshotTier tier{.place = SnapshotPlace::host_memory,
                          .mode = SnapshotMode::async,
                          .every_iterations = 1,
                          .keeper_process = true};
  // The fuller rank reads 10 GB over 20 GB/s.
  EXPECT_DOUBLE_EQ(restore_s(tier, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                             job.calibration),
                   0.5);
  // Four GPUs of a node share its host memory: 40 GB over 50 GB/s.
  job.cluster.node.host_memory_Bps.value = 50e9;
  EXPECT_DOUBLE_EQ(restore_s(tier, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                             job.calibration),
                   0.8);
}

TEST(RestoreCost, StorageIsBoundByItselfOrByTheNodesNic) {
  Job job = small_job(1, 2, 4);  // 2 nodes of 4 GPUs
  SnapshotTier tier;
  tier.place = SnapshotPlace::storage;
  job.cluster.storage.latency_s = spec(1);
  // Storage takes 3.2 s: 4 ranks x (6 + 10) GB over 20 GB/s. A node takes 4 s: 40 GB over 10 GB/s.
  // PCIe takes 0.5 s.
  EXPECT_DOUBLE_EQ(restore_s(tier, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                             job.calibration),
                   5.5);
  job.cluster.storage.read_Bps.value = 5e9;  // storage takes 12.8 s
  EXPECT_DOUBLE_EQ(restore_s(tier, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                             job.calibration),
                   14.3);
  job.cluster.storage.read_Bps.value = 20e9;
  job.cluster.storage.background = 0.75;  // used by other jobs
  EXPECT_DOUBLE_EQ(restore_s(tier, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                             job.calibration),
                   14.3);
}

// Each of 2 nodes has 4 GPUs; those of the fuller node hold 10 GB each.
TEST(RestoreCost, AProcessHasAPaceOfItsOwn) {
  Job job = small_job(1, 2, 4);
  job.cluster.storage.latency_s = spec(1);
  job.layout.sharding = Sharding::none;
  SnapshotTier tier;
  const auto save = [&] {
    return save_s(tier, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                  job.calibration);
  };
  const auto load = [&] {
    return restore_s(tier, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                     job.calibration);
  };
  EXPECT_DOUBLE_EQ(save(), 0.5 + 1 + 4);  // PCIe, latency, 40 GB over the NIC
  tier.writer = {.write_Bps = 1e9, .read_Bps = 2e9, .start_s = 0.25};
  EXPECT_DOUBLE_EQ(save(), 0.5 + 0.25 + 1 + 10);
  EXPECT_DOUBLE_EQ(load(), 0.5 + 1 + 5);
  // One of four replicas writes the state that all of them hold, over its own link; each replica
  // reads all of it.
  tier.writer.ranks = WritingRanks::holders;
  EXPECT_DOUBLE_EQ(save(), 2 + 0.25 + 1 + 40);
  EXPECT_DOUBLE_EQ(load(), 2 + 1 + 20);
  tier.place = SnapshotPlace::host_memory;
  tier.writer = {.read_Bps = 1e9, .copy_Bps = 5e9};
  EXPECT_DOUBLE_EQ(save(), 2);
  EXPECT_DOUBLE_EQ(load(), 10);
  tier.copy_limit_Bps = 2.5e9;
  EXPECT_DOUBLE_EQ(save(), 4);
  tier.place = SnapshotPlace::replicas;
  EXPECT_EQ(save(), 0);
}

// Two nodes start: the fuller one reads 40 GB of 64 GB, and each reads an image of 10 GB. Each node
// gets 10 GB/s if two read, and 2.5 GB/s if eight do.
TEST(RestoreCost, NodesThatStartTogetherShareTheStorage) {
  Job job = small_job(1, 2, 4);
  job.cluster.storage.latency_s = spec(1);
  SnapshotTier tier;
  tier.place = SnapshotPlace::storage;
  const auto reads = [&](const SnapshotTier* from) {
    return startup_reads(from, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                         job.calibration);
  };
  EXPECT_EQ(reads(&tier), StartupReads{});
  job.cluster.storage.storm = {.nodes = 1, .read_bytes = 100e9};
  EXPECT_DOUBLE_EQ(reads(&tier).storm_s, 32 / (20.0 / 3) - 4);  // three nodes share 20 GB/s
  job.cluster.storage.storm = {};
  job.cluster.storage.startup_bytes = 10e9;
  EXPECT_DOUBLE_EQ(reads(&tier).alone_s, 1);  // 5 s instead of 4 s
  EXPECT_EQ(reads(&tier).storm_s, 0);
  job.cluster.storage.storm = {.nodes = 6, .read_bytes = 100e9};
  EXPECT_DOUBLE_EQ(reads(&tier).storm_s, 42 / 2.5 - 5);  // on average a node reads 42 GB
  job.cluster.storage.storm.read_bytes = 10e9;
  EXPECT_DOUBLE_EQ(reads(&tier).storm_s, 10 / 2.5 + 32 / 10.0 - 5);
  // A copy in host memory is read over a link of its own, the image over the shared storage.
  tier.place = SnapshotPlace::host_memory;
  EXPECT_DOUBLE_EQ(reads(&tier).alone_s, 1 + 1);
  EXPECT_DOUBLE_EQ(reads(&tier).storm_s, 10 / 2.5 - 1);
  EXPECT_EQ(reads(nullptr), reads(&tier));
}

// Each of 2 nodes has 4 GPUs, the fullest of which hold 10 GB each: PCIe takes 0.5 s. A node's NICs
// carry 100 GB/s, its disks 14 GB/s.
class Rebuild : public ::testing::Test {
 protected:
  double restored() const {
    return restore_s(tier, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                     job.calibration);
  }
  double rebuilt() const {
    return rebuild_s(tier, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                     job.calibration);
  }
  Job job = small_job(1, 2, 4);
  SnapshotTier tier;
};

TEST_F(Rebuild, PeersGatherAsManyBlocksAsTheCodeHasData) {
  tier.place = SnapshotPlace::peers;
  EXPECT_DOUBLE_EQ(restored(), 0.5);
  EXPECT_DOUBLE_EQ(rebuilt(), 0);
  // With GEMINI's two copies, a node's 40 GB come back over its NICs in 0.4 s.
  tier.code = {.name = CodeName::copies, .data = 1, .parity = 1};
  EXPECT_DOUBLE_EQ(rebuilt(), 0.4 + 0.5);
  tier.code.parity = 2;  // one copy is left, and sends to two nodes
  EXPECT_DOUBLE_EQ(rebuilt(), 0.8 + 0.5);
  // With REFT's XOR over 4 + 1 nodes, four blocks are fetched and decoded by four cores of 40 GB/s
  // in all.
  tier.code = {.name = CodeName::xor_parity, .data = 4, .parity = 1, .cpu_cores = 4};
  EXPECT_DOUBLE_EQ(rebuilt(), 1.6 + 1 + 0.5);
  // The GPUs decode 160 GB at 4 x 2 TB/s x 4/5.
  tier.code.on_gpu = true;
  EXPECT_DOUBLE_EQ(rebuilt(), 1.6 + 0.025 + 0.5);
}

TEST_F(Rebuild, DisksReadBeforeTheHost) {
  tier.place = SnapshotPlace::local_disk;
  EXPECT_DOUBLE_EQ(restored(), 40.0 / 14 + 0.5);
  EXPECT_DOUBLE_EQ(rebuilt(), 0);
  tier.code = {.name = CodeName::copies, .data = 1, .parity = 1};
  EXPECT_DOUBLE_EQ(rebuilt(), 40.0 / 14 + 0.5);  // limited by disks
}

TEST_F(Rebuild, ReplicasGiveTheWholeShardOverOneNicEach) {
  tier.place = SnapshotPlace::replicas;
  // Each of four replicas provides a quarter of the state: 40 GB per GPU over 25 GB/s.
  job.layout.sharding = Sharding::none;
  EXPECT_DOUBLE_EQ(restored(), 1.6);
  EXPECT_DOUBLE_EQ(rebuilt(), 1.6);
  job.layout.sharding = Sharding::zero3;
  job.layout.shard_ranks = 2;
  EXPECT_DOUBLE_EQ(restored(), 0.8);
}

TEST_F(Rebuild, CodesInTheNodeDecodeThere) {
  tier.place = SnapshotPlace::host_memory;
  tier.code = {.name = CodeName::xor_parity, .data = 3, .parity = 1, .in_node = true};
  EXPECT_DOUBLE_EQ(rebuilt(), 30.0 / 160 + 0.5);
  tier.code = {.name = CodeName::recompute, .in_node = true};
  EXPECT_DOUBLE_EQ(rebuilt(), 0.5);
}

TEST_F(Rebuild, DifferentialsAreReadOnTop) {
  tier.place = SnapshotPlace::storage;
  // All ranks read 64 GB over 20 GB/s, and a node its 40 GB over 10 GB/s.
  EXPECT_DOUBLE_EQ(restored(), 4 + 0.5);
  // Full snapshots are quantised to half of the bytes; each of the four that follow has a tenth of
  // that. On average two of them are read.
  tier.quantised_share = 0.5;
  tier.changed_share = 0.1;
  tier.full_every = 5;
  EXPECT_DOUBLE_EQ(restored(), 0.6 * (4 + 0.5));
}

TEST_F(Rebuild, AnotherNumberOfShardsIsReadAndWrittenOnceMore) {
  const auto reshaped = [&] {
    return reshape_s(tier, saved_state({6e9, 10e9}, job.layout), job.layout, job.cluster,
                     job.calibration);
  };
  tier.place = SnapshotPlace::storage;
  job.layout.sharding = Sharding::zero1;
  EXPECT_DOUBLE_EQ(reshaped(), 4 + 4);
  tier.place = SnapshotPlace::local_disk;
  EXPECT_DOUBLE_EQ(reshaped(), 2 * 40.0 / 14);
  tier.any_layout = true;
  EXPECT_DOUBLE_EQ(reshaped(), 0);
  tier.any_layout = false;
  // If all shards have two copies, or every rank has the whole state, the remaining ranks lack
  // nothing.
  job.layout.shard_ranks = 2;
  EXPECT_DOUBLE_EQ(reshaped(), 0);
  job.layout.sharding = Sharding::none;
  EXPECT_DOUBLE_EQ(reshaped(), 0);
}

}  // namespace
}  // namespace windtunnel
