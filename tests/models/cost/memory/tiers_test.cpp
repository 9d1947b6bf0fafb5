#include "models/cost/memory/tiers.hpp"

#include <gtest/gtest.h>

#include "models/base/random.hpp"
#include "models/cost/offload/offload.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

std::shared_ptr<const Offload> shared(const Offload& offload) {
  return std::make_shared<const Offload>(offload);
}

std::vector<GpuMemory> memory_of(const Job& job) {
  const std::vector<double> none(job.layout.pp, 0);
  return gpu_memory(job, chunk_costs(job), none);
}

// A parameter has 18 bytes: weight 2, gradient 4, optimizer state 12.
TEST(Tiers, WhatLeavesTheGpuLiesBesideIt) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    RandomStream random(7, RandomPurpose::test, i);
    Job job = small_job(1 << random.below(2), 1 << random.below(2), 1 << random.below(3));
    job.layout.sharding = Sharding::zero3;
    const std::vector<GpuMemory> before = memory_of(job);
    Offload offload;
    offload.optimizer = random.below(2) == 0 ? MemoryTier::host : MemoryTier::disk;
    offload.optimizer_share = 0.25 + 0.75 * random.uniform();
    if (random.below(2) == 0) offload.gradients = MemoryTier::host;
    if (random.below(2) == 0) offload.weights = MemoryTier::host;
    job.offload = shared(offload);
    const std::vector<GpuMemory> after = memory_of(job);
    for (std::size_t rank = 0; rank < after.size(); ++rank) {
      const TierMemory& host = after[rank].host;
      const TierMemory& disk = after[rank].disk;
      EXPECT_NEAR(after[rank].optimizer + host.optimizer + disk.optimizer, before[rank].optimizer,
                  1);
      if (offload.gradients == MemoryTier::host) {
        EXPECT_NEAR(after[rank].gradients + host.gradients, before[rank].gradients, 1);
      } else {  // on the host only from their arrival until the step
        EXPECT_EQ(after[rank].gradients, before[rank].gradients);
        EXPECT_NEAR(host.gradients, (host.optimizer + disk.optimizer) / 3, 1);
      }
      EXPECT_NEAR(after[rank].weights + host.weights, before[rank].weights, 1);
      EXPECT_GE(after[rank].buffers, before[rank].buffers);
      EXPECT_LE(after[rank].total(), before[rank].total() + after[rank].buffers);
    }
  }
}

TEST(Tiers, AllOfTheStateIsEighteenBytesOfAParameter) {
  Job job = small_job(1, 1, 1);
  Offload offload;
  offload.optimizer = offload.gradients = offload.weights = MemoryTier::host;
  job.offload = shared(offload);
  const double parameters = chunk_costs(job).front().parameters;
  EXPECT_NEAR(memory_of(job).front().host.total(), 18 * parameters, 1);
}

TEST(Tiers, ANodeHoldsWhatItsGpusLay) {
  Job job = small_job(1, 2, 6);  // three nodes of 4: the second one has ranks of both stages
  std::vector<GpuMemory> memory(2);
  memory[0].host.optimizer = 1;
  memory[1].host.optimizer = 10;
  EXPECT_EQ(tier_of_node(job, memory, MemoryTier::host).total(), 40);
  memory[1].host.optimizer = 0;
  EXPECT_EQ(tier_of_node(job, memory, MemoryTier::host).total(), 4);
}

TEST(Tiers, ASnapshotTakesOverPcieWhatIsOnTheGpu) {
  Job job = small_job(1, 1, 4);
  EXPECT_EQ(state_share_on_gpu(job), 1);
  Offload offload;
  offload.optimizer = MemoryTier::host;
  job.offload = shared(offload);
  EXPECT_NEAR(state_share_on_gpu(job), 2.0 / 14, 1e-12);
  offload.optimizer_share = 0.5;
  job.offload = shared(offload);
  EXPECT_NEAR(state_share_on_gpu(job), 8.0 / 14, 1e-12);
}

TEST(Tiers, ExcessNamesTheTierWhatNeedsItAndRemedies) {
  NodeSpec node;
  node.name = "small";
  node.host_memory_bytes = spec(1e12);
  node.local_disk_bytes = spec(4e12);
  using enum MemoryTier;
  EXPECT_EQ(tier_excess(host, {{"host-memory", 0.4e12}, {"storage", 0.5e12}}, node), "");
  EXPECT_EQ(tier_excess(host, {{"host-memory", 1.2e12}, {"storage", 0.3e12}}, node),
            "snapshots in host memory need 1.50 TB per node (host-memory 1.20 TB, storage 300 GB), "
            "500 GB more than the 1.00 TB of node 'small'; shard them over more nodes, or keep "
            "fewer copies");
  EXPECT_EQ(tier_excess(host, {{"storage", 1.5e12}}, node, "old"),
            "snapshots in host memory need 1.50 TB per node of pool 'old' (storage 1.50 TB), 500 "
            "GB more than the 1.00 TB of node 'small'; shard them over more nodes, or keep fewer "
            "copies");
  EXPECT_EQ(tier_excess(disk, {{kOffloadUse, 3e12}}, node), "");
  EXPECT_EQ(tier_excess(disk, {{"local-disk", 2e12}, {kOffloadUse, 3e12}}, node),
            "offloaded state and snapshots on drives need 5.00 TB per node (local-disk 2.00 TB, "
            "offload 3.00 TB), 1.00 TB more than the 4.00 TB of node 'small'; shard them over more "
            "nodes, or keep fewer copies, or offload less to disk");
  EXPECT_EQ(tier_excess(host, {{kOffloadUse, 3e12}}, node),
            "offloaded state in host memory needs 3.00 TB per node (offload 3.00 TB), 2.00 TB more "
            "than the 1.00 TB of node 'small'; shard them over more nodes, or offload less, or to "
            "disk");
}

}  // namespace
}  // namespace windtunnel
