#include "policies/search/chunk_room.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "models/base/units.hpp"
#include "models/cost/memory/tiers.hpp"
#include "policies/iteration.hpp"
#include "policies/search/memory_search.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

// A job of 24 layers of width 2,048 on `dp` GPUs of `memory_bytes` each, with one micro-batch per
// GPU; a layer keeps only its input.
Job chunked_job(double memory_bytes, int dp = 1) {
  Job job = small_job(1, 1, dp);
  job.model.layers = 24;
  job.model.hidden = 2048;
  job.model.ffn_hidden = 8192;
  job.layout.sharding = dp > 1 ? Sharding::zero3 : Sharding::none;
  job.batch = {dp, 1, 1024};
  job.recompute = Recompute::full;
  job.cluster.node.gpu.memory_bytes = spec(memory_bytes);
  auto offload = std::make_shared<Offload>();
  offload->placement = OffloadPlacement::chunks;
  offload->optimizer = offload->gradients = offload->weights = MemoryTier::host;
  job.offload = offload;
  return job;
}

// Bytes of an iteration's copies, summed by the first two words of the tasks' names.
std::map<std::string, double> copied_bytes(const Job& job) {
  const Plan plan = iteration_plan(job, prepare_iteration(job));
  std::map<std::string, double> bytes;
  for (const Task& task : plan.classes.front().tasks) {
    if (task.category != Category::offload) continue;
    const std::size_t second = task.name.find(' ') + 1;
    bytes[task.name.substr(0, task.name.find(' ', second))] += task.bytes;
  }
  return bytes;
}

TEST(ChunkRoom, OfALargeGpuHoldsAllAndNothingMoves) {
  const Job job = with_chunks_found(chunked_job(80e9));
  const Offload::Chunks& chunks = offload_of(job).chunks;
  EXPECT_EQ(chunks.with_optimizer, chunks.count);
  EXPECT_EQ(offload_of(job).optimizer_share, 0);
  EXPECT_TRUE(copied_bytes(job).empty());
  Job alone = job;
  alone.offload = nullptr;
  const double alone_s = iteration_step_s(alone, prepare_iteration(alone));
  EXPECT_NEAR(iteration_step_s(job, prepare_iteration(job)), alone_s, 1e-6 * alone_s);
}

// All weights and gradients are copied once. If there is no room at the turn from the forward to
// the backward pass, they are copied once more in each direction.
void expect_moves_by_room(int dp, const MixtureOfExperts& experts) {
  double before_bytes = 0;
  double before_s = 0;
  for (const double memory_bytes : {40e9, 20e9, 8e9, 6e9, 5e9, 4.5e9, 4e9}) {
    Job open = chunked_job(memory_bytes, dp);
    open.model.moe = experts;
    const Job job = with_chunks_found(open);
    const Offload::Chunks& chunks = offload_of(job).chunks;
    const PreparedIteration prepared = prepare_iteration(job);
    const GpuMemory& at = prepared.memory.front();
    const double state_bytes = chunks.count * (chunks.bytes + optimizer_chunk_bytes(job));
    EXPECT_NEAR(at.weights + at.optimizer + at.host.weights + at.host.optimizer, state_bytes, 1);
    EXPECT_EQ(at.gradients + at.host.gradients, 0);
    if (!gpu_memory_excess(prepared.memory, job).empty()) break;
    std::map<std::string, double> bytes = copied_bytes(job);
    const double moving = (chunks.count - chunks.with_optimizer) * chunks.bytes;
    const double fetched = bytes["fetch weights"];
    EXPECT_NEAR(bytes["evict gradients"], moving, 1);
    EXPECT_NEAR(fetched - moving, bytes["evict weights"], 1);
    // Two neighbouring chunks are in use at once, so that a chunk may be evicted which Belady's
    // rule would keep.
    if (chunks.with_optimizer == 0) {
      const double away = chunks.count - std::floor(chunks.room_bytes / chunks.bytes);
      EXPECT_NEAR(bytes["evict weights"] / chunks.bytes, std::max(0.0, away), chunks.at_once);
    }
    const double step_s = iteration_step_s(job, prepared);
    EXPECT_GE(fetched, before_bytes) << memory_bytes;
    EXPECT_GE(step_s, before_s * (1 - 1e-9)) << memory_bytes;
    before_bytes = fetched;
    before_s = step_s;
  }
  EXPECT_GT(before_bytes, 0);
}

TEST(ChunkRoom, WhatMovesFollowsFromTheRoom) {
  for (const int dp : {1, 4}) expect_moves_by_room(dp, {});
}

// Experts that are not divided among ranks are moved like other weights.
TEST(ChunkRoom, ExpertsMoveAsOtherWeightsDo) {
  for (const int dp : {1, 4}) {
    expect_moves_by_room(dp, {.experts = 2, .per_token = 1, .ffn_hidden = 4096});
  }
}

// If a job leaves further choices open, or changes, its chunks are searched anew.
TEST(ChunkRoom, IsFoundWithTheRestOfTheMemory) {
  Job job = chunked_job(8e9);
  EXPECT_TRUE(leaves_memory_open(job));
  job.recompute = Recompute::automatic;
  const Job found = with_memory_found(job);
  EXPECT_FALSE(leaves_memory_open(found));
  EXPECT_NE(found.recompute, Recompute::automatic);
  EXPECT_GT(offload_of(found).chunks.count, 0);
  Job open = with_memory_open(found);
  EXPECT_TRUE(leaves_memory_open(open));
  open.cluster.node.gpu.memory_bytes = spec(80e9);
  EXPECT_GT(offload_of(with_memory_found(open)).chunks.with_optimizer,
            offload_of(found).chunks.with_optimizer);
}

}  // namespace
}  // namespace windtunnel
