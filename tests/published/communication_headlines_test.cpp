// Compares figures that papers report for compressed and overlapped gradients with ours.
// docs/physics/communication.md lists both, each from a scenario of scenarios/headlines. Figures
// that are published with "up to" are upper bounds of ours. If we miss a figure, the test expects
// our prediction, and a comment says "Missed".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "models/compression/recipe.hpp"
#include "models/cost/chunk/chunk_cost.hpp"
#include "models/cost/op/block_cost.hpp"
#include "models/cost/parallel/context_parallel.hpp"
#include "models/workload/context_traffic.hpp"
#include "policies/exchange/gradient_tensors.hpp"
#include "policies/iteration.hpp"
#include "scenarios/language/case.hpp"
#include "tests/support/joined.hpp"

namespace windtunnel {
namespace {

Job job_of(const std::string& scenario, const Overrides& overrides = {}) {
  return load_case(fmt::format("{}/scenarios/headlines/{}.yaml", WINDTUNNEL_SOURCE_DIR, scenario),
                   overrides)
      .job;
}

double step_of(const Job& job) {
  return estimate_iteration(job, prepare_iteration(job)).step_s;
}

double step_s(const std::string& scenario, const Overrides& overrides = {}) {
  return step_of(job_of(scenario, overrides));
}

using Pair = Overrides::value_type;

Pair compressor(const std::string& choice) {
  return {"communication.compressor", choice};
}

const Pair kDense = compressor("none");
const Pair kAfterwards = {"communication.overlap", "none"};

Pair nic(double gigabits) {
  return {"cluster.node.nic", fmt::format("{} Gb/s", gigabits)};
}

// Returns the bytes that a rank sends per step, averaged over a whole run.
double run_bytes(const Job& job) {
  std::vector<TensorShape> shapes;
  const int layers = job.network != nullptr ? 1 : job.model.layers;
  for (const StageTensor& tensor : stage_tensors(job, 0, 0, layers, chunk_costs(job).front())) {
    shapes.push_back(tensor.shape);
  }
  const ReducingGroup all{job.cluster.gpus(), job.cluster.nodes};
  return run_wire_bytes(job.communication.compressors.dp, shapes, all,
                        job.precision == Precision::fp32 ? 4 : 2);
}

double bytes_saved(const std::string& scenario) {
  return run_bytes(job_of(scenario, {kDense})) / run_bytes(job_of(scenario));
}

struct Workload {
  std::string name;
  std::string scenario;
  Overrides keys;
};

// Each name gives the times in ms that the ACP-SGD paper prints for S-SGD and ACP-SGD (recalled).
const std::vector<Workload>& acp_workloads() {
  static const std::vector<Workload> all = {
      {"ResNet-50, 266 and 248", "acp-sgd-resnet", {}},
      {"ResNet-152, 500 and 316",
       "acp-sgd-resnet",
       {{"model", "resnet-152"}, {"batch.global", "1024"}, {"batch.micro", "32"}}},
      {"BERT-Base, 805 and 193",
       "acp-sgd-bert",
       {{"model.base", "bert-base"}, {"batch.global", "1024"}, {"batch.micro", "32"}}},
      {"BERT-Large, 2307 and 245", "acp-sgd-bert", {}}};
  return all;
}

// The time of one GPU of the ACP-SGD paper's cluster was measured
// (github.com/HKBU-HPML/ddl-benchmarks 30de09b, results of 2020-05-29). The calibration is fitted
// to the first two rows; the third is predicted.
TEST(CommunicationHeadlines, OneGpuTakesAsLongAsMeasured) {
  const auto alone_s = [](const std::string& scenario, const std::string& batch, Overrides keys) {
    keys.insert(keys.end(), {{"cluster.nodes", "1"},
                             {"cluster.node.gpus", "1"},
                             {"batch.global", batch},
                             {"batch.micro", batch},
                             kDense});
    return step_s(scenario, keys);
  };
  const Pair adam = {"software.optimizer", "adam"};
  const double images_s = alone_s("acp-sgd-resnet", "64", {});
  const double large_s = alone_s("acp-sgd-bert", "8", {adam});
  const double base_s = alone_s("acp-sgd-bert", "64", {adam, {"model.base", "bert-base"}});
  fmt::print("one GPU: {:.0f} (253), {:.0f} (163), {:.0f} (301) ms\n", 1e3 * images_s,
             1e3 * large_s, 1e3 * base_s);
  EXPECT_NEAR(images_s / 0.2529, 1, 0.15);
  EXPECT_NEAR(large_s / 0.1633, 1, 0.05);
  EXPECT_NEAR(base_s / 0.3008, 1, 0.1);
}

// The paper's repository runs PowerSGD as PyTorch's communication hook (its README; PyTorch 1.12 or
// later). The hook's last callback for a bucket synchronises with the GPU: no further backward
// kernels are launched before the bucket is done.
Job powersgd_of(const Workload& of) {
  const bool images = of.scenario == "acp-sgd-resnet";
  const std::string choice = fmt::format("{{name: powersgd-hook, rank: {}}}", images ? 4 : 32);
  return job_of(of.scenario,
                joined(of.keys, {compressor(choice), {"communication.overlap", "blocking"}}));
}

TEST(CommunicationHeadlines, AcpSgdOverSSgdAndPowerSgd) {
  double over_dense = 0;
  double over_power = 0;
  for (const Workload& of : acp_workloads()) {
    const double dense_s = step_s(of.scenario, joined(of.keys, {kDense}));
    const double acp_s = step_s(of.scenario, of.keys);
    const double power_s = step_of(powersgd_of(of));
    fmt::print("ACP-SGD: {}; here {:.0f} and {:.0f}, PowerSGD {:.0f}\n", of.name, 1e3 * dense_s,
               1e3 * acp_s, 1e3 * power_s);
    EXPECT_GT(power_s / acp_s, 1) << of.name;
    over_dense += dense_s / acp_s / 4;
    over_power += power_s / acp_s / 4;
  }
  fmt::print("ACP-SGD: {:.2f} (4.06) over S-SGD, {:.2f} (1.43) over PowerSGD\n", over_dense,
             over_power);
  EXPECT_NEAR(over_dense / 4.06, 1, 0.15);
  EXPECT_NEAR(over_power / 1.43, 1, 0.05);
}

TEST(CommunicationHeadlines, DenseStepsOfThirtyTwoGpusAreThePublishedOnes) {
  constexpr double kPublished_s[] = {0.266, 0.500, 0.805, 2.307};
  for (std::size_t i = 0; i < acp_workloads().size(); ++i) {
    const Workload& of = acp_workloads()[i];
    const double dense_s = step_s(of.scenario, joined(of.keys, {kDense}));
    EXPECT_NEAR(dense_s / kPublished_s[i], 1, 0.1) << of.name;
  }
}

// Agarwal et al., MLSys 2022, compare compressors with bucketed data parallelism: low rank pays at
// 10 Gb/s, but not always at 100; methods that gather from 96 ranks lose.
TEST(CommunicationHeadlines, FewCompressorsPayOnNinetySixGpus) {
  const Workload workloads[] = {
      {"ResNet-50", "utility-of-compression-resnet", {}},
      {"ResNet-101", "utility-of-compression-resnet", {{"model", "resnet-101"}}},
      {"BERT-Base", "utility-of-compression-bert", {}}};
  int lost_at_100 = 0;
  for (const Workload& of : workloads) {
    const auto gain = [&](double gigabits, const std::string& choice) {
      const Overrides keys = joined(of.keys, {nic(gigabits)});
      const double gain = step_s(of.scenario, keys) /
                          step_s(of.scenario, joined(keys, {kAfterwards, compressor(choice)}));
      fmt::print("{} at {} Gb/s, {}: {:.2f}\n", of.name, gigabits, choice, gain);
      return gain;
    };
    EXPECT_GT(gain(10, "{name: powersgd, rank: 4}"), 1.05);
    lost_at_100 += gain(100, "{name: powersgd, rank: 4}") < 1 ? 1 : 0;
    for (const double gigabits : {10.0, 100.0}) {
      EXPECT_LT(gain(gigabits, "{name: topk, density: 0.01}"), 1);
      EXPECT_LT(gain(gigabits, "onebit-sgd"), 1);
    }
    // With a density of 0.001 image models lose. Missed: here BERT gains, and all models gain if
    // signs are summed by a vote instead of gathered.
    const bool images = of.scenario == "utility-of-compression-resnet";
    if (images) {
      EXPECT_LT(gain(10, "{name: topk, density: 0.001}"), 1);
    }
    EXPECT_LT(gain(100, "{name: topk, density: 0.001}"), 1);
    EXPECT_GT(gain(10, "signsgd"), gain(10, "onebit-sgd"));
  }
  EXPECT_GE(lost_at_100, 1);
}

// In the set-up of ACP-SGD "they cannot always outperform well-optimized S-SGD". Image models lose
// here, except for signs on ResNet-152, which gain a little; BERT, whose dense gradients take
// seconds, gains.
TEST(CommunicationHeadlines, SignsAndTopKOnThirtyTwoGpus) {
  for (const Workload& of : acp_workloads()) {
    const double dense_s = step_s(of.scenario, joined(of.keys, {kDense}));
    const auto gain = [&](const char* choice) {
      return dense_s / step_s(of.scenario, joined(of.keys, {kAfterwards, compressor(choice)}));
    };
    const double signs = gain("onebit-sgd");
    const double top_k = gain("{name: topk, density: 0.001}");
    fmt::print("{}: signs {:.2f}, top-k {:.2f}\n", of.name, signs, top_k);
    const bool images = of.scenario == "acp-sgd-resnet";
    EXPECT_EQ(top_k < 1, images);
    EXPECT_LT(signs, of.name.starts_with("ResNet-50") ? 1 : images ? 1.1 : 3);
    EXPECT_LT(std::max(signs, top_k), dense_s / step_s(of.scenario, of.keys));
  }
}

// Without latencies an all-reduce of length C has two halves, one beside the forward pass F and one
// beside the backward pass B: the gain is largest at C = 2B.
TEST(CommunicationHeadlines, HidingBytesUnderTheForwardPassGivesAQuarterAtMost) {
  const auto best = [](double backward) {
    double most = 0;
    for (double c = 0.01; c < 20; c += 0.01) {
      most = std::max(
          most, (1 + std::max(backward, c)) / (std::max(1.0, c / 2) + std::max(backward, c / 2)));
    }
    return most;
  };
  EXPECT_NEAR(best(2), 1.25, 0.001);
  EXPECT_NEAR(best(1), 1.5, 0.001);
}

// Returns the gain of DeAR with its best bucket size over the baseline with its usual 64 MB.
double dear_gain(const Overrides& keys) {
  const auto seconds = [&](const std::string& overlap, const std::string& bucket) {
    const Overrides own = {{"communication.overlap", overlap}, {"communication.bucket", bucket}};
    return step_s("dear", joined(keys, own));
  };
  double dear_s = seconds("dear", "64 MB");
  for (const char* bucket : {"2 MB", "5 MB", "10 MB", "25 MB"}) {
    dear_s = std::min(dear_s, seconds("dear", bucket));
  }
  return seconds("bucketed", "64 MB") / dear_s;
}

// DeAR reports gains of up to 83 % on 10 Gb/s Ethernet and 15 % on 100 Gb/s InfiniBand over fused
// buckets, on 64 GPUs.
TEST(CommunicationHeadlines, DearHidesGathersUnderTheForwardPass) {
  struct Network {
    const char* model;
    int samples;
  };
  const Network networks[] = {{"resnet-50", 64},
                              {"densenet-201", 32},
                              {"{base: bert-base, sequence: 64}", 64},
                              {"{base: bert-large, sequence: 64}", 32}};
  const Pair infiniband = {"calibration", "rtx2080ti-pytorch-ib"};
  double ethernet_most = 0;
  double infiniband_most = 0;
  for (const Network& of : networks) {
    const Overrides keys = {{"model", of.model},
                            {"batch.global", std::to_string(64 * of.samples)},
                            {"batch.micro", std::to_string(of.samples)}};
    const double slow = dear_gain(keys);
    const double fast = dear_gain(joined(keys, {nic(100), infiniband}));
    fmt::print("DeAR: {} {:.3f}, on InfiniBand {:.3f}\n", of.model, slow, fast);
    EXPECT_GT(std::min(slow, fast), 1) << of.model;
    ethernet_most = std::max(ethernet_most, slow);
    infiniband_most = std::max(infiniband_most, fast);
  }
  EXPECT_GT(ethernet_most, 1.15);
  EXPECT_LT(ethernet_most, 1.83);
  EXPECT_GT(infiniband_most, 1.1);
  EXPECT_LT(infiniband_most, 1.15);
}

// Published: 4.6 times fewer bytes over a run and up to 2.8 times the speed, for BERT-Large on up
// to 256 GPUs.
TEST(CommunicationHeadlines, OneBitLamb) {
  EXPECT_NEAR(bytes_saved("onebit-lamb"), 4.6, 0.1);
  const auto gain = [](double gigabits) {
    constexpr double kWarmup = 0.165;
    const double dense_s = step_s("onebit-lamb", {nic(gigabits), kDense});
    const double signs_s = step_s("onebit-lamb", {nic(gigabits)});
    return dense_s / (kWarmup * dense_s + (1 - kWarmup) * signs_s);
  };
  fmt::print("1-bit LAMB: bytes {:.2f}, a run {:.2f} (2.8), {:.2f} at 40 Gb/s\n",
             bytes_saved("onebit-lamb"), gain(4.1), gain(40));
  EXPECT_GT(gain(4.1), 2);
  EXPECT_LT(gain(4.1), 2.8);
  EXPECT_LT(gain(40), gain(4.1));
}

// The paper reports 81 % less sparse traffic and 1.8 times the speed.
TEST(CommunicationHeadlines, S2Reducer) {
  const double saved = 1 - 1 / bytes_saved("s2-reducer");
  const double gain = step_s("s2-reducer", {kDense}) / step_s("s2-reducer");
  fmt::print("S2 Reducer: {:.1f} % less, {:.2f} times as fast\n", 100 * saved, gain);
  EXPECT_NEAR(saved, 0.81, 0.02);
  // Missed: the gain is larger here; the machine and network behind the published 1.8 are not
  // known.
  EXPECT_GT(gain, 1.8);
  EXPECT_LT(gain, 1 / (1 - saved));
}

// Two bits are pushed and log2(2P + 1) are pulled, because a sum over 64 ranks takes 7 bits.
TEST(CommunicationHeadlines, TernGrad) {
  EXPECT_NEAR(bytes_saved("terngrad"), 32 / std::log2(129), 0.01);
  for (const double gigabits : {10.0, 1.0}) {
    const double gain =
        step_s("terngrad", {nic(gigabits), kDense}) / step_s("terngrad", {nic(gigabits)});
    fmt::print("TernGrad at {} Gb/s: {:.2f}\n", gigabits, gain);
    EXPECT_GT(gain, 2);
    EXPECT_LT(gain, 32 / std::log2(129));
  }
}

// Published: on 96 GPUs 50 times the speed of one GPU, instead of 23 times, with fully connected
// layers divided over the GPUs. Here there is data parallelism only, and the network is assumed.
TEST(CommunicationHeadlines, EightBits) {
  const double alone_s =
      step_s("eight-bit", {{"cluster.nodes", "1"}, {"batch.global", "128"}, kDense});
  for (const double gigabits : {40.0, 10.0}) {
    const double dense = 96 * alone_s / step_s("eight-bit", {nic(gigabits), kDense});
    const double eight = 96 * alone_s / step_s("eight-bit", {nic(gigabits)});
    fmt::print("8 bits at {} Gb/s: {:.0f} times one GPU against {:.0f}\n", gigabits, eight, dense);
    EXPECT_GT(eight / dense, 1.05);
    EXPECT_LT(eight / dense, 50.0 / 23);
  }
}

// The paper reports up to 2.5 times the speed and 5 times fewer bytes, at the error of one choice
// for all layers.
TEST(CommunicationHeadlines, LGreco) {
  for (const std::string base : {"powersgd", "qsgd", "topk"}) {
    const Overrides same = {compressor(base)};
    const Overrides chosen = {compressor(fmt::format("{{name: lgreco, base: {}}}", base))};
    const double fewer = run_bytes(job_of("l-greco", same)) / run_bytes(job_of("l-greco", chosen));
    const double gain = step_s("l-greco", same) / step_s("l-greco", chosen);
    fmt::print("L-GreCo on {}: bytes {:.2f}, time {:.3f}, over dense {:.2f}\n", base, fewer, gain,
               step_s("l-greco", {kDense}) / step_s("l-greco", chosen));
    EXPECT_GE(fewer, 1 - 1e-9);
    EXPECT_LT(fewer, 5);
    EXPECT_GE(gain, 0.99);
    EXPECT_LT(gain, 2.5);
  }
}

// Published words per second of AdamW without local steps on 8, 16 and 128 GPUs are 18,444, 3,488
// and 22,810.
TEST(CommunicationHeadlines, WithoutCo2) {
  const auto words = [](int nodes, double gigabits) {
    const Overrides keys = {{"cluster.nodes", std::to_string(nodes)},
                            {"batch.global", std::to_string(8 * nodes)},
                            nic(gigabits)};
    return 8 * 2048 * nodes / step_s("co2-baseline", keys);
  };
  for (const double gigabits : {80.0, 40.0}) {
    const double one = words(1, gigabits);
    const double two = words(2, gigabits);
    const double sixteen = words(16, gigabits);
    fmt::print("AdamW at {} Gb/s: {:.0f}, {:.0f}, {:.0f} words/s; 16 to 128: {:.2f}\n", gigabits,
               one, two, sixteen, sixteen / 8 / two);
    EXPECT_LT(two, one / 2);  // a second node halves the speed
    EXPECT_GT(sixteen, one);
    EXPECT_LT(sixteen / 8 / two, 1);  // published: 0.82
  }
}

// The paper reports 2.41 times the speed of the fastest other method on 16 GPUs.
TEST(CommunicationHeadlines, EmbRace) {
  const auto seconds = [](double gigabits, const std::string& overlap, const std::string& rows) {
    return step_s(
        "embrace",
        {{"communication.overlap", overlap}, {"communication.embeddings", rows}, nic(gigabits)});
  };
  std::array<double, 2> gains{};
  for (const double gigabits : {10.0, 100.0}) {
    const double exchanged_s = seconds(gigabits, "priority", "all-to-all");
    const double gathered_s = seconds(gigabits, "bucketed", "all-gather");
    const double gain = seconds(gigabits, "bucketed", "dense") / exchanged_s;
    fmt::print("EmbRace at {} Gb/s: {:.2f} (2.41) over dense tables, {:.2f} over gathered rows\n",
               gigabits, gain, gathered_s / exchanged_s);
    // Missed: here the order of transfers gains less than 2 % over buckets in the order of the
    // backward pass, and the exchange gains less than 2 % over gathered rows.
    EXPECT_NEAR(exchanged_s, seconds(gigabits, "bucketed", "all-to-all"), 0.02 * exchanged_s);
    EXPECT_NEAR(exchanged_s, gathered_s, 0.02 * exchanged_s);
    // Half of the table weights belong to the head, whose gradient stays dense, so that no network
    // allows a gain above 2.
    EXPECT_LT(gain, 2);
    gains[gigabits > 10 ? 1 : 0] = gain;
  }
  EXPECT_GT(gains[1], 1.2);
  EXPECT_GT(gains[0], gains[1]);
}

// Returns the bytes over a GPU's links in both directions for one layer's forward pass.
double context_bytes(const std::string& form) {
  const Job job = job_of("dsp", {{"layout.context", form}});
  return wire_bytes(
      context_traffic(job.layout, context_tensors(BlockSetting(job, {})), Pass::forward),
      job.layout);
}

// Published: 1.32 to 10 times the throughput of the other forms, with a quarter of Ulysses' bytes
// (in a later version: at least half fewer).
TEST(CommunicationHeadlines, Dsp) {
  const auto seconds = [](const std::string& form, const std::string& cp) {
    return step_s(
        "dsp",
        {{"layout.context", form}, {"layout.cp", cp}, {"batch.global", cp == "8" ? "16" : "8"}});
  };
  EXPECT_DOUBLE_EQ(context_bytes("dsp"), context_bytes("ulysses") / 4);
  EXPECT_LT(context_bytes("dsp"), context_bytes("ring") / 4);
  for (const std::string cp : {"8", "16"}) {
    const double own_s = seconds("dsp", cp);
    const double ulysses = seconds("ulysses", cp) / own_s;
    const double ring = seconds("ring", cp) / own_s;
    fmt::print("DSP over {} GPUs a sequence, against Ulysses {:.2f}, a ring {:.2f} (1.32 to 10)\n",
               cp, ulysses, ring);
    EXPECT_GT(ulysses, 1);
    EXPECT_GT(ring, ulysses);
    // Both ends of the published 1.32 to 10 are missed, see docs/physics/communication.md.
    EXPECT_LT(ulysses, 10);
    EXPECT_GT(ring, 1.32);
  }
}

// A controller that runs ahead costs nothing while a step is longer than its dispatches, and much
// if each pass waits for its own dispatch. With a fast network two islands are as fast as one
// (published: 97 % of one island, recalled; the bandwidth between them is assumed).
TEST(PublishedDispatch, PathwaysHidesItsDispatchesAndJoinsIslands) {
  const auto dispatch = [](const std::string& how) {
    return Overrides{{"software.dispatch", "{latency: 35 ms, " + how + "}"}};
  };
  const Overrides none = {{"software.dispatch", "{latency: 0 s}"}};
  const double free_s = step_s("pathways", none);
  EXPECT_NEAR(step_s("pathways"), free_s, 1e-9 * free_s);
  EXPECT_NEAR(step_s("pathways", dispatch("program: step")), free_s, 1e-9 * free_s);
  const double each_s = step_s("pathways", dispatch("program: pass, mode: synchronous"));
  const double one_island_s = step_s("pathways", {{"cluster.fabric", "full-bisection"}});
  fmt::print("Pathways: {:.2f} s, one island {:.2f} s ({:.3f}), dispatches one by one {:.2f} s\n",
             free_s, one_island_s, one_island_s / free_s, each_s);
  EXPECT_GT(each_s, 1.3 * free_s);
  EXPECT_GT(one_island_s / free_s, 0.9);
  EXPECT_LT(one_island_s / free_s, 1);
}

// Kraken has one sum per layer, beside the next layer's attention; Ladder has two, each beside half
// a layer. The figure is the time to the first token relative to a Megatron layer, as the geometric
// mean over sizes, lengths and degrees of tensor parallelism (published: 35.6 % less or more than a
// third faster, arXiv 2408.07802, abstract; the sizes are not known here).
TEST(PublishedOverlap, KrakensFirstTokensComeEarlier) {
  double log_kraken = 0;
  double log_ladder = 0;
  int cases = 0;
  for (const auto& [hidden, heads] : {std::pair{2048, 16}, {4096, 32}, {5120, 40}}) {
    for (const int tp : {4, 8}) {
      for (const int tokens : {128, 512, 2048}) {
        const Overrides size = {{"model.hidden", fmt::format("{}", hidden)},
                                {"model.heads", fmt::format("{}", heads)},
                                {"model.kv_heads", fmt::format("{}", heads)},
                                {"model.ffn", fmt::format("{}", 4 * hidden)},
                                {"batch.sequence", fmt::format("{}", tokens)},
                                {"batch.global", fmt::format("{}", 8 / tp)},
                                {"layout.tp", fmt::format("{}", tp)}};
        const auto forward_s = [&](const std::string& form) {
          const Job job = job_of("kraken", joined(size, {{"software.tp_overlap", form}}));
          return total_seconds(chunk_costs(job)[0].forward);
        };
        const double usual_s = forward_s("none");
        log_kraken += std::log(usual_s / forward_s("kraken"));
        log_ladder += std::log(usual_s / forward_s("ladder"));
        ++cases;
      }
    }
  }
  const double kraken = std::exp(log_kraken / cases);
  const double ladder = std::exp(log_ladder / cases);
  fmt::print("first tokens: Kraken {:.3f} times as early (published 1.356), Ladder {:.3f}\n",
             kraken, ladder);
  EXPECT_GT(kraken, 1.1);
  EXPECT_LT(kraken, 1.6);
  EXPECT_NEAR(ladder, kraken, 0.2);
}

}  // namespace
}  // namespace windtunnel
