// Compares figures that papers report for sharding with less communication with ours. If we miss a
// figure, the test expects our prediction, and a comment says "Missed".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "models/cost/chunk/step_work.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"

namespace windtunnel {
namespace {

double sharded_step_s(const std::string& scenario, const std::string& sharding) {
  const Case of =
      parse_case(fmt::format("{}layout: {{sharding: zero3{}}}\n"
                             "software: {{gradients: bf16, reductions: bf16}}\nprecision: fp16\n",
                             scenario, sharding),
                 "shards.yaml");
  return estimate_iteration(of.job, prepare_iteration(of.job)).step_s;
}

// Wang et al. 2023 (arXiv 2306.10209) and DeepSpeed's blogs/zeropp train 18 billion parameters on
// 384 V100 in nodes of 16 GPUs and `ports` ports of 100 Gb/s, with one micro-batch of `tokens`
// tokens. The number of layers is assumed.
std::string dgx2(int ports, int tokens) {
  return fmt::format(
      "name: dgx2\n"
      "model: {{base: gpt3-175b, layers: 40, hidden: 6144, heads: 48, kv_heads: 48, ffn: 24576, "
      "sequence: {}}}\n"
      "cluster: {{nodes: 24, node: {{base: dgx-v100, gpus: 16, nics: {}}}}}\n"
      "recompute: full\nbatch: {{global: 384}}\ncommunication: {{overlap: none}}\n",
      tokens, ports);
}
const std::string kZeroPlusPlus = ", secondary_ranks: 16, weight_bits: 8, gradient_bits: 4";

double gain(int ports, int tokens) {
  return sharded_step_s(dgx2(ports, tokens), "") /
         sharded_step_s(dgx2(ports, tokens), kZeroPlusPlus);
}

TEST(ShardHeadlines, ZeroPlusPlusOverZero3) {
  // At 100 Gb/s the paper reports up to 2.16 times, and 2 on average. Missed: the single NIC of
  // sixteen V100 gets half of its rate here, as NICs behind the host do; how the authors' NIC was
  // limited is not known.
  EXPECT_NEAR(gain(1, 1024), 2.71, 0.15);
  EXPECT_NEAR((gain(1, 1024) + gain(1, 2048)) / 2, 2.5, 0.1);
  // At 400 Gb/s the paper reports 1.28 to 1.36 with 1,024 tokens, missed by 9 points, and 1.24 to
  // 1.29 with 2,048.
  EXPECT_NEAR(gain(4, 1024), 1.45, 0.06);
  EXPECT_GT(gain(4, 2048), 1.24);
  EXPECT_LT(gain(4, 2048), 1.29);
  // In the paper ZeRO++ is as fast at 200 Gb/s as ZeRO-3 at 800; here it takes up to a tenth
  // longer.
  EXPECT_NEAR(sharded_step_s(dgx2(2, 1024), kZeroPlusPlus) / sharded_step_s(dgx2(8, 1024), ""), 1.1,
              0.06);
  EXPECT_NEAR(sharded_step_s(dgx2(2, 2048), kZeroPlusPlus) / sharded_step_s(dgx2(8, 2048), ""), 1,
              0.06);
}

// scenarios/headlines/qsdp.yaml follows Markov et al. 2023, arXiv 2302.02390, who report up to 2.2
// times FSDP's speed, and about the same step time at 10, 50 and 100 Gb/s. They do not state the
// length of sequences: Composer's example has 2,048 tokens; half of them would halve compute and
// leave transfers equal.
TEST(ShardHeadlines, QsdpOverFsdp) {
  const auto seconds = [](const Overrides& keys, const std::string& gigabits, bool quantised) {
    Overrides all = keys;
    all.push_back({"cluster.node.nic", gigabits + " Gb/s"});
    if (quantised) {
      all.push_back({"layout", "{sharding: zero3, weight_bits: 8, gradient_bits: 8}"});
    }
    const std::string path = WINDTUNNEL_SOURCE_DIR "/scenarios/headlines/qsdp.yaml";
    const Job job = load_case(path, all).job;
    return estimate_iteration(job, prepare_iteration(job)).step_s;
  };
  const auto gain = [&](const Overrides& keys, const std::string& gigabits) {
    return seconds(keys, gigabits, false) / seconds(keys, gigabits, true);
  };
  const Overrides halved = {{"model.sequence", "1024"}};
  for (const Overrides& keys : {Overrides{}, halved}) {
    const double slower = seconds(keys, "10", true) / seconds(keys, "100", true);
    fmt::print(
        "QSDP, {} tokens: {:.2f}, {:.2f}, {:.2f} at 10, 50, 100 Gb/s; itself {:.2f} times "
        "as long at 10 as at 100\n",
        keys.empty() ? 2048 : 1024, gain(keys, "10"), gain(keys, "50"), gain(keys, "100"), slower);
    // QSDP's gathers and reductions are hidden, except for the first gather and the last reduction.
    EXPECT_LT(slower, 1.2);
    EXPECT_GT(gain(keys, "10"), gain(keys, "50"));
    EXPECT_GT(gain(keys, "50"), gain(keys, "100"));
    EXPECT_GE(gain(keys, "100"), 1);
  }
  EXPECT_LT(gain({}, "10"), 2.2);
  EXPECT_GT(gain(halved, "10"), 2.2);
}

// Xu et al. 2025 (arXiv 2501.04266) train GPT-NeoX 20 B on Frontier. Four micro-batches of one
// sequence are assumed.
TEST(ShardHeadlines, ThreeLevelsOverZeroPlusPlus) {
  const auto seconds = [](int nodes, const std::string& node, const std::string& sharding) {
    return sharded_step_s(fmt::format("name: frontier\nmodel: gpt-neox-20b\n"
                                      "cluster: {{nodes: {}, node: {{base: frontier-mi250x{}}}, "
                                      "fabric: frontier}}\n"
                                      "recompute: full\nbatch: {{global: {}, micro: 1}}\n"
                                      "communication: {{overlap: none}}\n",
                                      nodes, node, nodes * 8 * 4),
                          sharding);
  };
  const std::string levels =
      ", weight_ranks: 2, gradient_ranks: 8, weight_bits: 8, gradient_bits: 4";
  const std::string plus = ", secondary_ranks: 8, weight_bits: 8, gradient_bits: 4";
  const auto gain = [&](int nodes, const std::string& node) {
    return seconds(nodes, node, plus) / seconds(nodes, node, levels);
  };
  const std::string one_rate = ", package_gpus: 1";
  const std::string slow = ", nic: 50 Gb/s";
  fmt::print(
      "three levels over ZeRO++: {:.2f} on 384 GCDs, {:.2f} with one rate in the node, "
      "{:.2f} at a quarter of the NICs' rate; a step {:.1f} s\n",
      gain(48, ""), gain(48, one_rate), gain(48, slow), seconds(48, "", levels));
  // Published: 1.71. The direction is right, but the size is not: compute takes most of a step of
  // ZeRO++ here, and slower NICs, which would stand for RCCL's losses, slow both.
  EXPECT_GT(gain(48, ""), 1);
  EXPECT_GT(gain(48, ""), gain(48, one_rate));
  EXPECT_GT(gain(48, slow), gain(48, ""));
  EXPECT_LT(gain(48, slow), 1.71);
  // The published efficiency from few nodes to 384 GCDs is 0.94. Missed: ours rises by 6 %.
  EXPECT_NEAR(seconds(8, "", levels) / seconds(48, "", levels), 1.057, 0.01);
}

// Narayanan et al. 2021 (arXiv 2104.04473, table 2) report GPTs of 174.6 and 529.6 billion
// parameters under ZeRO-3 alone, with the same batch on any number of GPUs. Their TFLOP/s count
// recomputation (section 3.6, equation 3). Layers are gathered as in DeepSpeed of that year and,
// for comparison, as if gathering a layer cost kernels nothing.
TEST(ShardHeadlines, Zero3OnMoreGpusOfOneBatch) {
  struct Row {
    const char* model;
    int gpus, batch, micro;
    double published, ours;  // TFLOP/s
  };
  constexpr Row kRows[] = {
      {"gpt3-175b", 384, 1536, 4, 144, 136}, {"gpt3-175b", 768, 1536, 2, 88, 81},
      {"gpt3-175b", 1536, 1536, 1, 44, 33},  {"gpt-530b", 640, 2560, 4, 138, 152},
      {"gpt-530b", 1120, 2240, 2, 98, 105},  {"gpt-530b", 2240, 2240, 1, 48, 51}};
  const auto teraflops = [](const Row& row, bool by_tensor) {
    const Case of = parse_case(
        fmt::format("name: zero3\n"
                    "model: {{base: {}, vocabulary: 51200, sequence: 2048, attention: unfused}}\n"
                    "cluster: {{nodes: {}, node: dgx-a100}}\nlayout: {{sharding: zero3}}\n"
                    "batch: {{global: {}, micro: {}}}\nprecision: fp16\nrecompute: full\n"
                    "software: {{gradients: bf16, reductions: bf16, tensor_gathers: {}}}\n"
                    "communication: {{overlap: {}}}\n",
                    row.model, row.gpus / 8, row.batch, row.micro, by_tensor,
                    by_tensor ? "none" : "bucketed"),
        "zero3.yaml");
    const TransformerSpec& model = of.job.model;
    const double s = 2048, h = model.hidden, l = model.layers, v = 51200;
    const double flops = 96 * row.batch * s * l * h * h * (1 + s / (6 * h) + v / (16 * l * h));
    const double step_s = estimate_iteration(of.job, prepare_iteration(of.job)).step_s;
    return flops / step_s / row.gpus / 1e12;
  };
  for (const Row& row : kRows) {
    const double by_tensor = teraflops(row, true);
    const double whole = teraflops(row, false);
    fmt::print("ZeRO-3, {} on {}: {:.0f} TFLOP/s, published {:.0f}; gathered at once {:.0f}\n",
               row.model, row.gpus, by_tensor, row.published, whole);
    EXPECT_NEAR(by_tensor, row.ours, 1.5) << row.gpus;
    const bool missed = row.gpus == 1536;  // by 26 %
    EXPECT_EQ(std::abs(by_tensor / row.published - 1) > 0.2, missed) << row.gpus;
    EXPECT_GT(whole, 160) << row.gpus;  // tensor by tensor, time grows with ranks
  }
}

}  // namespace
}  // namespace windtunnel
