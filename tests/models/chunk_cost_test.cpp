#include "models/chunk_cost.hpp"

#include <gtest/gtest.h>

#include "models/collective.hpp"
#include "models/memory.hpp"
#include "models/op_cost.hpp"
#include "tests/models/cost_fixtures.hpp"

namespace windtunnel::testing {
namespace {

const Batch kBatch{.global = 16, .micro = 1, .sequence = 8192};

std::vector<ChunkCost> costs(const TransformerSpec& model, const Layout& layout,
                             Recompute recompute = Recompute::none,
                             const Cluster& cluster = test_cluster(2)) {
  Job job = test_job(model, layout, kBatch, Precision::bf16, recompute);
  job.cluster = cluster;
  return chunk_costs(job);
}

double seconds(const std::vector<CostPart>& parts, Category category) {
  double sum = 0;
  for (const CostPart& part : parts) sum += part.category == category ? part.seconds : 0;
  return sum;
}

double tp_collective_s(CollectiveKind kind, double bytes, const Cluster& cluster = test_cluster(2),
                       int tp = 8) {
  std::vector<std::int32_t> gpus;
  for (int i = 0; i < tp; ++i) gpus.push_back(i);
  return collective_cost(kind, CollectiveAlgorithm::automatic, group_shape(gpus, cluster), bytes,
                         cluster, test_calibration())
      .seconds;
}

// Four stages of one layer, so that the middle ones hold nothing else.
TransformerSpec four_layers() {
  TransformerSpec model = llama3_8b();
  model.layers = 4;
  return model;
}
const Layout kPipeline{.tp = 8, .pp = 4, .sequence_parallel = true};

TEST(ChunkCost, ForwardIsTheSumOfItsOps) {
  const auto chunks = costs(four_layers(), kPipeline);
  double expected = 0;
  for (const Op& op :
       block_ops(test_job(four_layers(), kPipeline, kBatch), Block::layer, Pass::forward)) {
    expected += op_cost(op, test_cluster().node.gpu, Precision::bf16, test_calibration()).seconds;
  }
  EXPECT_NEAR(seconds(chunks[1].forward, Category::forward), expected, 1e-12);
  EXPECT_GT(seconds(chunks[0].forward, Category::forward), expected);  // embedding
  EXPECT_GT(seconds(chunks[3].forward, Category::forward), expected);  // loss head
}

TEST(ChunkCost, SequenceParallelForwardGathersTwiceAndScattersTwice) {
  const double bytes = 2.0 * 8192 * 4096;
  const auto chunks = costs(four_layers(), kPipeline);
  EXPECT_NEAR(seconds(chunks[1].forward, Category::tp),
              2 * tp_collective_s(CollectiveKind::all_gather, bytes) +
                  2 * tp_collective_s(CollectiveKind::reduce_scatter, bytes),
              1e-12);
}

TEST(ChunkCost, WithoutSequenceParallelismForwardReducesTwice) {
  const double bytes = 2.0 * 8192 * 4096;
  const auto chunks = costs(four_layers(), {.tp = 8, .pp = 4});
  EXPECT_NEAR(seconds(chunks[1].forward, Category::tp),
              2 * tp_collective_s(CollectiveKind::all_reduce, bytes), 1e-12);
}

// Backward: two gathers are exposed; the other gathers and the reductions hide behind GEMMs when
// these are longer, and stick out by the difference when NVLink is slow.
TEST(ChunkCost, BackwardHidesWhatTheGemmsCover) {
  const double bytes = 2.0 * 8192 * 4096;
  const TransformerSpec model = four_layers();
  Cluster fast = test_cluster(2);
  fast.node.nvlink_Bps = parameter(1e15);
  EXPECT_NEAR(
      seconds(costs(model, kPipeline, Recompute::none, fast)[1].backward_input, Category::tp),
      2 * tp_collective_s(CollectiveKind::all_gather, bytes, fast), 1e-12);

  Cluster slow = test_cluster(2);
  slow.node.nvlink_Bps = parameter(1e9);
  double covered = 0;
  for (const Pass pass : {Pass::backward_input, Pass::backward_weight}) {
    const auto ops = block_ops(test_job(model, kPipeline, kBatch), Block::layer, pass);
    for (const char* name : {"qkv", "up"}) {
      covered +=
          op_cost(op_named(ops, name), slow.node.gpu, Precision::bf16, test_calibration()).seconds;
    }
  }
  EXPECT_NEAR(
      seconds(costs(model, kPipeline, Recompute::none, slow)[1].backward_input, Category::tp),
      4 * tp_collective_s(CollectiveKind::all_gather, bytes, slow) +
          2 * tp_collective_s(CollectiveKind::reduce_scatter, bytes, slow) - covered,
      1e-12);
}

TEST(ChunkCost, OneGpuPerReplicaCommunicatesNothing) {
  for (const ChunkCost& chunk : costs(four_layers(), {})) {
    for (const auto* parts : {&chunk.forward, &chunk.backward_input, &chunk.backward_weight}) {
      EXPECT_EQ(seconds(*parts, Category::tp) + seconds(*parts, Category::cp), 0);
    }
  }
}

TEST(ChunkCost, RingAttentionIsExposedOnlyBeyondTheAttention) {
  const Layout layout{.tp = 4, .cp = 4, .pp = 4, .sequence_parallel = true};
  const TransformerSpec model = four_layers();
  Cluster fast = test_cluster(8);
  fast.node.nvlink_Bps = fast.node.nic_Bps = parameter(1e15);
  EXPECT_EQ(seconds(costs(model, layout, Recompute::none, fast)[1].forward, Category::cp), 0);
  Cluster slow = test_cluster(8);
  slow.node.nic_Bps = parameter(1e9);
  const auto chunk = costs(model, layout, Recompute::none, slow)[1];
  EXPECT_GT(seconds(chunk.forward, Category::cp), 0);
  EXPECT_GT(seconds(chunk.backward_input, Category::cp), seconds(chunk.forward, Category::cp));
}

// The ring passes K and V of every token (backward: and their gradients), 2 B each, of the local
// heads. Its groups are the tp neighbours {t, t + 4, t + 8, t + 12}: two members on each of two
// nodes, every member behind its own NIC.
TEST(ChunkCost, RingAttentionExposesWhatTheGatherTakesBeyondTheAttention) {
  const Layout layout{.tp = 4, .cp = 4, .pp = 4, .sequence_parallel = true};
  const TransformerSpec model = four_layers();
  Cluster slow = test_cluster(8);
  slow.node.nic_Bps = parameter(1e9);
  const auto chunk = costs(model, layout, Recompute::none, slow)[1];
  const std::vector<std::int32_t> group = {0, 4, 8, 12};
  const double kv_bytes = 2.0 * 8192 * 2 * 8 * 128 / 4;  // 8 heads of K and of V, 128 wide
  const auto exposed_s = [&](Pass pass, double bytes) {
    const auto ops = block_ops(test_job(model, layout, kBatch), Block::layer, pass);
    return collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::automatic,
                           group_shape(group, slow), bytes, slow, test_calibration())
               .seconds -
           op_cost(op_named(ops, "attention"), slow.node.gpu, Precision::bf16, test_calibration())
               .seconds;
  };
  EXPECT_GT(exposed_s(Pass::forward, kv_bytes), 0);
  EXPECT_NEAR(seconds(chunk.forward, Category::cp), exposed_s(Pass::forward, kv_bytes), 1e-12);
  EXPECT_NEAR(seconds(chunk.backward_input, Category::cp),
              exposed_s(Pass::backward_input, 2 * kv_bytes), 1e-12);
}

// A stage waits for the slowest of its groups, wherever the damage is.
TEST(ChunkCost, RingAttentionRunsAtThePaceOfTheWorstGroup) {
  const Layout layout{.tp = 4, .cp = 4, .pp = 4, .sequence_parallel = true};
  Cluster cluster = test_cluster(8);
  cluster.node.nic_Bps = parameter(1e9);
  const auto exposed_s = [&] {
    return seconds(costs(four_layers(), layout, Recompute::none, cluster)[1].forward, Category::cp);
  };
  const double healthy_s = exposed_s();
  cluster.degraded_nics = {{.node = 7, .nic = 6, .factor = 0.5}};
  const double degraded_s = exposed_s();
  cluster.degraded_nics = {{.node = 0, .nic = 0, .factor = 0.5}};
  EXPECT_GT(degraded_s, healthy_s);
  EXPECT_EQ(degraded_s, exposed_s());
}

TEST(ChunkCost, FullRecomputationRepeatsTheForwardWithItsCollectives) {
  const auto chunk = costs(four_layers(), kPipeline, Recompute::full)[1];
  EXPECT_NEAR(seconds(chunk.recompute, Category::recompute),
              seconds(chunk.forward, Category::forward), 1e-12);
  EXPECT_NEAR(seconds(chunk.recompute, Category::tp), seconds(chunk.forward, Category::tp), 1e-12);
  EXPECT_TRUE(costs(four_layers(), kPipeline)[1].recompute.empty());
  const auto selective = costs(four_layers(), kPipeline, Recompute::selective)[1];
  EXPECT_GT(seconds(selective.recompute, Category::recompute), 0);
  EXPECT_LT(seconds(selective.recompute, Category::recompute),
            0.2 * seconds(chunk.recompute, Category::recompute));
  EXPECT_EQ(seconds(selective.recompute, Category::tp), 0);
}

// Stages only cut the model: compute and parameters of all stages add up to the undivided model.
TEST(ChunkCost, StagesAddUpToTheWholeModel) {
  const auto whole = costs(llama3_8b(), {.tp = 8, .sequence_parallel = true});
  const auto stages = costs(llama3_8b(), {.tp = 8, .pp = 2, .vpp = 4, .sequence_parallel = true});
  ASSERT_EQ(whole.size(), 1u);
  double forward = 0, parameters = 0, flops = 0, activations = 0;
  for (const ChunkCost& chunk : stages) {
    forward += total_seconds(chunk.forward);
    parameters += chunk.parameters;
    flops += chunk.hardware_flops;
    activations += chunk.activation_bytes;
  }
  EXPECT_NEAR(forward / total_seconds(whole[0].forward), 1, 1e-12);
  EXPECT_NEAR(parameters / whole[0].parameters, 1, 1e-12);
  EXPECT_NEAR(flops / whole[0].hardware_flops, 1, 1e-12);
  EXPECT_NEAR(activations / whole[0].activation_bytes, 1, 1e-12);
}

TEST(ChunkCost, StagesWithoutLayersHoldEmbeddingAndHeadAlone) {
  Layout layout{.tp = 8, .pp = 16, .vpp = 8, .sequence_parallel = true};
  layout.first_stage_layers = layout.last_stage_layers = -1;
  const auto chunks = costs(llama3_405b(), layout, Recompute::none, test_cluster(16));
  ASSERT_EQ(chunks.size(), 128u);
  // The vocabulary of 128,256 is padded to a multiple of 1,024.
  EXPECT_EQ(chunks[0].parameters, 129024.0 * 16384 / 8);
  EXPECT_EQ(chunks[127].parameters, 129024.0 * 16384 / 8 + 16384);
  EXPECT_EQ(chunks[0].activation_bytes, 0);
  EXPECT_GT(chunks[127].activation_bytes, 0);  // softmax of the loss
  EXPECT_LT(total_seconds(chunks[0].forward), total_seconds(chunks[1].forward));
}

TEST(ChunkCost, HardwareFlopsAreAtLeastModelFlops) {
  const double model = model_flops(llama3_8b(), 1, 8192);
  const double none = costs(llama3_8b(), {})[0].hardware_flops;
  const double full = costs(llama3_8b(), {}, Recompute::full)[0].hardware_flops;
  EXPECT_GT(none, model);  // the fused backward computes the scores again
  EXPECT_LT(none, 1.1 * model);
  EXPECT_GT(full, 1.3 * none);
  EXPECT_LT(full, none * 4 / 3);  // the loss head is not repeated
}

TEST(ChunkCost, OptimizerMovesItsBytes) {
  const auto parts = optimizer_cost(1e9, test_cluster().node.gpu, test_calibration());
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].category, Category::optimizer);
  EXPECT_NEAR(parts[0].seconds, 2e-6 + (38e9 + 4e6) / (3e12 * 0.9) / 0.75, 1e-12);
}

}  // namespace
}  // namespace windtunnel::testing
