#include "models/memory.hpp"

#include <gtest/gtest.h>

#include "tests/models/cost_fixtures.hpp"

namespace windtunnel::testing {
namespace {

// Korthikanti et al. 2022 (arXiv 2205.05198), section 4, on GPT-3's layer.
class Korthikanti : public ::testing::Test {
 protected:
  Korthikanti() {
    gpt_.dropout = true;
    gpt_.attention = AttentionKernel::unfused;
  }
  double kept(const Layout& layout, Recompute recompute = Recompute::none) const {
    return layer_activations(test_job(gpt_, layout, batch_, Precision::bf16, recompute)).kept;
  }
  TransformerSpec gpt_ = gpt3_175b();
  Batch batch_{.global = 1, .micro = 1, .sequence = 2048};
  const double sbh_ = 2048.0 * 12288;
  const double scores_ = 5.0 * 96 * 2048 / 12288;  // 5 a s / h
};

TEST_F(Korthikanti, Equation1) {
  EXPECT_EQ(kept({}), sbh_ * (34 + scores_));
}
TEST_F(Korthikanti, Equation2WithTensorParallelism) {
  EXPECT_EQ(kept({.tp = 8}), sbh_ * (10 + 24.0 / 8 + scores_ / 8));
}
TEST_F(Korthikanti, Equation4WithSequenceParallelism) {
  EXPECT_EQ(kept({.tp = 8, .sequence_parallel = true}), sbh_ * (34 + scores_) / 8);
}
TEST_F(Korthikanti, FullRecomputationKeepsTheInput) {
  EXPECT_EQ(kept({.tp = 8}, Recompute::full), sbh_ * 2);
}
TEST_F(Korthikanti, FusedAttentionKeepsOneNumberPerRowAndHead) {
  gpt_.attention = AttentionKernel::flash;
  EXPECT_EQ(kept({}), sbh_ * 34 + 4.0 * 96 * 2048);
}
// Both norm outputs (4), the product (8) and the scores go.
TEST_F(Korthikanti, SelectiveRecomputationDropsWhatIsCheapToRepeat) {
  EXPECT_EQ(kept({}, Recompute::selective), sbh_ * (34 - 12));
}
// Qi et al. (arXiv 2401.10241), table 1: M_W = 32 s b h.
TEST_F(Korthikanti, WeightGradientsNeedInputsAndOutputGradients) {
  EXPECT_EQ(layer_activations(test_job(gpt_, {}, batch_)).for_weights, 32 * sbh_);
}

TEST(Memory, LlamaLayerByHand) {
  const Batch batch{.global = 1, .micro = 1, .sequence = 8192};
  const Layout layout{.tp = 8, .cp = 2, .sequence_parallel = true};
  // Per token, elements: inputs and outputs of two norms 4 h, q k v (1 + 2/16) h, context h, gate
  // and up 2 f, product f.
  const double elements = 4.0 * 16384 + 1.125 * 16384 + 16384 + 3.0 * 53248;
  EXPECT_EQ(layer_activations(test_job(llama3_405b(), layout, batch)).kept,
            4096.0 / 8 * (2 * elements + 4 * 128));
}

TEST(Memory, StageParametersCoverTheModel) {
  const auto one = stage_parameters(llama3_8b(), {});
  // Padded by 128 - 128256 % 128 = 0.
  EXPECT_EQ(one[0], llama3_8b().parameters());
  TransformerSpec gpt = gpt3_175b();
  EXPECT_EQ(stage_parameters(gpt, {})[0], gpt.parameters());
  // Tied embeddings stand on the first and on the last rank.
  const auto stages = stage_parameters(gpt, {.pp = 4});
  EXPECT_EQ(stages[0] + stages[1] + stages[2] + stages[3], gpt.parameters() + 51200.0 * 12288);
}

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

TEST(Memory, MixedPrecisionTakesEighteenBytesPerParameter) {
  const State state = state_of({.tp = 8});
  const GpuMemory& at = state.memory[0];
  const double parameters = state.chunks[0].parameters;
  EXPECT_EQ(at.weights, 2 * parameters);
  EXPECT_EQ(at.gradients, 4 * parameters);
  EXPECT_EQ(at.optimizer, 12 * parameters);
  EXPECT_EQ(at.activations, 7e9);
  EXPECT_EQ(at.buffers, state.chunks[0].transient_bytes);  // no pipeline, no replicas
  const double counted = at.weights + at.gradients + at.optimizer + at.activations + at.buffers;
  EXPECT_NEAR(at.framework, 3e9 + 0.05 * counted, 1);
  EXPECT_EQ(state_of({.tp = 8}, Precision::fp32).memory[0].optimizer, 8 * parameters);
}

TEST(Memory, Zero1ShardsTheOptimizerOverReplicas) {
  const GpuMemory whole = state_of({.tp = 8, .cp = 2, .dp = 4}).memory[0];
  const GpuMemory shard =
      state_of({.tp = 8, .cp = 2, .dp = 4, .sharding = Sharding::zero1}).memory[0];
  EXPECT_EQ(shard.optimizer, whole.optimizer / 8);
  EXPECT_EQ(shard.weights, whole.weights);
  EXPECT_EQ(shard.gradients, whole.gradients);
}

TEST(Memory, PipelineRanksAddTheirChunks) {
  const State state = state_of({.tp = 2, .pp = 4, .vpp = 2});
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(state.memory[rank].weights,
              2 * (state.chunks[rank].parameters + state.chunks[rank + 4].parameters));
  }
}

// Two boundary activations and two gradients, each 1/tp of 2 B s h, and a bucket of 25 MB.
TEST(Memory, BuffersByHand) {
  const double boundary = 2.0 * 8192 * 4096 / 2;
  const State both = state_of({.tp = 2, .pp = 4, .dp = 2, .sequence_parallel = true});
  const State pipeline = state_of({.tp = 2, .pp = 4, .sequence_parallel = true});
  const State replicas = state_of({.tp = 2, .dp = 2, .sequence_parallel = true});
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const double transient = both.chunks[rank].transient_bytes;
    EXPECT_EQ(both.memory[rank].buffers, transient + 4 * boundary + 25e6);
    EXPECT_EQ(pipeline.memory[rank].buffers, transient + 4 * boundary);
  }
  EXPECT_EQ(replicas.memory[0].buffers, replicas.chunks[0].transient_bytes + 25e6);
  // Per layer: two gathered inputs of 2 B s h, gate and up (2 f), and their product (f), over tp.
  EXPECT_EQ(both.chunks[1].transient_bytes, 2.0 * 8192 * (2 * 4096 + 3 * 14336 / 2));
}

// All GPUs together write the state once: 14 B per parameter.
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

TEST(Memory, ExcessNamesRankClassAndRemedy) {
  std::vector<GpuMemory> memory(3);
  memory[1] = {10e9, 20e9, 30e9, 40e9, 1e9, 4e9};
  EXPECT_EQ(gpu_memory_excess(memory, test_cluster().node.gpu),
            "pipeline rank 1 needs 105 GB, 25.0 GB more than the 80.0 GB of gpu 'test-gpu'; the "
            "largest part is activations with 40.0 GB; set recompute: selective or full, or lower "
            "batch.micro, or raise tp or cp");
  memory[1].activations = 1e9;
  EXPECT_EQ(gpu_memory_excess(memory, test_cluster().node.gpu), "");
}

TEST(Memory, HostExcessNamesTheNode) {
  NodeSpec node;
  node.name = "small";
  node.host_memory_bytes = parameter(1e12);
  EXPECT_EQ(host_memory_excess(0.9e12, node), "");
  EXPECT_EQ(host_memory_excess(1.5e12, node),
            "snapshots in host memory need 1.50 TB per node, 500 GB more than the 1.00 TB of node "
            "'small'; shard them over more nodes or keep fewer copies");
}

}  // namespace
}  // namespace windtunnel::testing
