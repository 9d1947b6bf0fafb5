#include <gtest/gtest.h>

#include "models/compression/boundary.hpp"
#include "models/cost/op/op_cost.hpp"
#include "policies/exchange/stage_message.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

// A scenario on two nodes, to which `more` is added from line 4 on.
std::string text_with(const std::string& more) {
  return "name: a\ncluster: {nodes: 2, node: dgx-h100}\nbatch: {global: 64}\n" + more;
}

std::string refusal_of(const std::string& text) {
  return error_of([&] { parse_case(text, "a.yaml"); });
}

std::string refusal(const std::string& more) {
  return refusal_of(text_with(more));
}

TEST(ResolveParallel, FormsOfContextAndRouting) {
  const Job job =
      parse_case(text_with("model: {base: mixtral-8x7b, moe: {zipf: 0.8, hot_experts: 1,"
                           " locality: 0.7, shortcut: true}}\n"
                           "layout: {cp: 16, context: usp, ulysses: 8, ep: 8}\n"),
                 "a.yaml")
          .job;
  EXPECT_EQ(job.layout.context, ContextForm::usp);
  EXPECT_EQ(job.layout.ulysses_ranks(), 8);
  EXPECT_EQ(job.layout.ring_ranks(), 2);
  EXPECT_EQ(job.layout.ep_tokens, ExpertTokens::divided);
  EXPECT_DOUBLE_EQ(job.model.moe.zipf, 0.8);
  EXPECT_EQ(job.model.moe.hot_experts, 1);
  EXPECT_DOUBLE_EQ(job.model.moe.locality.value_or(-1), 0.7);
  EXPECT_TRUE(job.model.moe.shortcut);
  const Job plain = parse_case(text_with("model: llama3-8b\nlayout: {cp: 2}\n"), "a.yaml").job;
  EXPECT_EQ(plain.layout.context, ContextForm::ring);
  EXPECT_FALSE(plain.model.moe.locality.has_value());
  const Job linear = parse_case(text_with("model: {base: llama3-8b, attention: linear}\n"
                                          "layout: {cp: 2, context: lasp}\n"),
                                "a.yaml")
                         .job;
  EXPECT_EQ(linear.model.attention, AttentionKernel::linear);
}

// Fang and Zhao 2024 (USP, arXiv 2405.07719) train Llama 3 8B on 16 A800 with 208K tokens, Ulysses
// inside the node and a ring across nodes. The first version of the paper states a utilisation of
// 0.86, the last one 0.47; they nearly agree if the first counts the full square of the scores, and
// the last the half that causal attention computes. Batch, sharding and recomputation are assumed.
// Ours is 15 % low: the calibration's attention has 62 % of the peak, of a published range of 50 to
// 73 % (FlashAttention-2, arXiv 2307.08691).
TEST(ResolveParallel, UtilisationOfUlyssesAndARing) {
  double best = 0;
  double in_half = 0;
  std::string best_form;
  for (const int ulysses : {1, 2, 4, 8, 16}) {
    const Job job = parse_case(
                        "name: usp\nmodel: llama3-8b\n"
                        "cluster: {nodes: 2, node: {base: dgx-a100, nvlink: 200 GB/s}}\n"
                        "batch: {global: 1, sequence: 212992}\nlayout: {cp: 16, sharding: zero3, "
                        "context: usp, ulysses: " +
                            std::to_string(ulysses) + "}\n",
                        "a.yaml")
                        .job;
    const double step_s = estimate_iteration(job, prepare_iteration(job)).step_s;
    const double mfu = model_flops(job.model, 1, job.batch.sequence) / (step_s * 16 * 312e12);
    RecordProperty("mfu" + std::to_string(ulysses), std::to_string(mfu));
    if (mfu <= best) continue;
    best_form = std::to_string(ulysses);
    best = mfu;
    const double half = model_flops(job.model, 1, job.batch.sequence, AttentionCount::causal);
    in_half = half / (step_s * 16 * 312e12);
    EXPECT_NEAR(0.86 * in_half / mfu, 0.47, 0.02);  // the two counts of the paper
  }
  EXPECT_EQ(best_form, "8");
  EXPECT_GT(best, 0.65);
  EXPECT_LT(best, 0.86);
  EXPECT_GT(in_half, 0.8 * 0.47);
  EXPECT_LT(in_half, 0.47);
}

// A micro-batch passes two stages: each side of the boundary adds four products, and two messages
// are smaller by 4096 / 16.
TEST(ResolveParallel, StepWithACutOfLowRank) {
  const std::string text =
      "name: a\nmodel: llama3-8b\ncluster: {nodes: 2, node: dgx-h100}\n"
      "batch: {global: 8, sequence: 4096}\nlayout: {pp: 2}\n";
  const Job whole = parse_case(text, "a.yaml").job;
  const Job low = parse_case(text + "communication: {boundary_rank: 16}\n", "a.yaml").job;
  EXPECT_EQ(low.communication.boundary_rank, 16);
  const auto step_s = [](const Job& job) {
    return estimate_iteration(job, prepare_iteration(job)).step_s;
  };
  const BoundaryRecipe cut = low_rank_boundary(4096, 4096, 16, 2);
  const double whole_bytes = 2.0 * 4096 * 4096;
  EXPECT_DOUBLE_EQ(cut.bytes, whole_bytes / 256);
  double products_s = 0;
  for (const Op& op : {cut.before.at(0), cut.behind.at(0)}) {
    products_s += op_cost(op, low.cluster.node.gpu, low.precision, low.calibration).seconds;
  }
  const double expected_s = step_s(whole) + 2 * products_s +
                            2 * (boundary_s(low, 0, cut.bytes) - boundary_s(whole, 0, whole_bytes));
  EXPECT_NEAR(step_s(low), expected_s, 1e-9 * expected_s);
}

TEST(ResolveParallel, CutsThatAreNoneAreRefused) {
  const auto refused = [](const std::string& layout, const std::string& rank,
                          const std::string& more = "") {
    return refusal("model: llama3-8b\nlayout: {" + layout +
                   "}\ncommunication:\n  boundary_rank: " + rank + "\n" + more);
  };
  EXPECT_EQ(refused("pp: 2", "4096"), "no error");
  EXPECT_EQ(refused("pp: 1", "8"),
            "a.yaml:7:18: communication.boundary_rank: layout.pp is 1, so no activations are sent "
            "between stages; leave it out");
  EXPECT_EQ(refused("pp: 2", "4097"),
            "a.yaml:7:18: communication.boundary_rank: 4097 is above the width 4096 of the "
            "activations of model 'llama3-8b'");
  EXPECT_EQ(refusal_of("name: a\nmodel: llama3-8b\ncluster: {nodes: 2, node: dgx-h100}\n"
                       "batch: {global: 64, micro: 2}\nlayout: {pp: 2, tp: 4, tp_form: 2d}\n"
                       "communication: {boundary_rank: 8}\n"),
            "a.yaml:6:32: communication.boundary_rank: with layout.tp_form 2d no rank has whole "
            "rows to multiply; take layout.tp_form: 1d");
  EXPECT_TRUE(refused("pp: 2", "8", "schedule: dualpipev\n")
                  .starts_with("a.yaml:7:18: communication.boundary_rank: schedule 'dualpipev' has "
                               "stages 1 and 2 on one pipeline rank"));
  EXPECT_EQ(refused("pp: 2", "0").substr(0, 12), "a.yaml:7:18:");
  EXPECT_TRUE(refusal("model: resnet-50\ncommunication:\n  boundary_rank: 8\n")
                  .starts_with("a.yaml:6:18: communication.boundary_rank: layout.pp is 1"));
}

TEST(ResolveParallel, FramesOfVideo) {
  const auto model = [](const std::string& frames) {
    return "model: {base: llama3-8b, sequence: 8192, frames: " + frames + "}\n";
  };
  const Job job =
      parse_case(text_with(model("16") + "layout: {cp: 8, context: dsp}\n"), "a.yaml").job;
  EXPECT_EQ(job.model.frames, 16);
  EXPECT_EQ(job.layout.context, ContextForm::dsp);
  EXPECT_GT(estimate_iteration(job, prepare_iteration(job)).step_s, 0);
  EXPECT_EQ(refusal("model: llama3-8b\nlayout:\n  cp: 8\n  context: dsp\n").substr(0, 27),
            "a.yaml:7:12: layout.context");
  EXPECT_EQ(refusal(model("3")), "a.yaml:4:50: model.frames 3 does not divide batch.sequence 8192");
  EXPECT_EQ(refusal(model("1")).substr(0, 25), "a.yaml:4:50: model.frames");
  EXPECT_EQ(refusal(model("16") + "layout: {pp: 2}\nschedule:\n  name: seq1f1b\n  slices: 4\n"),
            "a.yaml:8:11: schedule.slices: schedule 'seq1f1b' cuts sequences into 4 slices, but "
            "attention over frames (model.frames 16) has no causal mask");
}

TEST(ResolveParallel, RefusalsNameTheirPlace) {
  EXPECT_EQ(refusal("model: llama3-8b\nlayout:\n  cp: 16\n  context: usp\n  ulysses: 3\n"),
            "a.yaml:8:12: layout.ulysses 3 does not divide layout.cp 16");
  EXPECT_TRUE(refusal("model: llama3-8b\nlayout:\n  cp: 16\n  context: rsa\n")
                  .starts_with("a.yaml:7:12: layout.context rsa does not support the attention"));
  EXPECT_EQ(refusal("model: llama3-8b\nlayout:\n  cp: 2\n  context: ulises\n"),
            "a.yaml:7:12: unknown context 'ulises'; did you mean 'ulysses'?");
  EXPECT_TRUE(refusal("model: {base: mixtral-8x7b, moe: {hot_experts: 2}}\nlayout: {ep: 8}\n")
                  .starts_with("a.yaml:4:48: model.moe.hot_experts needs model.moe.zipf"));
  EXPECT_TRUE(refusal("model: mixtral-8x7b\nlayout:\n  ep: 8\n  tp: 2\n"
                      "  sequence_parallel: true\n  ep_tokens: dropped\n")
                  .starts_with("a.yaml:9:14: layout.ep_tokens: with layout.sequence_parallel"));
  EXPECT_TRUE(
      refusal("model: {base: llama3-8b, tied_embeddings: true}\n"
              "communication:\n  embeddings: all-to-all\n")
          .starts_with("a.yaml:6:15: communication.embeddings: with model.tied_embeddings"));
  EXPECT_EQ(refusal("model: resnet-50\ncommunication:\n  embeddings: all-to-all\n"),
            "a.yaml:6:15: communication.embeddings: model 'resnet-50' has no embeddings; leave "
            "it at dense");
  // Each refusal names its own key, once.
  EXPECT_TRUE(refusal("model: llama3-8b\ncommunication:\n  embeddings: all-to-all\n"
                      "  overlap: priority\n  compressor: topk\n")
                  .starts_with(
                      "a.yaml:8:3: communication.compressor: topk needs more than one all-reduce"));
  EXPECT_TRUE(refusal("model: llama3-8b\ncommunication:\n  overlap: dear\n"
                      "  aggregation: parameter-server\n")
                  .starts_with("a.yaml:6:12: communication.overlap: dear splits"));
}

}  // namespace
}  // namespace windtunnel
