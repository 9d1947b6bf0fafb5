#include "models/cost/memory/memory.hpp"

#include <gtest/gtest.h>

#include "models/base/random.hpp"
#include "models/cost/memory/gradient_buffers.hpp"
#include "models/workload/stage_parameters.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

constexpr double kWorkspace = 64.0 * 1024 * 1024;  // of GEMMs, on a GPU with fp8

struct State {
  std::vector<ChunkCost> chunks;
  std::vector<GpuMemory> memory;
};

State state_of(const Layout& layout, Precision precision = Precision::bf16) {
  Job job = test_job(llama3_8b(), layout, {.global = 64, .micro = 1, .sequence = 8192}, precision);
  job.cluster = test_cluster(8);
  State state;
  state.chunks = chunk_costs(job);
  const std::vector<double> peaks(static_cast<std::size_t>(layout.pp), 7e9);
  state.memory = gpu_memory(job, state.chunks, peaks);
  return state;
}

// FSDP2 shards fp32 weights (4 B), gradients (4 B) and two moments, and keeps no other copy of the
// weights.
TEST(Memory, ShardsInFp32HaveNo16BitCopyBesideThem) {
  for (const bool fp32_shards : {false, true}) {
    Job job = test_job(llama3_8b(), {.dp = 8, .sharding = Sharding::zero3},
                       {.global = 64, .micro = 1, .sequence = 8192}, Precision::bf16);
    job.cluster = test_cluster(1);
    job.software.fp32_shards = fp32_shards;
    const std::vector<ChunkCost> chunks = chunk_costs(job);
    const double parameters = chunks[0].parameters;
    const GpuMemory at = gpu_memory(job, chunks, {7e9})[0];
    EXPECT_NEAR(at.weights + at.optimizer, (fp32_shards ? 12 : 14) * parameters / 8, 1);
    EXPECT_NEAR(8 * snapshot_bytes_per_gpu(job, chunks)[0], (fp32_shards ? 12 : 14) * parameters,
                1);
    EXPECT_NEAR(weight_share(job), fp32_shards ? 1.0 / 3 : 1.0 / 7, 1e-12);
    // Gathered parameters are in 16 bits either way.
    EXPECT_EQ(weight_bytes_per_parameter(job), 2);
    // Snapshots hold no 16-bit copy either if the parameters stay gathered: only the shards are
    // written.
    job.layout.sharding = Sharding::zero1;
    EXPECT_NEAR(8 * snapshot_bytes_per_gpu(job, chunks)[0], (fp32_shards ? 12 : 14) * parameters,
                1);
  }
}

// A snapshot holds both copies of the weights and two moments. DeepSpeed leaves out the 16-bit copy
// if it shards weights; NeuronX Distributed leaves out the fp32 copy.
TEST(Memory, SnapshotsHoldWhatTheSoftwareWrites) {
  struct Written {
    SnapshotWeights weights;
    Sharding sharding;
    bool fp32_shards;
    double bytes;
    double weight_bytes;
  };
  using enum SnapshotWeights;
  for (const Written& of :
       {Written{all, Sharding::zero3, false, 14, 2},
        Written{fp32_shards, Sharding::zero3, false, 12, 4},
        Written{fp32_shards, Sharding::zero2, false, 14, 2},
        Written{compute, Sharding::zero1, false, 10, 2}, Written{all, Sharding::zero3, true, 12, 4},
        Written{compute, Sharding::zero3, true, 12, 4}}) {
    Job job = test_job(llama3_8b(), {.dp = 8, .sharding = of.sharding},
                       {.global = 64, .micro = 1, .sequence = 8192}, Precision::bf16);
    job.software.snapshot_weights = of.weights;
    job.software.fp32_shards = of.fp32_shards;
    const std::vector<ChunkCost> chunks = chunk_costs(job);
    EXPECT_NEAR(8 * snapshot_bytes_per_gpu(job, chunks)[0], of.bytes * chunks[0].parameters, 1);
    EXPECT_NEAR(weight_share(job), of.weight_bytes / of.bytes, 1e-12);
    // The memory on the GPU does not depend on what a snapshot holds.
    const double kept = gpu_memory(job, chunks, {0})[0].optimizer;
    EXPECT_NEAR(kept, 12 * chunks[0].parameters / 8, 1);
  }
}

// With pure 16-bit, with fp32 and without an optimizer there is only one copy of the weights, which
// every snapshot holds.
TEST(Memory, SnapshotsHoldTheOnlyCopyOfTheWeights) {
  for (const SnapshotWeights weights :
       {SnapshotWeights::all, SnapshotWeights::fp32_shards, SnapshotWeights::compute}) {
    Job job = test_job(llama3_8b(), {.dp = 8, .sharding = Sharding::zero3},
                       {.global = 64, .micro = 1, .sequence = 8192}, Precision::bf16);
    job.software.snapshot_weights = weights;
    job.software.pure_16_bit = true;
    const std::vector<ChunkCost> chunks = chunk_costs(job);
    EXPECT_NEAR(8 * snapshot_bytes_per_gpu(job, chunks)[0], 6 * chunks[0].parameters, 1);
    job.precision = Precision::fp32;
    EXPECT_NEAR(8 * snapshot_bytes_per_gpu(job, chunks)[0], 12 * chunks[0].parameters, 1);
  }
}

TEST(Memory, MixedPrecisionTakesEighteenBytesPerParameter) {
  const State state = state_of({.tp = 8});
  const GpuMemory& at = state.memory[0];
  const double parameters = state.chunks[0].parameters;
  EXPECT_EQ(at.weights, 2 * parameters);
  EXPECT_EQ(at.gradients, 4 * parameters);
  EXPECT_EQ(at.optimizer, 12 * parameters);
  EXPECT_EQ(at.activations, 7e9);
  // Without pipeline and replicas, buffers are transients and workspace only.
  EXPECT_EQ(at.buffers, state.chunks[0].transient_bytes + kWorkspace);
  const double counted = at.weights + at.gradients + at.optimizer + at.activations + at.buffers;
  EXPECT_EQ(at.allocated(), counted);
  EXPECT_NEAR(at.fragmentation, 0.05 * counted, 1);
  EXPECT_EQ(at.framework, 3e9);
  EXPECT_EQ(state_of({.tp = 8}, Precision::fp32).memory[0].optimizer, 8 * parameters);
}

TEST(Memory, OptimizersKeepTheirMoments) {
  Job job;
  job.precision = Precision::bf16;
  EXPECT_EQ(optimizer_bytes_per_parameter(job), 12);
  job.software.optimizer = Optimizer::momentum;
  EXPECT_EQ(optimizer_bytes_per_parameter(job), 8);
  job.software.optimizer = Optimizer::sgd;
  EXPECT_EQ(optimizer_bytes_per_parameter(job), 4);
  job.precision = Precision::fp32;
  EXPECT_EQ(optimizer_bytes_per_parameter(job), 0);
}

TEST(Memory, MomentsMayHave16Bit) {
  Job job;
  job.precision = Precision::bf16;
  job.software.moment_bytes = 2;
  EXPECT_EQ(optimizer_bytes_per_parameter(job), 8);
  job.precision = Precision::fp32;  // keeps moments in fp32
  EXPECT_EQ(optimizer_bytes_per_parameter(job), 8);
}

TEST(Memory, ScaledWeightsMayBeTheOnlyOnes) {
  Job job = test_job(llama3_8b(), {}, {.global = 1, .micro = 1, .sequence = 1024}, Precision::fp8);
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  const double both = gpu_memory(job, chunks, {0})[0].weights;
  job.software.scaled_weights = true;
  const double vocabulary = 2 * 2.0 * 128256 * 4096;  // in 16 bit, as before
  const double layers = 2 * (chunks[0].parameters - 2.0 * 128256 * 4096);
  EXPECT_NEAR(both - gpu_memory(job, chunks, {0})[0].weights, layers, 1e-3 * layers);
  EXPECT_GT(gpu_memory(job, chunks, {0})[0].weights, vocabulary);
}

// In fp8 one of the two bytes per weight is the transpose. Block scales go along rows or along
// columns, so that neither copy can be made from the other.
TEST(Memory, TransposesOfWeightsMayBeLeftOut) {
  for (const auto& [precision, bytes] :
       {std::pair(Precision::fp8, 1.0), std::pair(Precision::mxfp8, 0.0)}) {
    Job job = test_job(llama3_8b(), {}, {.global = 1, .micro = 1, .sequence = 1024}, precision);
    const std::vector<ChunkCost> chunks = chunk_costs(job);
    const double both = gpu_memory(job, chunks, {0})[0].weights;
    job.software.weight_transposes = false;
    EXPECT_EQ(both - gpu_memory(job, chunks, {0})[0].weights, bytes * chunks[0].parameters);
  }
}

// mxfp8 has a scale of one byte per 32 elements of one byte, nvfp4 one per 16 elements of half a
// byte.
TEST(Memory, BlockScalesAreOfABlocksSize) {
  for (const auto& [precision, bytes] : {std::pair(Precision::mxfp8, 2 * (1 + 1.0 / 32)),
                                         std::pair(Precision::nvfp4, 2 * (0.5 + 1.0 / 16))}) {
    Job job = test_job(llama3_8b(), {}, {.global = 1, .micro = 1, .sequence = 1024}, precision);
    std::vector<ChunkCost> chunks(1);
    chunks[0].parameters = 1e9;
    job.software.scaled_copies = true;
    const double both = gpu_memory(job, chunks, {0})[0].weights;
    job.software.scaled_copies = false;
    EXPECT_DOUBLE_EQ(both - gpu_memory(job, chunks, {0})[0].weights, bytes * 1e9);
  }
}

TEST(Memory, Pure16BitHasNoFp32Copy) {
  Job job;
  job.precision = Precision::bf16;
  job.software.pure_16_bit = true;
  EXPECT_EQ(optimizer_bytes_per_parameter(job), 4);
  job.precision = Precision::fp32;
  EXPECT_EQ(optimizer_bytes_per_parameter(job), 8);
}

// If a step is one micro-batch, new gradients take the place of activations that are freed.
TEST(Memory, ReleasedGradientsReplaceActivations) {
  Job job = test_job(llama3_8b(), {}, {.global = 1, .micro = 1, .sequence = 8192});
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  const double gradients = 4 * chunks[0].parameters;
  const double transient = chunks[0].transient_bytes;
  job.software.gradients_released = true;
  const auto counted = [&](double activations) {
    const GpuMemory at = gpu_memory(job, chunks, {activations})[0];
    return at.gradients + at.activations + transient;
  };
  ASSERT_GT(gradients, 7e9 + transient);
  EXPECT_EQ(counted(7e9), gradients);                            // after the last layer
  EXPECT_EQ(counted(2 * gradients), 2 * gradients + transient);  // at the loss
  job.batch.global = 2;  // the second micro-batch adds to them
  EXPECT_EQ(counted(7e9), gradients + 7e9 + transient);
}

TEST(Memory, Zero1ShardsTheOptimizerOverReplicas) {
  const GpuMemory whole = state_of({.tp = 8, .cp = 2, .dp = 4}).memory[0];
  const GpuMemory shard =
      state_of({.tp = 8, .cp = 2, .dp = 4, .sharding = Sharding::zero1}).memory[0];
  EXPECT_EQ(shard.optimizer, whole.optimizer / 8);
  EXPECT_EQ(shard.weights, whole.weights);
  EXPECT_EQ(shard.gradients, whole.gradients);
}

// Rajbhandari et al. 2020 (arXiv 1910.02054), figure 1: 7.5 B parameters on 64 GPUs, 2 + 2 + 12 B
// each, take 120, 31.4, 16.6 and 1.9 GB.
TEST(Memory, ZeroStagesOfThePaper) {
  Job job = test_job(llama3_8b(), {.dp = 64}, {.global = 64, .micro = 1, .sequence = 8192});
  job.cluster = test_cluster(8);
  job.software.gradient_bytes = 2;
  const auto bytes = [&](Sharding sharding, int shard_ranks = 0) {
    job.layout.sharding = sharding;
    job.layout.shard_ranks = shard_ranks;
    std::vector<ChunkCost> chunks(1);
    chunks[0].parameters = 7.5e9;
    const GpuMemory at = gpu_memory(job, chunks, {0.0})[0];
    return at.weights + at.gradients + at.optimizer;
  };
  EXPECT_NEAR(bytes(Sharding::none), 120e9, 0.05e9);
  EXPECT_NEAR(bytes(Sharding::zero1), 31.4e9, 0.05e9);
  EXPECT_NEAR(bytes(Sharding::zero2), 16.6e9, 0.05e9);
  EXPECT_NEAR(bytes(Sharding::zero3), 1.9e9, 0.05e9);
  // Hybrid sharding keeps one copy of the state per 8 ranks.
  EXPECT_NEAR(bytes(Sharding::zero3, 8), 120e9 / 8, 1);
}

// 18 billion parameters are trained on 384 GPUs, 16 to a node: besides ZeRO-3's 16 B per parameter,
// divided by all GPUs, a node's GPUs share 2 B per parameter (Wang et al. 2023, arXiv 2306.10209,
// section 3.2). With three levels, weights are divided over two dies, gradients over a node, the
// rest over all (Xu et al. 2025, arXiv 2501.04266).
TEST(Memory, CopiesOfWeightsNearerThanAllRanks) {
  Job job = test_job(llama3_8b(), {.dp = 384}, {.global = 384, .micro = 1, .sequence = 8192});
  job.cluster = test_cluster(48);
  job.software.gradient_bytes = 2;
  std::vector<ChunkCost> chunks(1);
  chunks[0].parameters = 18e9;
  const auto memory = [&](const Layout& sharding) {
    job.layout = sharding;
    job.layout.dp = 384;
    return gpu_memory(job, chunks, {0.0})[0];
  };
  const GpuMemory all = memory({.sharding = Sharding::zero3});
  EXPECT_NEAR(all.weights + all.gradients + all.optimizer, 16 * 18e9 / 384, 1);
  const GpuMemory second = memory({.sharding = Sharding::zero3, .secondary_ranks = 16});
  EXPECT_NEAR(second.weights - all.weights, 2 * 18e9 / 16, 1);
  EXPECT_EQ(second.gradients, all.gradients);
  const GpuMemory levels =
      memory({.sharding = Sharding::zero3, .weight_ranks = 2, .gradient_ranks = 8});
  EXPECT_NEAR(levels.weights, 2 * 18e9 / 2, 1);
  EXPECT_NEAR(levels.gradients, 2 * 18e9 / 8, 1);
  EXPECT_EQ(levels.optimizer, all.optimizer);
  EXPECT_EQ(levels.buffers, all.buffers);
  // Quantised communication also buffers the quantised copies of gathered weights and gradients.
  const GpuMemory quantised =
      memory({.sharding = Sharding::zero3, .weight_bits = 8, .gradient_bits = 4});
  EXPECT_NEAR(quantised.buffers - all.buffers, (1 + 2 * 0.5) * gathered_parameters(job), 1);
}

// ZeRO-3 holds two layers and the vocabulary unsharded, in 16 bits, and their gradients in the type
// of the reduction.
TEST(Memory, Zero3HoldsWhatItGathers) {
  const Layout layout{.tp = 8, .dp = 4};
  Layout sharded = layout;
  sharded.sharding = Sharding::zero3;
  const State whole = state_of(layout);
  const State shard = state_of(sharded);
  // A layer has h (h + 2 h / 4) + h^2 + 3 h f elements over tp, and two norms; 128,256 rows are
  // padded to a multiple of 1,024.
  const double h = 4096;
  const double layer = (2.5 * h * h + 3 * h * 14336) / 8 + 2 * h;
  EXPECT_NEAR(shard.memory[0].buffers - whole.memory[0].buffers,
              (2 + 4) * (2 * layer + 129024 * h / 8), 1);
}

// The unsharded model that each GPU loaded stays in memory beside its shard and what a step needs.
TEST(Memory, ShardsOfAWholeModel) {
  Job job = test_job(llama3_8b(), {.dp = 8, .sharding = Sharding::zero3},
                     {.global = 8, .micro = 1, .sequence = 128});
  job.cluster = test_cluster(1);
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  for (const double activations : {0.0, 4 * chunks[0].parameters}) {
    job.software.whole_start = true;
    const double kept = gpu_memory(job, chunks, {activations}).front().allocated();
    job.software.whole_start = false;
    const double sharded = gpu_memory(job, chunks, {activations}).front().allocated();
    EXPECT_NEAR(kept - sharded, 2 * chunks[0].parameters, 1);
  }
}

// Experts' optimizer state shards over tp x cp x dp / ep ranks, the rest over dp x cp.
TEST(Memory, ExpertsShardOverTheirOwnReplicas) {
  Job job = test_job(llama3_8b(), {.tp = 2, .dp = 8, .ep = 4, .sharding = Sharding::zero1},
                     {.global = 8, .micro = 1, .sequence = 8192});
  std::vector<ChunkCost> chunks(1);
  chunks[0].parameters = 5e9;
  chunks[0].expert_parameters = 4e9;
  EXPECT_EQ(gpu_memory(job, chunks, {0.0})[0].optimizer, 12 * (1e9 / 8 + 4e9 / (2 * 8 / 4)));
}

TEST(Memory, ExpertsByHand) {
  TransformerSpec model = llama3_8b();
  model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 1024, .imbalance = 1.5};
  const Batch batch{.global = 1, .micro = 1, .sequence = 1000};
  Job job = test_job(model, {}, batch);
  const double dense = layer_activations(job).kept;
  const double moe = layer_activations(job, Block::moe_layer).kept;
  // The dense MLP keeps 3 f = 43,008 elements per token. Each of 2 * 1.5 routed rows keeps 3 * 1024
  // elements and its input of 4096; the router keeps two fp32 scores for each of 8 experts.
  EXPECT_NEAR(moe - dense, 1000 * (2 * (3 * (3 * 1024 + 4096) - 43008.0) + 2 * 4 * 8), 1e-3);
  // Software that applies router weights after the second product keeps that product's output too.
  job.software.kept_expert_outputs = true;
  EXPECT_NEAR(layer_activations(job, Block::moe_layer).kept - moe, 1000 * 2 * 3 * 4096, 1e-3);
}

TEST(Memory, LatentAttentionKeepsLatentsAndHeads) {
  TransformerSpec model = llama3_8b();
  const Batch batch{.global = 1, .micro = 1, .sequence = 1000};
  const double before = layer_activations(test_job(model, {}, batch)).kept;
  model.head_width = 128;
  model.latent = {.query_rank = 1536, .kv_rank = 512, .rotary_width = 64, .value_width = 128};
  const double after = layer_activations(test_job(model, {}, batch)).kept;
  // MLA keeps q and k of 32 * 192, v of 32 * 128, latents twice and the rotary part, instead of q
  // of 4096 and k and v of 1024.
  const double elements = 2 * 32 * 192 + 32 * 128 + 2 * (1536 + 512) + 64 - (4096 + 2 * 1024);
  EXPECT_NEAR(after - before, 2 * 1000 * elements, 1e-3);
}

// nanotron (https://github.com/huggingface/nanotron) holds 20 B per parameter without ZeRO and 10 +
// 14 / dp with it. The sweep of Rapid-LLM's authors (github.com/gkarfakis19/Rapid-LLM 317a2cb)
// logs, for 1.342 billion parameters after a step, 25.07 GiB without ZeRO, and 14.76 and 12.64 GiB
// with it on 8 and 256 GPUs.
TEST(Memory, NanotronsStateAsAllocated) {
  Job job = test_job(llama3_8b(), {.dp = 8}, {.global = 256, .micro = 1, .sequence = 4096});
  job.software.reduced_copy_bytes = 2;
  job.software.flat_copies = true;
  std::vector<ChunkCost> chunks(1);
  chunks[0].parameters = 1.3422e9;
  job.communication.bucket_bytes = 0;
  const auto gib = [&](Sharding sharding, int dp) {
    job.layout.sharding = sharding;
    job.layout.dp = dp;
    const GpuMemory at = gpu_memory(job, chunks, {0.0})[0];
    return at.allocated() / (1024.0 * 1024 * 1024);
  };
  EXPECT_NEAR(gib(Sharding::none, 8), 25.07, 0.1);
  EXPECT_NEAR(gib(Sharding::zero1, 8), 14.76, 0.1);
  EXPECT_NEAR(gib(Sharding::zero1, 256), 12.64, 0.1);
  EXPECT_EQ(gib(Sharding::zero1, 1), gib(Sharding::none, 1));  // one rank gathers nothing
}

// Megatron-Core's buckets of max(40 M, 1 M x data-parallel ranks) elements are parts of the
// gradient buffer. Buckets that software sizes in bytes lie beside the gradients.
TEST(Memory, BucketsCountedInElementsArePartsOfTheGradients) {
  Job job = test_job(llama3_8b(), {.dp = 8}, {.global = 256, .micro = 1, .sequence = 4096});
  job.layout.sharding = Sharding::none;
  job.software.reduce_bytes = 2;
  EXPECT_EQ(bucket_bytes(job), 25e6);
  std::vector<ChunkCost> chunks(1);
  chunks[0].parameters = 1e9;
  const double beside = gpu_memory(job, chunks, {0.0})[0].buffers;
  job.communication.bucket_elements = 40e6;
  job.communication.bucket_elements_per_replica = 1e6;
  EXPECT_EQ(bucket_bytes(job), 2 * 40e6);
  EXPECT_NEAR(beside - gpu_memory(job, chunks, {0.0})[0].buffers, 25e6, 1);
  job.software.bucket_copies = true;
  EXPECT_NEAR(gpu_memory(job, chunks, {0.0})[0].buffers - beside, 2 * 40e6 - 25e6, 1);
  job.layout.dp = 64;
  EXPECT_EQ(bucket_bytes(job), 2 * 64e6);
  job.layout.cp = 4;  // its ranks are not counted
  EXPECT_EQ(bucket_bytes(job), 2 * 64e6);
}

// Gradients of two units are unsharded until they are scattered. If gradients are kept in fewer
// bits than they are reduced in, only the unit being reduced has the reduction's type.
TEST(Memory, WholeGradientsAreLargerOnlyWhileTheyAreReduced) {
  Job job = test_job(llama3_8b(), {.dp = 8}, {.global = 64, .micro = 1, .sequence = 4096});
  for (const Sharding sharding : {Sharding::zero2, Sharding::zero3}) {
    job.layout.sharding = sharding;
    const auto buffers = [&](double kept, double reduced) {
      job.software.gradient_bytes = kept;
      job.software.reduce_bytes = reduced;
      return gpu_memory(job, chunk_costs(job), {0.0})[0].buffers;
    };
    const double both_bf16 = buffers(2, 2);
    EXPECT_NEAR(buffers(2, 4) - both_bf16, gathered_parameters(job), 1);
    EXPECT_NEAR(buffers(4, 4) - both_bf16, 2 * gathered_parameters(job), 1);
    EXPECT_NEAR(buffers(4, 2), both_bf16, 1);
    job.software.gradient_bytes = 0;  // gradients are applied at once, and not kept
    EXPECT_EQ(whole_gradient_bytes_per_parameter(job), 2);
  }
}

// DeepSpeed keeps flat fp32 gradients and a copy made while flattening, sharded like the optimizer
// state.
TEST(Memory, FlatGradientsAndHeldOutputs) {
  const Layout layout{.pp = 4, .dp = 4, .sharding = Sharding::zero1};
  Job job = test_job(llama3_8b(), layout, {.global = 64, .micro = 1, .sequence = 8192});
  job.cluster = test_cluster(8);
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  const std::vector<double> three(4, 3 * chunks[0].activation_bytes);
  const std::vector<GpuMemory> before = gpu_memory(job, chunks, three);
  job.software.update_bytes = 8;
  job.software.held_outputs = true;
  const std::vector<GpuMemory> after = gpu_memory(job, chunks, three);
  EXPECT_NEAR(after[0].buffers - before[0].buffers, 8 * chunks[0].parameters / 4, 1);
  // Three micro-batches in flight keep their outputs; the last rank sends none.
  EXPECT_NEAR(after[0].activations - before[0].activations, 3 * 2.0 * 8192 * 4096, 1);
  EXPECT_EQ(after[3].activations, before[3].activations);
}

// In a V schedule the first rank holds the model's last stage, which sends nothing.
TEST(Memory, HeldOutputsGoWithTheStages) {
  Job job = test_job(llama3_8b(), {.pp = 2, .vpp = 2}, {.global = 2, .micro = 1, .sequence = 8192});
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  const HeldStages vee = {{0, 3}, {1, 2}};
  const auto kept = [&](int a, int b) {
    return chunks[a].activation_bytes + chunks[b].activation_bytes;
  };
  const std::vector<double> two = {2 * kept(0, 3), 2 * kept(1, 2)};
  job.software.held_outputs = true;
  const std::vector<GpuMemory> memory = gpu_memory(job, chunks, two, vee);
  const double output = 2.0 * 8192 * 4096;
  EXPECT_NEAR(memory[0].activations - two[0], 2 * output, 1);
  EXPECT_NEAR(memory[1].activations - two[1], 4 * output, 1);
}

// An asynchronous schedule keeps old versions of the weights, but not of gradients and optimizer
// state.
TEST(Memory, VersionsOfTheWeights) {
  const Job job = test_job(llama3_8b(), {.pp = 2}, {.global = 2, .micro = 1, .sequence = 8192});
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  const std::vector<GpuMemory> once = gpu_memory(job, chunks, {0, 0});
  const std::vector<GpuMemory> versions = gpu_memory(job, chunks, {0, 0}, {}, {2, 1});
  EXPECT_NEAR(versions[0].weights - once[0].weights, 2 * chunks[0].parameters, 1);
  EXPECT_EQ(versions[0].gradients, once[0].gradients);
  EXPECT_EQ(versions[0].optimizer, once[0].optimizer);
  EXPECT_EQ(versions[1].total(), once[1].total());
}

TEST(Memory, ExpandableSegmentsDoNotFragment) {
  Job job = test_job(llama3_8b(), {}, {.global = 1, .micro = 1, .sequence = 8192});
  const std::vector<ChunkCost> chunks = chunk_costs(job);
  EXPECT_GT(gpu_memory(job, chunks, {1e9})[0].fragmentation, 0);
  job.software.expandable_segments = true;
  EXPECT_EQ(gpu_memory(job, chunks, {1e9})[0].fragmentation, 0);
}

// Kept are queries, values, attention's output and log-sum-exp, the gate, the layer's input and the
// down projection's output: (1 + 1/4 + 1 + 3.5 + 1 + 1) h elements.
TEST(Memory, EveryOtherProductIsKept) {
  Job job = test_job(llama3_8b(), {}, {.global = 1, .micro = 1, .sequence = 1000}, Precision::bf16,
                     Recompute::selective);
  job.recompute = Recompute::of(RecomputeModule::matmuls);
  EXPECT_NEAR(layer_activations(job).kept, 1000 * (2 * 4096 * 7.75 + 4 * 32), 1e-3);
}

TEST(Memory, MoreOfAnythingNeverTakesLess) {
  RandomStream random(1, RandomPurpose::test, 0);
  for (int i = 0; i < 200; ++i) {
    const auto power = [&](int most) {
      return 1 << static_cast<int>(random.uniform() * (most + 1));
    };
    const Layout layout{
        .tp = power(3), .cp = power(1), .sequence_parallel = random.uniform() < 0.5};
    const Batch batch{.global = 64, .micro = power(3), .sequence = 4096};
    const auto kept = [&](const Layout& l, const Batch& b, Recompute r) {
      return layer_activations(test_job(llama3_8b(), l, b, Precision::bf16, r)).kept;
    };
    const double here = kept(layout, batch, Recompute::none);
    Batch larger = batch;
    larger.micro *= 2;
    EXPECT_NEAR(kept(layout, larger, Recompute::none), 2 * here, 1e-6 * here);
    Layout wider = layout;
    wider.tp *= 2;
    EXPECT_LT(kept(wider, batch, Recompute::none), here);
    EXPECT_GE(kept(wider, batch, Recompute::none), here / 2 * (1 - 1e-12));
    EXPECT_LT(kept(layout, batch, Recompute::selective), here);
    EXPECT_LT(kept(layout, batch, Recompute::full), kept(layout, batch, Recompute::selective));
  }
}

// PyTorch's out-of-memory messages state these capacities.
TEST(Memory, UsableIsWhatCudaShows) {
  GpuSpec gpu;
  gpu.memory_bytes = parameter(80e9);
  EXPECT_NEAR(usable_bytes(gpu) / (1024.0 * 1024 * 1024), 79.11, 0.002 * 79.11);
  gpu.memory_bytes = parameter(32e9);
  EXPECT_NEAR(usable_bytes(gpu) / (1024.0 * 1024 * 1024), 31.75, 0.003 * 31.75);
}

TEST(Memory, PipelineRanksAddTheirChunks) {
  const State state = state_of({.tp = 2, .pp = 4, .vpp = 2});
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(state.memory[rank].weights,
              2 * (state.chunks[rank].parameters + state.chunks[rank + 4].parameters));
  }
}

// Buffers hold two boundary activations and two gradients, each 1/tp of 2 B s h, and a bucket of 25
// MB.
TEST(Memory, BuffersByHand) {
  const double boundary = 2.0 * 8192 * 4096 / 2;
  const State both = state_of({.tp = 2, .pp = 4, .dp = 2, .sequence_parallel = true});
  const State pipeline = state_of({.tp = 2, .pp = 4, .sequence_parallel = true});
  const State replicas = state_of({.tp = 2, .dp = 2, .sequence_parallel = true});
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const double transient = both.chunks[rank].transient_bytes;
    EXPECT_EQ(both.memory[rank].buffers, transient + 4 * boundary + 25e6 + kWorkspace);
    EXPECT_EQ(pipeline.memory[rank].buffers, transient + 4 * boundary + kWorkspace);
  }
  EXPECT_EQ(replicas.memory[0].buffers, replicas.chunks[0].transient_bytes + 25e6 + kWorkspace);
  // Per layer: two gathered inputs of 2 B s h, gate and up (2 f), and their product (f), over tp.
  EXPECT_EQ(both.chunks[1].transient_bytes, 2.0 * 8192 * (2 * 4096 + 3 * 14336 / 2));
}

// A snapshot holds 14 B per parameter, each written by exactly one GPU.
TEST(Memory, SnapshotsWriteEveryParameterOnce) {
  const Layout layout{.tp = 2, .cp = 2, .pp = 4, .dp = 4, .sharding = Sharding::zero1};
  const State state = state_of(layout);
  double written = 0, parameters = 0;
  for (const double bytes :
       snapshot_bytes_per_gpu(test_job(llama3_8b(), layout, {}), state.chunks)) {
    written += bytes * 2 * 2 * 4;
  }
  for (const ChunkCost& chunk : state.chunks) parameters += 2 * chunk.parameters;
  EXPECT_NEAR(written / (14 * parameters), 1, 1e-12);
}

TEST(Memory, ExcessNamesRankAndClass) {
  std::vector<GpuMemory> memory(3);
  memory[1] = {10e9, 20e9, 30e9, 40e9, 1e9, 0, 4e9};
  Job job = test_job(llama3_8b(), {}, {});
  job.batch.micro = 2;
  EXPECT_EQ(
      gpu_memory_excess(memory, job),
      "pipeline rank 1 needs 97.8 GiB, 18.6 GiB more than the usable 79.2 GiB of gpu 'test-gpu'; "
      "the largest part is activations with 37.3 GiB");
  memory[1].activations = 1e9;
  EXPECT_EQ(gpu_memory_excess(memory, job), "");
}

// With either stage the gradients of two layers and the vocabulary are unsharded before they are
// scattered. ZeRO-3 saves weights, and can exceed ZeRO-2 only by the shards that lie beside
// gathered weights.
TEST(Memory, ShardingMoreNeverTakesMoreThanTheShards) {
  for (const int pp : {1, 2, 4, 8, 16}) {
    const auto at = [&](Sharding sharding) {
      return state_of({.pp = pp, .dp = 64 / pp, .sharding = sharding}).memory;
    };
    const std::vector<GpuMemory> two = at(Sharding::zero2), three = at(Sharding::zero3);
    for (int rank = 0; rank < pp; ++rank) {
      EXPECT_LE(three[rank].allocated(), two[rank].allocated() + three[rank].weights)
          << "pp " << pp << ", rank " << rank;
    }
  }
}

}  // namespace
}  // namespace windtunnel
