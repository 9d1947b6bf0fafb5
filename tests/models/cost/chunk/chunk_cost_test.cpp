#include "models/cost/chunk/chunk_cost.hpp"

#include <gtest/gtest.h>

#include "models/cost/memory/memory.hpp"
#include "models/cost/op/op_cost.hpp"
#include "models/network/collectives/collective.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
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

// Four stages have one layer each, so that the middle ones hold nothing else.
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

// In the backward pass two gathers are exposed. The other gathers and the reductions hide behind
// GEMMs, except for the part that takes longer where NVLink is slow.
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

// The ring passes on K and V of a rank's tokens and local heads (backward: and their gradients)
// three times, 2 B per element, beside three quarters of the attention. Its groups are the tp
// neighbours {t, t + 4, t + 8, t + 12}, two on each of two nodes: all messages leave the node
// through one NIC, with a network latency in one of the three steps.
TEST(ChunkCost, RingAttentionExposesWhatAStepTakesBeyondItsAttention) {
  const Layout layout{.tp = 4, .cp = 4, .pp = 4, .sequence_parallel = true};
  const TransformerSpec model = four_layers();
  Cluster slow = test_cluster(8);
  slow.node.nic_Bps = parameter(1e9);
  const auto chunk = costs(model, layout, Recompute::none, slow)[1];
  const double kv_bytes = 2.0 * 2048 * 2 * 8 * 128 / 4;  // 8 heads of K and of V, 128 wide
  const auto exposed_s = [&](Pass pass, double bytes) {
    const auto ops = block_ops(test_job(model, layout, kBatch), Block::layer, pass);
    const OpCost attention =
        op_cost(op_named(ops, "attention"), slow.node.gpu, Precision::bf16, test_calibration());
    return 10e-6 + 2 * 2e-6 + 5e-6 + 3 * bytes / 0.9e9 - 0.75 * attention.seconds;
  };
  EXPECT_NEAR(seconds(chunk.forward, Category::cp), exposed_s(Pass::forward, kv_bytes), 1e-12);
  EXPECT_NEAR(seconds(chunk.backward_input, Category::cp),
              exposed_s(Pass::backward_input, 2 * kv_bytes), 1e-12);
}

// A stage waits for the slowest of its groups, whichever node has the degraded NIC.
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

// Recomputing `attention` repeats the all-reduce behind attention's projection, which the MLP's
// norm reads, but not the gather before queries, keys and values.
TEST(ChunkCost, RecomputedAttentionRepeatsItsSumOverTp) {
  using enum RecomputeModule;
  const Recompute alone = Recompute::of(attention);
  const Recompute both = Recompute::of(attention, mlp);
  for (const bool sequence_parallel : {false, true}) {
    Layout layout = kPipeline;
    layout.sequence_parallel = sequence_parallel;
    const auto share = [&](Recompute recompute) {
      const ChunkCost chunk = costs(four_layers(), layout, recompute)[1];
      return seconds(chunk.recompute, Category::tp) / seconds(chunk.forward, Category::tp);
    };
    EXPECT_NEAR(share(alone), sequence_parallel ? 0.25 : 0.5, 1e-12);
    EXPECT_NEAR(share(both), sequence_parallel ? 0.75 : 1, 1e-12);
    const auto kinds = [&](Recompute recompute) {
      std::vector<CollectiveKind> all;
      const Job job = test_job(four_layers(), layout, kBatch, Precision::bf16, recompute);
      const std::vector<ChunkRounds> chunks = chunk_rounds(job);
      for (const InnerRound& round : chunks[1].front().rounds.recompute) {
        all.push_back(round.collectives.front().kind);
      }
      return all;
    };
    using enum CollectiveKind;
    if (sequence_parallel) {
      EXPECT_EQ(kinds(alone), std::vector{reduce_scatter});
      EXPECT_EQ(kinds(both), (std::vector{reduce_scatter, reduce_scatter, all_gather}));
    } else {
      EXPECT_EQ(kinds(alone), std::vector{all_reduce});
      EXPECT_EQ(kinds(both), (std::vector{all_reduce, all_reduce}));
    }
  }
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
  EXPECT_GT(none, model);  // fused backward recomputes the scores
  EXPECT_LT(none, 1.1 * model);
  EXPECT_GT(full, 1.3 * none);
  EXPECT_LT(full, none * 4 / 3);  // the loss head is not repeated
}

// Model FLOPs count attention without its mask by convention; a fused kernel computes half of that.
TEST(ChunkCost, MaskedFlopsAreHalfOfFusedAttention) {
  const ChunkCost chunk = costs(llama3_8b(), {})[0];
  const double forward = 4.0 * 32 * 8192 * 8192 * 4096 / 2;
  EXPECT_NEAR(chunk.masked_flops / (3.5 * forward), 1, 1e-9);  // backward 2.5 times forward
  TransformerSpec unfused = llama3_8b();
  unfused.attention = AttentionKernel::unfused;
  EXPECT_EQ(costs(unfused, {})[0].masked_flops, 0);
}

// With TiledMLP nothing of the MLP is kept, one tile exists at a time, and the backward pass
// repeats its products.
TEST(ChunkCost, TilesOfAnMlpTakeItsMemoryAndRunItAgain) {
  const auto of = [](int tiles) {
    Job job = test_job(four_layers(), {.pp = 4}, kBatch, Precision::bf16, Recompute::none);
    job.cluster = test_cluster(2);
    job.software.mlp_tiles = tiles;
    return chunk_costs(job)[1];
  };
  const ChunkCost whole = of(1), four = of(4), many = of(32);
  const double up = 2.0 * 8192 * 14336 * 2;  // gate and up of a layer in bf16; the product is half
  EXPECT_NEAR((whole.activation_bytes - four.activation_bytes) / (1.5 * up), 1, 0.01);
  EXPECT_GT(whole.transient_bytes - four.transient_bytes, 0.7 * 1.5 * up);
  EXPECT_LT(many.transient_bytes, four.transient_bytes);
  const double mlp = 2.0 * 3 * 4096 * 14336 * 8192;  // of a forward pass
  EXPECT_NEAR((four.hardware_flops - whole.hardware_flops) / mlp, 1, 1e-9);
  EXPECT_GT(total_seconds(four.backward_input), total_seconds(whole.backward_input));
  EXPECT_LT(total_seconds(four.forward), 1.05 * total_seconds(whole.forward));
  EXPECT_GE(total_seconds(many.forward), total_seconds(four.forward));  // more launches
}

// Gate and up of a layer are kept at one byte instead of two, whether or not the activation's
// output is recomputed; the casts take time. An activation without a gate is unaffected.
TEST(ChunkCost, InputsOfGatedActivationsAreKeptInFp8) {
  const auto of = [](Activation activation, bool in_fp8, Recompute recompute) {
    TransformerSpec model = four_layers();
    model.activation = activation;
    Job job = test_job(model, {.pp = 4}, kBatch, Precision::bf16, recompute);
    job.cluster = test_cluster(2);
    job.software.fp8_activation_inputs = in_fp8;
    return chunk_costs(job)[1];
  };
  for (const Recompute& recompute : {Recompute::none, Recompute::selective}) {
    const ChunkCost whole = of(Activation::swiglu, false, recompute);
    const ChunkCost stored = of(Activation::swiglu, true, recompute);
    EXPECT_NEAR(whole.activation_bytes - stored.activation_bytes, 8192.0 * 2 * 14336, 1);
    EXPECT_GT(total_seconds(stored.forward), total_seconds(whole.forward));
    EXPECT_GT(total_seconds(stored.backward_input), total_seconds(whole.backward_input));
    EXPECT_EQ(of(Activation::gelu, true, recompute).activation_bytes,
              of(Activation::gelu, false, recompute).activation_bytes);
  }
}

// Inputs that are kept for weight gradients are kept in the precision of the product: fp8 takes
// half of 16 bits, unless the software keeps no scaled copies.
TEST(ChunkCost, WhatWeightGradientsReadWaitsInThePrecisionOfTheProduct) {
  const auto of = [](Precision precision, bool scaled) {
    Job job = test_job(four_layers(), {.pp = 4}, kBatch, precision, Recompute::none);
    job.cluster = test_cluster(2);
    job.software.scaled_copies = scaled;
    return chunk_costs(job)[1].weight_activation_bytes;
  };
  EXPECT_NEAR(of(Precision::fp8, true) / of(Precision::bf16, true), 0.5, 1e-9);
  EXPECT_EQ(of(Precision::fp8, false), of(Precision::bf16, false));
}

// All four layers have experts of Mixtral's shape (Jiang et al. 2024, arXiv 2401.04088, table 1).
TransformerSpec four_expert_layers() {
  TransformerSpec model = four_layers();
  model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 14336};
  return model;
}

TEST(ChunkCost, ExpertsWithoutExpertParallelismDispatchNothing) {
  for (const ChunkCost& chunk : costs(four_expert_layers(), kPipeline)) {
    for (const auto* parts : {&chunk.forward, &chunk.backward_input, &chunk.backward_weight}) {
      EXPECT_EQ(seconds(*parts, Category::ep), 0);
    }
  }
}

// Eight GPUs of a node: each sends both copies of its 8192 / 8 tokens of 4096 x 2 B, 7/8 of them
// over NVLink, and gets them back.
TEST(ChunkCost, DispatchAndCombineByHand) {
  Layout layout = kPipeline;
  layout.ep = 8;
  const auto chunk = costs(four_expert_layers(), layout, Recompute::none, test_cluster(4))[1];
  const double bytes = 2.0 * 1024 * 4096 * 2;
  const double once_s = 10e-6 + 7 * 2e-6 + bytes * 7 / 8 / (450e9 * 0.8);
  EXPECT_NEAR(seconds(chunk.forward, Category::ep), 2 * once_s, 1e-12);
  EXPECT_NEAR(seconds(chunk.backward_input, Category::ep), 2 * once_s, 1e-12);
  EXPECT_EQ(seconds(chunk.backward_weight, Category::ep), 0);
}

// Two nodes: half of what a GPU sends crosses its own NIC.
TEST(ChunkCost, DispatchAcrossNodesByHand) {
  TransformerSpec model = four_expert_layers();
  model.moe.experts = 16;
  const Layout layout{.pp = 2, .dp = 16, .ep = 16};
  const auto chunk = costs(model, layout, Recompute::none, test_cluster(4))[0];
  const double bytes = 2.0 * 8192 * 4096 * 2;
  const double once_s = 10e-6 + 7 * 2e-6 + 5e-6 + bytes / 2 / (50e9 * 0.9);
  EXPECT_NEAR(seconds(chunk.forward, Category::ep), 2 * 2 * once_s, 1e-12);  // two layers
}

TEST(ChunkCost, ImbalanceScalesTheExpertsAndTheirTrafficAlone) {
  TransformerSpec model = four_expert_layers();
  const Layout layout{.pp = 4, .dp = 8, .ep = 8};
  const auto even = costs(model, layout, Recompute::none, test_cluster(4))[1];
  model.moe.imbalance = 1.5;
  const auto uneven = costs(model, layout, Recompute::none, test_cluster(4))[1];
  const double latency_s = 2 * (10e-6 + 7 * 2e-6);
  EXPECT_NEAR(seconds(uneven.forward, Category::ep) - latency_s,
              1.5 * (seconds(even.forward, Category::ep) - latency_s), 1e-12);
  EXPECT_EQ(uneven.parameters, even.parameters);
  // The difference is one expert's three matrices for both copies of its tokens, and nothing else.
  const double extra_flops = 0.5 * 3 * 2 * (2 * 8192.0) * 3 * 4096 * 14336;
  EXPECT_NEAR(uneven.hardware_flops - even.hardware_flops, extra_flops, 1e-3 * extra_flops);
}

TEST(ChunkCost, SharedExpertHidesTheDispatchUnderOverlap) {
  TransformerSpec model = four_expert_layers();
  model.moe.shared_ffn = 14336;
  Job job = test_job(model, {.pp = 4, .dp = 8, .ep = 8}, kBatch);
  job.cluster = test_cluster(4);
  const double exposed_s = seconds(chunk_costs(job)[1].forward, Category::ep);
  job.software.tp_overlap = TensorOverlap::pipelined;
  EXPECT_GT(exposed_s, 0);
  EXPECT_EQ(seconds(chunk_costs(job)[1].forward, Category::ep), 0);
}

// With 16 experts a token's two lie on 2 (1 - 1/4) = 1.5 different nodes on average.
TEST(ChunkCost, MergedDispatchSendsATokenOnceToANode) {
  TransformerSpec model = four_expert_layers();
  model.moe.experts = 16;
  Job job = test_job(model, {.pp = 2, .dp = 16, .ep = 16}, kBatch);
  job.cluster = test_cluster(4);
  job.software.ep_merged = true;
  const double bytes = 1.5 * 8192 * 4096 * 2;
  const double once_s = 10e-6 + 2e-6 + 5e-6 + bytes / 2 / (50e9 * 0.9);  // to all at once
  EXPECT_NEAR(seconds(chunk_costs(job)[0].forward, Category::ep), 2 * 2 * once_s, 1e-12);
}

// With slow NICs compute does not cover the whole exchange. Two micro-batches cover each other's
// exchanges, and a pair covers as much as each would alone.
TEST(ChunkCost, OverlappedDispatchExposesWhatPairedPassesDoNotCover) {
  TransformerSpec model = four_expert_layers();
  model.moe.experts = 16;
  Job job = test_job(model, {.pp = 4, .dp = 16, .ep = 16}, kBatch);
  job.cluster = test_cluster(8);
  job.cluster.node.nic_Bps = parameter(5e9);
  job.batch.global = 16 * job.layout.dp * job.batch.micro;
  const double paired = 1 - 4.0 / 16;  // of 16 micro-batches, less four that fill and drain
  const ChunkCost exposed = chunk_costs(job)[1];
  job.software.ep_overlap = true;
  const ChunkCost hidden = chunk_costs(job)[1];
  const double forward_s = seconds(exposed.forward, Category::forward);
  const double backward_s = seconds(exposed.backward_input, Category::backward) +
                            seconds(exposed.backward_weight, Category::backward);
  const double sent_s = seconds(exposed.forward, Category::ep);
  EXPECT_GT(sent_s, backward_s);
  EXPECT_NEAR(seconds(hidden.forward, Category::ep), sent_s - paired * forward_s, 1e-12);
  EXPECT_NEAR(seconds(hidden.backward_input, Category::ep), sent_s - paired * backward_s, 1e-12);
  job.cluster.node.nic_Bps = parameter(500e9);
  const double left_s = seconds(chunk_costs(job)[1].forward, Category::ep);
  job.software.ep_overlap = false;
  EXPECT_NEAR(left_s, (1 - paired) * seconds(chunk_costs(job)[1].forward, Category::ep), 1e-12);
}

// Recomputed experts dispatch their tokens again; recomputed norms send nothing.
TEST(ChunkCost, RecomputedExpertsDispatchAgain) {
  Layout layout = kPipeline;
  layout.ep = 8;
  const auto again_s = [&](RecomputeModule module) {
    const auto chunk =
        costs(four_expert_layers(), layout, Recompute::of(module), test_cluster(4))[1];
    return seconds(chunk.recompute, Category::ep) / seconds(chunk.forward, Category::ep);
  };
  EXPECT_NEAR(again_s(RecomputeModule::moe), 1, 1e-9);
  EXPECT_EQ(again_s(RecomputeModule::layernorm), 0);
}

// The third layer is the last dense one: of three stages with two layers each, the first has no
// expert layer, the second one and the third two.
TEST(ChunkCost, StagesCountDenseAndExpertLayersApart) {
  TransformerSpec model = four_expert_layers();
  model.layers = 6;
  model.moe.dense_layers = 3;
  const Layout layout{.pp = 3, .dp = 8, .ep = 4};
  const auto chunks = costs(model, layout, Recompute::none, test_cluster(3));
  const double experts = 2 * 3.0 * 4096 * 14336;  // two of eight are on this rank
  EXPECT_EQ(chunks[0].expert_parameters, 0);
  EXPECT_EQ(chunks[1].expert_parameters, experts);
  EXPECT_EQ(chunks[2].expert_parameters, 2 * experts);
  EXPECT_NEAR(2 * seconds(chunks[1].forward, Category::ep),
              seconds(chunks[2].forward, Category::ep), 1e-12);
  Layout uneven = layout;
  uneven.stage_layers = {4, 1, 1};
  EXPECT_EQ(costs(model, uneven, Recompute::none, test_cluster(3))[0].expert_parameters, experts);
}

TEST(ChunkCost, OverlapHidesTensorParallelismBehindItsGemms) {
  Job job = test_job(four_layers(), kPipeline, kBatch);
  const ChunkCost exposed = chunk_costs(job)[1];
  job.software.tp_overlap = TensorOverlap::pipelined;
  const ChunkCost hidden = chunk_costs(job)[1];
  EXPECT_LT(seconds(hidden.forward, Category::tp), 0.5 * seconds(exposed.forward, Category::tp));
  EXPECT_LT(seconds(hidden.backward_input, Category::tp),
            seconds(exposed.backward_input, Category::tp));
  EXPECT_EQ(seconds(hidden.forward, Category::forward),
            seconds(exposed.forward, Category::forward));
}

// Each rank sends 8 heads with keys 192 wide and values 128 wide, instead of the latents.
TEST(ChunkCost, RingOfLatentAttentionPassesWholeHeads) {
  TransformerSpec model = deepseek_v3();
  model.layers = 4;
  const Layout layout{.tp = 4, .cp = 4, .pp = 4, .sequence_parallel = true};
  Cluster slow = test_cluster(8);
  const auto exposed_s = [&](double nic_Bps) {
    slow.node.nic_Bps = parameter(nic_Bps);
    return seconds(costs(model, layout, Recompute::none, slow)[1].forward, Category::cp);
  };
  const double bytes = 2.0 * 2048 * 32 * (192 + 128);
  EXPECT_NEAR(exposed_s(1e8) - exposed_s(1e9), 3 * bytes / 0.9 * (1e-8 - 1e-9), 1e-9);
}

// If every kernel of a layer's forward pass is far shorter than its launch, the GPU waits for all
// launches except during its own work, with or without a queue.
TEST(ChunkCost, SlowHostSetsThePace) {
  Job job = test_job(four_layers(), {.pp = 4}, kBatch);
  job.calibration.host_launch_s = parameter(1);
  const double launches = static_cast<double>(block_ops(job, Block::layer, Pass::forward).size());
  for (const double run_ahead : {0.0, 0.5, 1.0}) {
    job.calibration.host_run_ahead = parameter(run_ahead);
    EXPECT_NEAR(total_seconds(chunk_costs(job)[1].forward), launches, 1e-9);
  }
  job.software.cuda_graphs = true;
  EXPECT_EQ(seconds(chunk_costs(job)[1].forward, Category::host), 0);
}

// CUDA graphs leave those kernels to the host whose sizes the router decides: with fused experts in
// 16 bits, permutation, sorting and two GEMMs.
TEST(ChunkCost, GraphsOutsideTheExperts) {
  const Layout layout{.pp = 4, .dp = 4, .ep = 4};
  Job job = test_job(four_expert_layers(), layout, kBatch);
  job.calibration.host_launch_s = parameter(1);
  job.calibration.host_run_ahead = parameter(0);
  job.software.dense_graphs = job.software.fused_experts = true;
  double waits_s = 0;
  for (const Op& op : block_ops(job, Block::moe_layer, Pass::forward)) {
    const double gpu_s = op_cost(op, job.cluster.node.gpu, job.precision, job.calibration).seconds;
    waits_s += op.routed ? 1 - gpu_s : 0;
  }
  const auto chunk = chunk_costs(job)[1];
  const double collectives = 2 - seconds(chunk.forward, Category::ep);
  EXPECT_NEAR(seconds(chunk.forward, Category::host), waits_s + collectives, 1e-9);
  EXPECT_GT(waits_s, 5);
}

// A hidden all-to-all still costs the time by which it slows the other micro-batch's kernels.
TEST(ChunkCost, HiddenDispatchSlowsWhatItRunsBeside) {
  const Layout layout{.pp = 4, .dp = 4, .ep = 4};
  Job job = test_job(four_expert_layers(), layout, kBatch);
  job.batch.global = 16 * job.layout.dp * job.batch.micro;
  const double alone = 4.0 / 16;
  const double open_s = seconds(chunk_costs(job)[1].forward, Category::ep);
  job.software.ep_overlap = true;
  EXPECT_NEAR(seconds(chunk_costs(job)[1].forward, Category::ep), alone * open_s, 1e-12);
  job.calibration.overlap_slowdown = parameter(0.25);
  EXPECT_NEAR(seconds(chunk_costs(job)[1].forward, Category::ep),
              open_s * (alone + (1 - alone) * 0.25 / 1.25), 1e-12);
}

// A launch takes longer than the shortest kernel and less than the longest. A queue that never
// empties hides it, launching one kernel at a time exposes it, and the calibration interpolates.
TEST(ChunkCost, RunningAheadHidesWhatLongKernelsCover) {
  Job job = test_job(four_layers(), {.pp = 4}, kBatch);
  double total_s = 0;
  double each_s = 0;
  const auto ops = block_ops(job, Block::layer, Pass::forward);
  for (const Op& op : ops) {
    total_s += op_cost(op, job.cluster.node.gpu, job.precision, job.calibration).seconds;
  }
  const double launch_s = 0.5 * total_s / static_cast<double>(ops.size());
  for (const Op& op : ops) {
    const double gpu_s = op_cost(op, job.cluster.node.gpu, job.precision, job.calibration).seconds;
    each_s += std::max(0.0, launch_s - gpu_s);
  }
  ASSERT_GT(each_s, 0);
  job.calibration.host_launch_s = parameter(launch_s);
  for (const double run_ahead : {0.0, 0.25, 1.0}) {
    job.calibration.host_run_ahead = parameter(run_ahead);
    EXPECT_NEAR(seconds(chunk_costs(job)[1].forward, Category::host), (1 - run_ahead) * each_s,
                1e-12);
  }
}

TEST(ChunkCost, SharedCoresSlowLaunchesByTensorRanksWhereAPipelineCrossesNodes) {
  const Layout across{.tp = 4, .pp = 4, .sequence_parallel = true};
  Job job = test_job(four_layers(), across, kBatch);
  job.calibration.host_launch_s = parameter(1);
  job.calibration.host_contention = parameter(0.5);
  const double alone_s = total_seconds(chunk_costs(job)[1].forward);
  job.software.shared_cores = true;
  EXPECT_NEAR(total_seconds(chunk_costs(job)[1].forward), 3 * alone_s, 1e-6 * alone_s);
  job.cluster = test_cluster(1);
  EXPECT_NEAR(total_seconds(chunk_costs(job)[1].forward), alone_s, 1e-6 * alone_s);
}

}  // namespace
}  // namespace windtunnel
