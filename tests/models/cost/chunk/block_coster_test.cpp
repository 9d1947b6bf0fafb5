// How long the GPU waits for its host in the blocks of a chunk, and what host time and copies
// ZeRO-3 adds.
#include "models/cost/chunk/block_coster.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

const Batch kShardedBatch{.global = 16, .micro = 1, .sequence = 8192};

TransformerSpec four_layer_model() {
  TransformerSpec model = llama3_8b();
  model.layers = 4;
  return model;
}

double seconds_of(const std::vector<CostPart>& parts, Category category) {
  double sum = 0;
  for (const CostPart& part : parts) sum += part.category == category ? part.seconds : 0;
  return sum;
}

// A faster link never makes a pass longer, although launching a collective keeps the host busy
// whether or not kernels cover it.
TEST(HostOfChunks, AFasterLinkMakesNoPassLonger) {
  Job job = test_job(four_layer_model(), {.tp = 2, .dp = 4, .sequence_parallel = true},
                     {.global = 16, .micro = 2, .sequence = 1024});
  using enum TensorOverlap;
  double waited_s = 0;
  for (const TensorOverlap overlap : {none, pipelined, fused, domino, sub_pipelined}) {
    job.software.tp_overlap = overlap;
    for (const double launch_s : {20e-6, 100e-6, 500e-6}) {
      job.calibration.host_launch_s = parameter(launch_s);
      for (const double run_ahead : {0.0, 0.5, 1.0}) {
        job.calibration.host_run_ahead = parameter(run_ahead);
        double forward_s = 1e9;
        double backward_s = 1e9;
        for (const double nvlink_Bps : {10e9, 50e9, 100e9, 200e9, 450e9, 900e9, 1800e9}) {
          job.cluster.node.nvlink_Bps.value = nvlink_Bps;
          const ChunkCost chunk = chunk_costs(job)[0];
          const double back_s =
              total_seconds(chunk.backward_input) + total_seconds(chunk.backward_weight);
          const std::string of = fmt::format("overlap {}, launch {}, ahead {}, {} B/s",
                                             int(overlap), launch_s, run_ahead, nvlink_Bps);
          EXPECT_LE(total_seconds(chunk.forward), forward_s * (1 + 1e-12)) << of;
          EXPECT_LE(back_s, backward_s * (1 + 1e-12)) << of;
          forward_s = total_seconds(chunk.forward);
          backward_s = back_s;
          waited_s += seconds_of(chunk.backward_input, Category::host);
        }
      }
    }
  }
  EXPECT_GT(waited_s, 0);
}

// ZeRO-3 keeps the host busy once for each gather and reduction of a layer: once forward, twice
// backward. CUDA graphs avoid it.
TEST(ShardedChunks, ShardingKeepsTheHostBusy) {
  Job job = test_job(four_layer_model(), {.dp = 4, .sharding = Sharding::zero3}, kShardedBatch);
  const ChunkCost before = chunk_costs(job)[0];
  job.calibration.host_run_ahead = parameter(1);
  job.software.host_shard_s = 10;
  const ChunkCost after = chunk_costs(job)[0];
  const auto grown = [&](std::vector<CostPart> ChunkCost::*parts) {
    return seconds_of(after.*parts, Category::host) - seconds_of(before.*parts, Category::host);
  };
  // The blocks' kernels run while the host works, and hide less than a tenth of its 10 s.
  EXPECT_GT(grown(&ChunkCost::forward), 0.9 * 4 * 10);
  EXPECT_LT(grown(&ChunkCost::forward), 4 * 10);
  const double backward = grown(&ChunkCost::backward_input) + grown(&ChunkCost::backward_weight);
  EXPECT_GT(backward, 0.9 * 4 * 20);
  EXPECT_LT(backward, 4 * 20);
  job.software.cuda_graphs = true;
  EXPECT_EQ(seconds_of(chunk_costs(job)[0].forward, Category::host), 0);
}

// Forward and backward each cast a shard (6 B), place it (4 B) and copy all weights out (4 B);
// gradients are cast to fp32 (6 B), and the rank's own part of the sum is written (8 B).
TEST(ShardedChunks, ShardCopiesMoveTheirBytes) {
  Job job = test_job(four_layer_model(), {.dp = 4, .sharding = Sharding::zero3}, kShardedBatch);
  const ChunkCost before = chunk_costs(job)[0];
  job.software.shard_copies = true;
  const ChunkCost after = chunk_costs(job)[0];
  const auto grown = [&](std::vector<CostPart> ChunkCost::*parts, Category category) {
    return seconds_of(after.*parts, category) - seconds_of(before.*parts, category);
  };
  const TransformerSpec& model = job.model;
  const double layers = 4 * model.layer_parameters();
  const double all = layers + 2.0 * model.vocabulary * model.hidden;
  const auto seconds = [&](int kernels, double bytes) {
    return kernels * (2e-6 + 4e6 / (3e12 * 0.9)) + bytes / (3e12 * 0.9);
  };
  const double gather_bytes = (6.0 + 4.0) / 4 + 4;
  EXPECT_NEAR(grown(&ChunkCost::forward, Category::forward), seconds(6, gather_bytes * all), 1e-9);
  // Embedding and head stay gathered after the forward pass.
  EXPECT_NEAR(grown(&ChunkCost::backward_input, Category::backward),
              seconds(4, gather_bytes * layers), 1e-9);
  EXPECT_NEAR(grown(&ChunkCost::backward_weight, Category::backward),
              seconds(6, (6 + 8.0 / 4) * all), 1e-9);
  job.layout.sharding = Sharding::zero1;
  EXPECT_LT(total_seconds(chunk_costs(job)[0].forward),
            total_seconds(after.forward) - seconds(6, gather_bytes * all) / 2);
}

}  // namespace
}  // namespace windtunnel
