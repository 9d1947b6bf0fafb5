// What papers report of sharding that sends less: our figure beside the published one. Where we
// miss it, the test holds what is predicted, and says so.
#include <fmt/format.h>
#include <gtest/gtest.h>

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

// 18 B parameters on 384 V100 in nodes of 16 with so many ports of 100 Gb/s, one micro-batch of so
// many tokens: Wang et al. 2023, arXiv 2306.10209, and DeepSpeed's blogs/zeropp. Layers assumed.
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
  // 100 Gb/s: up to 2.16 times, 2 on average.
  EXPECT_NEAR(gain(1, 1024), 2.16, 0.15);
  EXPECT_NEAR((gain(1, 1024) + gain(1, 2048)) / 2, 2, 0.1);
  // 400 Gb/s: 1.28 to 1.36 with 1,024 tokens; 1.24 to 1.29 with 2,048, of which we miss 3 points.
  EXPECT_NEAR(gain(4, 1024), 1.32, 0.06);
  EXPECT_NEAR(gain(4, 2048), 1.21, 0.03);
  // As fast at 200 Gb/s as ZeRO-3 at 800: here a tenth slower.
  EXPECT_NEAR(sharded_step_s(dgx2(2, 1024), kZeroPlusPlus) / sharded_step_s(dgx2(8, 1024), ""), 1.1,
              0.06);
  EXPECT_NEAR(sharded_step_s(dgx2(2, 2048), kZeroPlusPlus) / sharded_step_s(dgx2(8, 2048), ""), 1.1,
              0.06);
}

// Of scenarios/headlines/qsdp.yaml: Markov et al. 2023, arXiv 2302.02390. Published: up to 2.2
// times FSDP, and about the same step at 10, 50 and 100 Gb/s. What the tokens of a sequence were is
// not known: Composer's example has 2,048, and half of it computes half as long beside equal
// transfers.
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
    // Its gathers and reductions hide: what is left is the first gather and the last reduction.
    EXPECT_LT(slower, 1.2);
    EXPECT_GT(gain(keys, "10"), gain(keys, "50"));
    EXPECT_GT(gain(keys, "50"), gain(keys, "100"));
    EXPECT_GE(gain(keys, "100"), 1);
  }
  EXPECT_LT(gain({}, "10"), 2.2);
  EXPECT_NEAR(gain(halved, "10"), 2.2, 0.1);
}

// GPT-NeoX 20 B on Frontier: Xu et al. 2025, arXiv 2501.04266. Four micro-batches of a sequence are
// assumed.
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
  // Published 1.71. The direction is right, the size is not: compute takes most of a step
  // of ZeRO++ here, and slower NICs, where RCCL's losses would be, slow both.
  EXPECT_GT(gain(48, ""), 1);
  EXPECT_GT(gain(48, ""), gain(48, one_rate));
  EXPECT_GT(gain(48, slow), gain(48, ""));
  EXPECT_LT(gain(48, slow), 1.71);
  // Efficiency of 0.94 from few nodes to 384 GCDs; ours does not fall.
  EXPECT_GT(seconds(8, "", levels) / seconds(48, "", levels), 0.94);
  EXPECT_LT(seconds(8, "", levels) / seconds(48, "", levels), 1.06);
}

// GPT of 174.6 B under ZeRO-3 alone, a batch of 1,536 whatever the GPUs: Narayanan et al. 2021,
// arXiv 2104.04473, table 2: 144, 88 and 44 TFLOP/s on 384, 768 and 1,536 A100. **Missed**: we hold
// 139, 135 and 128. Gathering each tensor by itself, as DeepSpeed did then, takes 2 % of a step on
// 1,536 GPUs by the latencies of NCCL's rings; what was measured would be 13 ms for each tensor.
TEST(ShardHeadlines, Zero3OnMoreGpusOfOneBatch) {
  const auto teraflops = [](int gpus, bool by_tensor) {
    const Case of = parse_case(
        fmt::format("name: zero3\n"
                    "model: {{base: gpt3-175b, vocabulary: 51200, sequence: 2048, "
                    "attention: unfused}}\n"
                    "cluster: {{nodes: {}, node: dgx-a100}}\nlayout: {{sharding: zero3}}\n"
                    "batch: {{global: 1536, micro: {}}}\nprecision: fp16\nrecompute: full\n"
                    "software: {{gradients: bf16, reductions: bf16, tensor_gathers: {}}}\n"
                    "communication: {{overlap: bucketed}}\n",
                    gpus / 8, 1536 / gpus, by_tensor),
        "zero3.yaml");
    const double step_s = estimate_iteration(of.job, prepare_iteration(of.job)).step_s;
    return flops_per_step(of.job) / step_s / gpus / 1e12;
  };
  EXPECT_NEAR(teraflops(384, false), 139, 3);
  EXPECT_NEAR(teraflops(768, false), 135, 3);
  EXPECT_NEAR(teraflops(1536, false), 128, 3);
  for (const int gpus : {384, 768, 1536}) {
    const double whole = teraflops(gpus, false);
    const double by_tensor = teraflops(gpus, true);
    EXPECT_LT(by_tensor, whole) << gpus;
    EXPECT_GT(by_tensor, 0.95 * whole) << gpus;
  }
}

}  // namespace
}  // namespace windtunnel
