// A Mamba-2 layer by hand: 8 heads of 64 in 2 groups, states of 32, chunks of 128.
#include <gtest/gtest.h>

#include "models/cost/chunk/activations.hpp"
#include "models/cost/op/op.hpp"
#include "models/workload/stage_parameters.hpp"
#include "tests/models/cost/cost_fixtures.hpp"

namespace windtunnel {
namespace {

const Batch kMambaBatch{.global = 4, .micro = 2, .sequence = 2048};
constexpr double kMambaTokens = 2 * 2048;
constexpr double kMambaInner = 8 * 64;
constexpr double kMambaShared = 2 * 32;
constexpr double kMambaProjected = 2 * kMambaInner + 2 * kMambaShared + 8;

TransformerSpec hybrid_model(std::string pattern = "M*-M") {
  TransformerSpec model = llama3(static_cast<int>(pattern.size()), 256, 8, 1024);
  model.name = "hybrid";
  model.mamba = {.state = 32, .head_width = 64, .groups = 2, .heads = 8};
  model.pattern = std::move(pattern);
  return model;
}

double mamba_flops(const Job& job, OpKind kind, Pass pass) {
  double sum = 0;
  for (const Op& op : block_ops(job, Block::mamba, pass)) sum += op.kind == kind ? op.flops : 0;
  return sum;
}

TEST(OpMamba, ParametersAreThoseOfItsTensors) {
  const double projections = 256 * (kMambaProjected + kMambaInner);
  const double convolution = (kMambaInner + 2 * kMambaShared) * (4 + 1);
  const double heads = 3 * 8;  // decay, skip, step size
  EXPECT_EQ(hybrid_model().layer_parameters(Block::mamba),
            projections + convolution + heads + kMambaInner + 256);
}

TEST(OpMamba, ProductsWithWeightsAreTwoFlopsAWeightAndPass) {
  const Job job = test_job(hybrid_model(), {}, kMambaBatch);
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    EXPECT_DOUBLE_EQ(mamba_flops(job, OpKind::gemm, pass),
                     2 * kMambaTokens * 256 * (kMambaProjected + kMambaInner));
  }
}

// By section 6 of the paper, a chunk's state and its output from states cost N per inner number,
// the causal half within a chunk costs Q / 2 per inner number, and C B^T is computed once per
// group.
TEST(OpMamba, TheScanIsLinearInTheSequence) {
  const Job job = test_job(hybrid_model(), {}, kMambaBatch);
  const double forward =
      2 * kMambaInner * 32 + 2 * kMambaInner * (32 + 64) + 2 * kMambaShared * 128;
  EXPECT_DOUBLE_EQ(mamba_flops(job, OpKind::attention_gemm, Pass::forward), kMambaTokens * forward);
  Job longer = job;
  longer.batch.sequence *= 4;
  EXPECT_DOUBLE_EQ(mamba_flops(longer, OpKind::attention_gemm, Pass::forward),
                   4 * kMambaTokens * forward);
}

// The backward pass computes states and C B^T again; gradients of states, input, B and C through
// the states; gradients of C B^T and of the decays (half a square each); and B and C through C B^T.
TEST(OpMamba, TheBackwardScanMakesItsStatesAgain) {
  const Job job = test_job(hybrid_model(), {}, kMambaBatch);
  const double again = 2 * kMambaInner * 32 + 2 * kMambaShared * 128;
  const double gradients = 2 * kMambaInner * 32 + 2 * kMambaInner * (32 + 64) +
                           2 * 2 * kMambaInner * 32 + 2 * kMambaInner * 128 +
                           2 * 2 * kMambaShared * 128;
  EXPECT_DOUBLE_EQ(mamba_flops(job, OpKind::attention_gemm, Pass::backward_input),
                   kMambaTokens * (again + gradients));
  EXPECT_EQ(mamba_flops(job, OpKind::attention_gemm, Pass::backward_weight), 0);
}

TEST(OpMamba, TensorAndContextParallelismDivideTheScan) {
  const Job whole = test_job(hybrid_model(), {}, kMambaBatch);
  const double flops = mamba_flops(whole, OpKind::attention_gemm, Pass::forward);
  for (const Layout& layout : {Layout{.tp = 2}, Layout{.cp = 2}}) {
    const Job half = test_job(hybrid_model(), layout, kMambaBatch);
    EXPECT_DOUBLE_EQ(mamba_flops(half, OpKind::attention_gemm, Pass::forward), flops / 2);
  }
  // With more ranks than groups, each rank computes B and C of its group again.
  const Job copied = test_job(hybrid_model(), {.cp = 4}, kMambaBatch);
  EXPECT_DOUBLE_EQ(mamba_flops(copied, OpKind::attention_gemm, Pass::forward),
                   flops / 4 + kMambaTokens * kMambaShared * 128 / 2);
}

// Kept are the layer's input, the norm's output, the projection's output, and the scan's output
// before and after its gated norm.
TEST(OpMamba, KeepsTheProjectionAndNoStates) {
  const Job job = test_job(hybrid_model(), {}, kMambaBatch);
  const LayerActivations bytes = layer_activations(job, Block::mamba);
  EXPECT_DOUBLE_EQ(bytes.kept, 2 * kMambaTokens * (2 * 256 + kMambaProjected + 2 * kMambaInner));
  // The backward pass holds two fp32 states per chunk.
  EXPECT_GT(bytes.transient, 2 * 4 * kMambaTokens / 128 * kMambaInner * 32);
  Job full = job;
  full.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(layer_activations(full, Block::mamba).kept, 2 * kMambaTokens * 256);
}

TEST(OpMamba, FullRecomputationRepeatsTheForwardPass) {
  Job job = test_job(hybrid_model(), {}, kMambaBatch);
  job.recompute = Recompute::full;
  EXPECT_EQ(recomputed_ops(job, Block::mamba).size(),
            block_ops(job, Block::mamba, Pass::forward).size());
}

TEST(OpMamba, StagesHoldWhatTheirLettersHave) {
  const TransformerSpec model = hybrid_model("M-M-M*-M");
  Layout layout{.pp = 2};
  const std::vector<double> held = stage_parameters(model, layout);
  const double m = model.layer_parameters(Block::mamba);
  const double mlp = model.layer_parameters(Block::mlp);
  const double attention = model.layer_parameters(Block::attention);
  EXPECT_DOUBLE_EQ(held[0] - held[1], 2 * m + 2 * mlp - (2 * m + mlp + attention) - 256);
  EXPECT_DOUBLE_EQ(model.parameters(), model.embedding_parameters() + model.head_parameters() +
                                           4 * m + 3 * mlp + attention);
}

// A layer of a pattern is attention or MLP alone: the two together cost as much as a usual layer.
TEST(OpMamba, HalvesOfAPatternAreAWholeLayer) {
  const Job job = test_job(hybrid_model("*-"), {}, kMambaBatch);
  const auto work = [&](Block block, Pass pass) {
    double flops = 0;
    double bytes = 0;
    for (const Op& op : block_ops(job, block, pass)) flops += op.flops, bytes += op.bytes;
    return std::pair{flops, bytes};
  };
  for (const Pass pass : {Pass::forward, Pass::backward_input, Pass::backward_weight}) {
    const auto whole = work(Block::layer, pass);
    const auto first = work(Block::attention, pass);
    const auto second = work(Block::mlp, pass);
    EXPECT_DOUBLE_EQ(first.first + second.first, whole.first);
    EXPECT_DOUBLE_EQ(first.second + second.second, whole.second);
  }
  EXPECT_DOUBLE_EQ(
      layer_activations(job, Block::attention).kept + layer_activations(job, Block::mlp).kept,
      layer_activations(job, Block::layer).kept);
}

}  // namespace
}  // namespace windtunnel
