#include "policies/search/memory_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "models/base/units.hpp"
#include "models/cost/chunk/layer_table_cost.hpp"
#include "models/cost/memory/memory.hpp"
#include "models/workload/layer_table.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/library/library.hpp"
#include "tests/support/small_job.hpp"

namespace windtunnel {
namespace {

Job open_job(double memory_bytes) {
  Job job = small_job(1, 1, 1);
  job.cluster.node.gpu.memory_bytes = spec(memory_bytes);
  job.recompute = Recompute::automatic;
  Offload offload;
  offload.optimizer = offload.gradients = offload.weights = offload.activations =
      MemoryTier::automatic;
  job.offload = std::make_shared<const Offload>(offload);
  return job;
}

double step_s(const Job& job) {
  return iteration_step_s(job, prepare_iteration(job));
}

double needed_bytes(const Job& job) {
  return fullest_bytes(prepare_iteration(job).memory);
}

TEST(MemorySearch, WhatFitsIsLeftAlone) {
  const Job found = with_memory_found(open_job(80e9));
  EXPECT_EQ(found.recompute, Recompute::none);
  EXPECT_FALSE(offload_of(found).any());
  EXPECT_FALSE(leaves_memory_open(found));
}

// With less memory a step takes longer, and the result fits as long as any choice does.
TEST(MemorySearch, LessMemoryCostsMoreTime) {
  const double all = needed_bytes(with_memory_found(open_job(80e9)));
  double last_s = 0;
  for (const double share : {1.0, 0.8, 0.6, 0.5, 0.4}) {
    const double memory = share * all / 0.99 * 1e9 / kGibibyte;
    const Job found = with_memory_found(open_job(memory));
    EXPECT_LE(needed_bytes(found), usable_bytes(found.cluster.node.gpu) * (1 + 1e-9)) << share;
    EXPECT_GE(step_s(found), last_s * (1 - 1e-9)) << share;
    last_s = step_s(found);
  }
}

// No other choice of the same kinds both fits and is faster.
TEST(MemorySearch, NothingThatFitsIsFaster) {
  const double all = needed_bytes(with_memory_found(open_job(80e9)));
  const Job open = open_job(0.55 * all / 0.99 * 1e9 / kGibibyte);
  const double found_s = step_s(with_memory_found(open));
  int tried = 0;
  for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
    for (Offload offload : state_offloads(open)) {
      for (int layers = 0; layers <= open.model.layers; ++layers) {
        offload.activations = layers > 0 ? MemoryTier::host : MemoryTier::gpu;
        offload.activation_share = layers > 0 ? double(layers) / open.model.layers : 1;
        Job job = open;
        job.recompute = recompute;
        job.offload = std::make_shared<const Offload>(offload);
        const PreparedIteration prepared = prepare_iteration(job);
        if (!gpu_memory_excess(prepared.memory, job).empty()) continue;
        ++tried;
        EXPECT_GE(iteration_step_s(job, prepared), found_s * (1 - 1e-9));
      }
    }
  }
  EXPECT_GT(tried, 5);
}

TEST(MemorySearch, WhatNothingFitsInIsTheLeastThatItNeeds) {
  const Job found = with_memory_found(open_job(1e8));
  EXPECT_TRUE(offload_of(found).any());
  EXPECT_EQ(found.recompute, Recompute::full);
}

TEST(MemorySearch, WhatWasFoundCanBeOpenedAgain) {
  const Job found = with_memory_found(open_job(80e9));
  const Job open = with_memory_open(found);
  EXPECT_TRUE(leaves_memory_open(open));
  EXPECT_EQ(open.recompute, Recompute::automatic);
  EXPECT_EQ(offload_of(open).optimizer, MemoryTier::automatic);
  EXPECT_EQ(step_s(with_memory_found(open)), step_s(found));
}

// A table of convolutions, which are expensive to recompute, with norms, which are cheap, on a GPU
// with 16 GB/s to its host.
Job table_job(double memory_bytes, bool swap, bool recompute) {
  NetworkBuilder builder({3, 224, 224});
  builder.convolution("stem", {.channels = 64, .window = {7, 2, 3}, .norm = true});
  for (int i = 0; i < 12; ++i) {
    builder.bottleneck("block" + std::to_string(i), {.channels = 64, .stride = 1});
  }
  auto table = std::make_shared<LayerTable>();
  table->name = "blocks";
  table->layers = builder.take();
  Job job;
  job.network = table;
  job.model = network_model(*table);
  job.cluster = small_cluster(1, 1);
  job.cluster.node.gpu.memory_bytes = spec(memory_bytes);
  job.cluster.node.gpu.fp32_flops = spec(15e12);
  job.cluster.node.pcie_Bps = spec(16e9);
  job.precision = Precision::fp32;
  job.batch = {64, 64, 1};
  job.calibration = calibration_of("generic");
  job.schedule.name = "1f1b";
  Offload offload;
  if (swap) offload.activations = MemoryTier::automatic;
  job.offload = std::make_shared<const Offload>(offload);
  if (recompute) job.recompute = Recompute::automatic;
  return job;
}

// DELTA (arXiv 2203.15980): swapping and recomputing together is never slower than either alone,
// and faster if neither is free.
TEST(MemorySearch, SwappingAndComputingAgainBeatEither) {
  const double all = needed_bytes(table_job(80e9, false, false));
  int faster = 0;
  for (const double share : {0.9, 0.7, 0.6, 0.5, 0.4, 0.3}) {
    const double memory = share * all / 0.99 * 1e9 / kGibibyte;
    const auto found_s = [&](bool swap, bool recompute) {
      const Job found = with_memory_found(table_job(memory, swap, recompute));
      const bool fits = gpu_memory_excess(prepare_iteration(found).memory, found).empty();
      return fits ? step_s(found) : std::numeric_limits<double>::infinity();
    };
    const double mixed_s = found_s(true, true);
    const double either_s = std::min(found_s(true, false), found_s(false, true));
    EXPECT_LT(mixed_s, std::numeric_limits<double>::infinity()) << share;
    EXPECT_LE(mixed_s, either_s * (1 + 1e-9)) << share;
    if (mixed_s < 0.99 * either_s) ++faster;
  }
  EXPECT_GE(faster, 2);
}

TEST(MemorySearch, StatesGrowFromNothing) {
  const std::vector<Offload> alone = state_offloads(small_job(1, 1, 1));
  ASSERT_EQ(alone.size(), 5U);
  EXPECT_FALSE(alone.front().any());
  EXPECT_EQ(alone.back().optimizer, MemoryTier::disk);
  EXPECT_EQ(state_offloads(small_job(1, 1, 4)).size(), 2U);  // zero1: only the optimizer state
}

}  // namespace
}  // namespace windtunnel
