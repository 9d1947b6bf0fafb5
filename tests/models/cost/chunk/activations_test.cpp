#include "models/cost/chunk/activations.hpp"

#include <gtest/gtest.h>

#include "models/cost/chunk/chunk_cost.hpp"
#include "models/network/collectives/collective.hpp"
#include "models/workload/training.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

// Korthikanti et al. 2022 (arXiv 2205.05198), section 4, count the activations of GPT-3's layer.
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
// Both norms' outputs (4 bytes per element of s b h), the activation's output (8) and the scores
// are dropped.
TEST_F(Korthikanti, SelectiveRecomputationDropsWhatIsCheapToRepeat) {
  EXPECT_EQ(kept({}, Recompute::selective), sbh_ * (34 - 12));
}
// Qi et al. (arXiv 2401.10241), table 1, state M_W = 32 s b h.
TEST_F(Korthikanti, WeightGradientsNeedInputsAndOutputGradients) {
  EXPECT_EQ(layer_activations(test_job(gpt_, {}, batch_)).for_weights, 32 * sbh_);
}

TEST(Activations, LlamaLayerByHand) {
  const Batch batch{.global = 1, .micro = 1, .sequence = 8192};
  const Layout layout{.tp = 8, .cp = 2, .sequence_parallel = true};
  // Elements per token are 4 h for inputs and outputs of two norms, (1 + 2/16) h for q k v, h for
  // the context, 2 f for gate and up, f for the product.
  const double elements = 4.0 * 16384 + 1.125 * 16384 + 16384 + 3.0 * 53248;
  EXPECT_EQ(layer_activations(test_job(llama3_405b(), layout, batch)).kept,
            4096.0 / 8 * (2 * elements + 4 * 128));
}

// Gate and up outputs are held twice while the host runs ahead; with two pipeline stages this
// happens only if the MLP's activation takes longer than its launch.
TEST(Activations, TensorsAreHeldWhereTheHostRunsAhead) {
  const auto held_bytes = [](int tp, int pp, double rows_of_a_launch) {
    const Batch batch{.global = 8, .micro = 1, .sequence = 8192};
    Job job = test_job(llama3_8b(), {.tp = tp, .pp = pp, .sequence_parallel = true}, batch);
    const double row_bytes = 3 * 2 * 14336.0 / tp;
    job.calibration.host_kernel_s.value =
        rows_of_a_launch * row_bytes / job.cluster.node.gpu.memory_Bps.value;
    const double freed = layer_activations(job).kept;
    job.software.held_tensors = true;
    return layer_activations(job).kept - freed;
  };
  const double up = 2.0 * 8192 * 2 * 14336 / 8;
  for (const int pp : {1, 4, 8}) EXPECT_EQ(held_bytes(8, pp, 1e9), up);
  EXPECT_EQ(held_bytes(8, 2, 8200), 0);
  EXPECT_EQ(held_bytes(8, 2, 8100), up);
  EXPECT_EQ(held_bytes(1, 1, 0), 0);
}

// Clamping keeps the gate and its factor once more. A fused kernel of experts clamps them itself,
// but dense and shared MLPs have kernels of their own.
TEST(Activations, FusedExpertsBoundTheirOwnActivationAlone) {
  const Batch batch{.global = 1, .micro = 1, .sequence = 8192};
  const auto bounds_bytes = [&](Job job, Fusion fusion, bool fused_experts) {
    const Block block = job.model.moe.experts > 0 ? Block::moe_layer : Block::layer;
    job.software.fusion = fusion;
    job.software.fused_experts = fused_experts;
    const double free = layer_activations(job, block).kept;
    job.model.clamped_activation = true;
    return layer_activations(job, block).kept - free;
  };
  const Job dense = test_job(llama3_8b(), {}, batch);
  const double of_dense = 2.0 * 8192 * 2 * 14336;
  EXPECT_EQ(bounds_bytes(dense, Fusion::partial, false), of_dense);
  EXPECT_EQ(bounds_bytes(dense, Fusion::partial, true), of_dense);
  EXPECT_EQ(bounds_bytes(dense, Fusion::compiled, true), 0);
  Job experts = dense;
  experts.model.moe = {.experts = 8, .per_token = 2, .ffn_hidden = 4096, .shared_ffn = 2048};
  const double of_shared = 2.0 * 8192 * 2 * 2048;
  EXPECT_EQ(bounds_bytes(experts, Fusion::partial, true), of_shared);
  EXPECT_EQ(bounds_bytes(experts, Fusion::partial, false), of_shared + 2.0 * 8192 * 2 * 2 * 4096);
  Job ungated = dense;
  ungated.model.activation = Activation::gelu;
  EXPECT_EQ(bounds_bytes(ungated, Fusion::partial, false), 0);
}

double tp_s(const std::vector<CostPart>& parts) {
  double sum = 0;
  for (const CostPart& part : parts) sum += part.category == Category::tp ? part.seconds : 0;
  return sum;
}

// Megatron-LM's scatter/gather: a rank sends its part of the boundary, and gathers what it
// receives.
TEST(Activations, ScatteredSendsAreGatheredByTheReceiver) {
  const Batch batch{.global = 16, .micro = 1, .sequence = 8192};
  Job job = test_job(llama3_8b(), {.tp = 8, .pp = 4}, batch);
  job.cluster = test_cluster(4);
  const auto whole = chunk_costs(job);
  job.software.scatter_sends = true;
  const auto scattered = chunk_costs(job);
  const double bytes = 2.0 * 8192 * 4096;
  const std::vector<std::int32_t> gpus = {0, 1, 2, 3, 4, 5, 6, 7};
  const double gather_s =
      collective_cost(CollectiveKind::all_gather, CollectiveAlgorithm::automatic,
                      group_shape(gpus, job.cluster), bytes, job.cluster, job.calibration)
          .seconds;
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(whole[stage].boundary_bytes, bytes);
    EXPECT_EQ(scattered[stage].boundary_bytes, bytes / 8);
    EXPECT_NEAR(tp_s(scattered[stage].forward) - tp_s(whole[stage].forward),
                stage > 0 ? gather_s : 0, 1e-12);
    EXPECT_NEAR(tp_s(scattered[stage].backward_input) - tp_s(whole[stage].backward_input),
                stage < 3 ? gather_s : 0, 1e-12);
  }
  // With sequence parallelism the ranks hold different parts, which are not scattered again.
  job.layout.sequence_parallel = true;
  EXPECT_EQ(boundary_parts(job), 1);
  EXPECT_EQ(chunk_costs(job)[1].boundary_bytes, bytes / 8);
}

// Checks what each module drops of a layer of DeepSeek-V3: elements of 2 B per token.
TEST(Activations, ModulesDropTheirTensors) {
  const Batch batch{.global = 1, .micro = 1, .sequence = 1000};
  const auto dropped = [&](Recompute recompute, Block block = Block::moe_layer) {
    const auto kept = [&](Recompute set) {
      return layer_activations(test_job(deepseek_v3(), {}, batch, Precision::bf16, set), block)
          .kept;
    };
    return (kept(Recompute::none) - kept(recompute)) / 1000 / 2;
  };
  using enum RecomputeModule;
  EXPECT_NEAR(dropped(Recompute::of(layernorm)), 2 * 7168, 1e-6);
  EXPECT_NEAR(dropped(Recompute::of(moe_act)), 8 * 2048, 1e-6);  // eight experts a token
  EXPECT_NEAR(dropped(Recompute::of(shared_experts)), 3 * 2048, 1e-6);
  EXPECT_NEAR(dropped(Recompute::of(mlp_act)), 2048, 1e-6);  // of the shared expert
  EXPECT_NEAR(dropped(Recompute::of(mlp)), 0, 1e-6);         // dense layers only
  EXPECT_NEAR(dropped(Recompute::of(mlp), Block::layer), 3 * 18432, 1e-6);
  // This drops queries and keys of 128 heads of 192, values of 128, and the normalised latents.
  EXPECT_NEAR(dropped(Recompute::of(mla_up_proj)), 128 * (2 * 192 + 128) + 1536 + 512, 1e-6);
  EXPECT_NEAR(dropped(Recompute::of(core_attn)), 2 * 128, 1e-6);  // an fp32 sum per head
  // This drops attention's output, and the sum of 7,168 columns that the second norm reads.
  EXPECT_NEAR(dropped(Recompute::of(attention)), 2 * 128 + 128 * 128 + 7168, 1e-6);
  // This drops inputs and matrices of eight experts and the shared one, and two fp32 scores for
  // each of 256 experts.
  EXPECT_NEAR(dropped(Recompute::of(moe)), 8 * (7168 + 3 * 2048) + 3 * 2048 + 2 * 2 * 256, 1e-6);
  EXPECT_EQ(dropped(Recompute::of(moe)), dropped(Recompute::of(moe, moe_act, shared_experts)));
  EXPECT_EQ(dropped(Recompute::of(layernorm, moe_act, mlp_act, scores)),
            dropped(Recompute::selective));
  // This also drops attention's output, 128 heads of 128.
  EXPECT_NEAR(dropped(Recompute::of(matmuls, core_attn), Block::layer) -
                  dropped(Recompute::of(matmuls), Block::layer),
              2 * 128 + 128 * 128, 1e-6);
}

// An unfused loss keeps a softmax in fp32, a fused one its gradient in 16 bits, a loss in chunks
// neither.
TEST(Activations, WhatALossKeepsIsGoneWhenLayersRunBack) {
  Job job = test_job(llama3_8b(), {}, {.global = 1, .micro = 1, .sequence = 8192});
  const double logits = 8192.0 * padded_vocabulary(128256, 1);
  const auto transient = [&] { return chunk_costs(job)[0].transient_bytes; };
  EXPECT_EQ(loss_bytes(job, {}), 4 * logits);
  // The head's logits exceed a layer's activations and gradients, so that its own peak counts.
  EXPECT_EQ(transient(), head_activations(job).transient);
  job.software.fused_loss = true;
  EXPECT_EQ(loss_bytes(job, {}), 2 * logits);
  const double layer = layer_activations(job).transient;
  EXPECT_EQ(transient(), std::max(head_activations(job).transient, layer - 2 * logits));
  Training training;
  training.loss.chunks = 16;
  job.training = std::make_shared<const Training>(training);
  EXPECT_EQ(loss_bytes(job, {}), 0);
  EXPECT_EQ(transient(), std::max(head_activations(job).transient, layer));
}

// The single stage has four layers.
TEST(Activations, MethodsSayWhichLayersRecompute) {
  TransformerSpec model = llama3_8b();
  model.layers = 4;
  const Batch batch{.global = 1, .micro = 1, .sequence = 1000};
  const auto bytes = [&](Recompute recompute) {
    return chunk_costs(test_job(model, {}, batch, Precision::bf16, recompute))[0].activation_bytes;
  };
  const double none = bytes(Recompute::none);
  const double full = bytes(Recompute::full);
  Recompute some = Recompute::full;
  some.layers = 1;
  some.method = RecomputeMethod::block;
  EXPECT_NEAR(none - bytes(some), (none - full) / 4, 1);
  some.layers = 9;
  EXPECT_NEAR(bytes(some), full, 1);
  some.method = RecomputeMethod::every;
  some.layers = 2;
  EXPECT_NEAR(none - bytes(some), (none - full) / 2, 1);
  some.method = RecomputeMethod::uniform;  // two of the four inputs
  EXPECT_NEAR(full - bytes(some), 2 * 2.0 * 1000 * 4096, 1);
}

}  // namespace
}  // namespace windtunnel
