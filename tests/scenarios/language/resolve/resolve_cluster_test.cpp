#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "models/workload/layer_table.hpp"
#include "scenarios/language/library/library.hpp"
#include "tests/scenarios/golden.hpp"

namespace windtunnel {
namespace {

Job job_of(const std::string& keys, const std::string& of_cluster = "") {
  return parse_case(fmt::format("name: network\ncluster: {{nodes: 8, node: pcie-rtx2080ti{}}}\n"
                                "precision: fp32\nbatch: {{global: 2048, micro: 64}}\n{}\n",
                                of_cluster.empty() ? "" : ", " + of_cluster, keys),
                    "s.yaml", {})
      .job;
}

std::string fault_of(const std::string& keys) {
  return error_of([&] { job_of(keys); });
}

TEST(ResolveModel, ATableOfLayersIsAModel) {
  const Job job = job_of("model: resnet-50");
  ASSERT_NE(job.network, nullptr);
  EXPECT_EQ(job.network->name, "resnet-50");
  EXPECT_EQ(job.model.name, "resnet-50");
  EXPECT_EQ(job.batch.sequence, 1);
  EXPECT_EQ(job.layout.dp, 32);
  EXPECT_EQ(job_of("model: bert-large").network, nullptr);
}

TEST(ResolveModel, ATableOfLayersStaysAsItIs) {
  EXPECT_EQ(fault_of("model: {base: resnet-50, layers: 3}"),
            "s.yaml:5:34: model.layers: 'resnet-50' is a table of layers, which has no such "
            "dimension");
  EXPECT_EQ(fault_of("model: resnet-5"),
            "s.yaml:5:8: unknown model 'resnet-5'; did you mean 'resnet-50'? (or your own file, "
            "FILE.yaml or FILE.json or FILE.args, or a map of its keys below model)");
}

TEST(ResolveModel, WhatATableOfLayersCannotDoIsNamedWithItsPlace) {
  EXPECT_EQ(fault_of("model: resnet-50\nlayout: {pp: 2}"),
            "s.yaml:6:14: layout.pp is 2, but model 'resnet-50' is a table of layers, which "
            "supports only data parallelism; set it to 1");
  EXPECT_EQ(fault_of("model: resnet-50\nrecompute: full"),
            "s.yaml:6:12: recompute: model 'resnet-50' is a table of layers, for which only a "
            "search can choose the layers to recompute; set recompute: auto, or none");
}

std::string gpu_scenario(const std::string& gpu) {
  return "name: g\nmodel: llama3-8b\ncluster:\n  nodes: 2\n  node: {base: dgx-h100, gpu: " + gpu +
         "}\nbatch: {global: 32}\n";
}

TEST(ResolveNode, AGpuOfTheLibraryIsChangedInPlace) {
  const auto gpu_of = [](const std::string& gpu) {
    return parse_case(gpu_scenario(gpu), "s.yaml").job.cluster.node.gpu;
  };
  const GpuSpec& h100 = find_gpu("h100");
  const GpuSpec larger = gpu_of("{base: h100, memory: 94 GB, memory_bandwidth: 3.9 TB/s}");
  EXPECT_EQ(larger.name, "h100");
  EXPECT_DOUBLE_EQ(larger.memory_bytes.value, 94e9);
  EXPECT_DOUBLE_EQ(larger.memory_Bps.value, 3.9e12);
  EXPECT_EQ(larger.bf16_flops.value, h100.bf16_flops.value);
  EXPECT_DOUBLE_EQ(gpu_of("{bf16: 800 TFLOP/s}").bf16_flops.value, 8e14);  // overridden
  EXPECT_EQ(gpu_of("h200").name, "h200");
}

TEST(ResolveNode, WhatAGpuDoesNotHaveIsNamedWithItsPlace) {
  const auto fault = [](const std::string& gpu) {
    return error_of([&] { parse_case(gpu_scenario(gpu), "s.yaml"); });
  };
  EXPECT_EQ(fault("{base: h100, memry: 94 GB}"),
            "s.yaml:5:44: unknown cluster.node.gpu key 'memry'; did you mean 'memory'?");
  EXPECT_EQ(fault("{base: h10}"), "s.yaml:5:38: unknown gpu 'h10'; did you mean 'h100'?");
  EXPECT_EQ(fault("{memory: 0 GB}").substr(0, 49),
            "s.yaml:5:40: cluster.node.gpu.memory: must be at ");
}

// Returns the error for a scenario, in a folder of its own, whose model is a file beside it.
std::string named_model_fault(const std::string& name, const std::string& text) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "resolve_named_model";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name) << text;
  std::ofstream(folder / "s.yaml") << "name: n\nmodel: {base: " << name
                                   << ", layers: 3, sequence: 512}\n"
                                      "cluster: {nodes: 1, node: dgx-h100}\nbatch: {global: 8}\n";
  const std::string fault = error_of([&] {
    const Job job = load_case((folder / "s.yaml").string()).job;
    EXPECT_EQ(job.model.layers, 3);
    EXPECT_EQ(job.model.hidden, 64);
    EXPECT_EQ(job.batch.sequence, 512);
  });
  std::filesystem::remove_all(folder);
  const std::size_t at = fault.find("model: ");
  return at == std::string::npos ? fault : fault.substr(at);
}

TEST(ResolveModel, OfAnotherProgramsFile) {
  const std::string json = R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
                               "num_attention_heads": 4, "vocab_size": 100)";
  EXPECT_EQ(named_model_fault("config.json", json + ", \"intermediate_size\": 128}"), "no error");
  const std::string missing = named_model_fault("config.json", json + "}");
  EXPECT_NE(missing.find("config.json:1:1: 'intermediate_size' is missing"), std::string::npos)
      << missing;
  EXPECT_EQ(named_model_fault("model.args",
                              "--num-layers 2 --hidden-size 64 --num-attention-heads 4 "
                              "--vocab-size 100"),
            "no error");
}

std::string jitter_fault(const std::string& jitter) {
  return error_of([&] {
    parse_case("name: j\nmodel: llama3-8b\ncluster:\n  nodes: 2\n  node: dgx-h100\n  jitter: " +
                   jitter + "\nbatch: {global: 32}\n",
               "s.yaml", {});
  });
}

TEST(ResolveJitter, EachLawIsRead) {
  const auto jitter_of = [](const std::string& jitter) {
    return job_of("model: resnet-50", "jitter: " + jitter).cluster.jitter;
  };
  EXPECT_EQ(job_of("model: resnet-50").cluster.jitter, Jitter{});
  EXPECT_EQ(jitter_of("{sigma: 0.03}"), Jitter{.sigma = 0.03});
  EXPECT_EQ(
      jitter_of("{sigma: 0.03, per: task, of: node, draws: 4, seed: 9}"),
      (Jitter{.sigma = 0.03, .per = JitterPer::task, .of = JitterOf::node, .draws = 4, .seed = 9}));
  EXPECT_EQ(jitter_of("{gilbert_elliott: {good: 500, bad: 20, slowdown: 1.3}}"),
            (Jitter{.bursts = {.good = 500, .bad = 20, .slowdown = 1.3}}));
  EXPECT_EQ(jitter_of("{share: 0.005, slowdown: 1.1}"), (Jitter{.share = 0.005, .slowdown = 1.1}));
}

TEST(ResolveJitter, WhatIsWrongIsNamedWithItsPlace) {
  const std::pair<const char*, const char*> faults[] = {
      {"{}",
       "s.yaml:6:3: cluster.jitter: no law is stated; add sigma, exponential, pareto, "
       "gilbert_elliott, or share "
       "with slowdown"},
      {"{per: task}",
       "s.yaml:6:3: cluster.jitter: no law is stated; add sigma, exponential, pareto, "
       "gilbert_elliott, "
       "or share with slowdown"},
      {"{sigma: -0.1}", "s.yaml:6:19: cluster.jitter.sigma: must be at least 0, not -0.1"},
      {"{sigma: 3}", "s.yaml:6:19: cluster.jitter.sigma: must be at most 2, not 3"},
      {"{sigma: wide}",
       "s.yaml:6:19: cluster.jitter.sigma: 'wide' is not a number; expected a plain number, e.g. "
       "'0.03'"},
      {"{sigma: 0.1, share: 0.1, slowdown: 2}",
       "s.yaml:6:31: cluster.jitter.share: cluster.jitter.sigma already sets the law of these "
       "factors; keep one of the two"},
      {"{sigma: 0.1, gilbert_elliott: {good: 5, bad: 5, slowdown: 2}}",
       "s.yaml:6:24: cluster.jitter.gilbert_elliott: cluster.jitter.sigma already sets the law "
       "of these factors; keep one of the two"},
      {"{share: 0.1}",
       "s.yaml:6:19: cluster.jitter.share: the slowdown of slow steps is missing; add slowdown"},
      {"{slowdown: 2}",
       "s.yaml:6:22: cluster.jitter.slowdown: the share of slow steps is missing; add share"},
      {"{sigma: 0.1, slowdown: 2}",
       "s.yaml:6:34: cluster.jitter.slowdown: the share of slow steps is missing; add share"},
      {"{share: 1.5, slowdown: 2}",
       "s.yaml:6:19: cluster.jitter.share: must be at most 1, not 1.5"},
      {"{share: 0.5, slowdown: 0.5}",
       "s.yaml:6:34: cluster.jitter.slowdown: must be at least 1, not 0.5"},
      {"{gilbert_elliott: {good: 5, bad: 5}}",
       "s.yaml:6:29: cluster.jitter.gilbert_elliott has no 'slowdown'; add e.g. 'slowdown: 1.3'"},
      {"{gilbert_elliott: {good: 0.5, bad: 5, slowdown: 2}}",
       "s.yaml:6:36: cluster.jitter.gilbert_elliott.good: must be at least 1, not 0.5"},
      {"{gilbert_elliott: {good: 5, bad: 0, slowdown: 2}}",
       "s.yaml:6:44: cluster.jitter.gilbert_elliott.bad: must be at least 1, not 0"},
      {"{gilbert_elliott: {good: 5, bad: 5, slowdown: 0.9}}",
       "s.yaml:6:57: cluster.jitter.gilbert_elliott.slowdown: must be at least 1, not 0.9"},
      {"{gilbert_elliot: {good: 5, bad: 5, slowdown: 2}}",
       "s.yaml:6:12: unknown cluster.jitter key 'gilbert_elliot'; did you mean 'gilbert_elliott'?"},
      {"{sigma: 0.1, per: iteration}",
       "s.yaml:6:29: unknown per 'iteration'; known: step, task, run"},
      {"{sigma: 0.1, of: rack}", "s.yaml:6:28: unknown of 'rack'; known: gpu, node"},
      {"{sigma: 0.1, draws: 1}", "s.yaml:6:31: cluster.jitter.draws: must be at least 2, not 1"},
      {"{sigma: 0.1, draws: 2.5}",
       "s.yaml:6:31: cluster.jitter.draws: expected a whole number, not '2.5'; e.g. 'draws: 32'"},
      {"{sigma: 0.1, draws: 1001}",
       "s.yaml:6:31: cluster.jitter.draws: must be at most 1000, not 1001"},
      {"{sigma: 0.1, seed: -1}", "s.yaml:6:30: cluster.jitter.seed: must be at least 0, not -1"},
      {"0.03",
       "s.yaml:6:11: cluster.jitter: expected a map, not '0.03'; e.g. 'jitter: {sigma: 0.03}'"},
      {"[0.03]",
       "s.yaml:6:11: cluster.jitter: expected a map, not a list; e.g. 'jitter: {sigma: 0.03}'"}};
  for (const auto& [jitter, expected] : faults) {
    EXPECT_EQ(jitter_fault(jitter), expected) << jitter;
  }
}

}  // namespace
}  // namespace windtunnel
