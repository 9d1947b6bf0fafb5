#include "scenarios/language/library/facts/training_software.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "models/base/error.hpp"
#include "models/cost/memory/memory.hpp"
#include "policies/schedules/schedules.hpp"
#include "scenarios/language/case.hpp"
#include "scenarios/language/library/library.hpp"
#include "scenarios/language/text/fields.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

// Returns a job on 64 GPUs, with `batch` sequences in micro-batches of one.
Case job_of(const std::string& software, const std::string& layout, int batch,
            const std::string& more = "") {
  return parse_case(
      "name: t\nmodel: llama3-8b\ncluster: {nodes: 8, node: dgx-h100}\nlayout: " + layout +
          "\nbatch: {global: " + std::to_string(batch) +
          ", micro: 1, sequence: 8192}\nprecision: bf16\nsoftware: " + software + "\n" + more,
      "t.yaml");
}

bool noted(const Case& the_case, const std::string& text) {
  return std::ranges::any_of(the_case.notes, [&](const Note& note) {
    return note.key == "software" && note.text.find(text) != std::string::npos;
  });
}

TEST(TrainingSoftware, NamesSchedulesKeysAndGpusThatThereAre) {
  for (const Framework& framework : frameworks()) {
    EXPECT_FALSE(framework.source.empty());
    EXPECT_FALSE(framework.sharding.empty());
    EXPECT_FALSE(framework.sharding_in_pipelines.empty());
    for (const std::string& schedule : framework.schedules) {
      EXPECT_TRUE(std::ranges::any_of(schedule_kinds(), [&](const ScheduleKind& kind) {
        return kind.name == schedule;
      })) << schedule;
    }
    for (const auto& [key, value] : framework.set) EXPECT_NE(find_field(key), nullptr) << key;
    for (const std::string& name : framework.gpus) {
      EXPECT_TRUE(std::ranges::any_of(
          library_gpus(), [&](const GpuSpec& gpu) { return gpu.name.starts_with(name); }))
          << framework.name << ": " << name;
    }
    for (const SoftwareRule& rule : framework.rules) {
      EXPECT_FALSE(rule.any.empty()) << rule.name;
      EXPECT_FALSE(rule.source.empty()) << rule.name;
      EXPECT_FALSE(rule.instead.empty()) << rule.name;
    }
  }
}

// Bytes per parameter of weights and optimizer state: kept in memory over 64 ranks, and written.
TEST(TrainingSoftware, KeepsAndWritesWhatItDoes) {
  struct Holds {
    const char* software;
    const char* sharding;
    double kept;
    double written;
  };
  // Under zero1 and zero2 the 16-bit weights are not sharded.
  for (const Holds& of :
       {Holds{"megatron", "zero1", 2 + 12 / 64.0, 14}, Holds{"deepspeed", "zero3", 14 / 64.0, 12},
        Holds{"deepspeed", "zero1", 2 + 12 / 64.0, 14}, Holds{"torchtitan", "zero3", 12 / 64.0, 12},
        Holds{"maxtext", "zero3", 12 / 64.0, 12}, Holds{"neuron", "zero1", 2 + 12 / 64.0, 10},
        Holds{"gaudi-deepspeed", "zero1", 2 + 12 / 64.0, 14}}) {
    SCOPED_TRACE(std::string(of.software) + ", " + of.sharding);
    Overrides set = find_framework(of.software).set;
    set.emplace_back("layout.sharding", of.sharding);
    set.emplace_back("recompute", "full");
    const Case the_case = parse_case(
        "name: t\nmodel: llama3-8b\ncluster: {nodes: 8, node: dgx-h100}\n"
        "batch: {global: 64, micro: 1, sequence: 1024}\nprecision: bf16\n",
        "t.yaml", set);
    const Job& job = the_case.job;
    const GpuMemory& at = the_case.prepared->memory[0];
    const std::vector<ChunkCost> chunks = chunk_costs(job);
    const double parameters = chunks[0].parameters;
    EXPECT_NEAR((at.weights + at.optimizer) / parameters, of.kept, 1e-9);
    EXPECT_NEAR(64 * snapshot_bytes_per_gpu(job, chunks)[0] / parameters, of.written, 1e-9);
  }
}

// A refusal either suggests a sharding that the software has, or says which it has.
TEST(TrainingSoftware, RefusalsThatNameAShardingNameThoseOfTheSoftware) {
  const std::string layout = "{tp: 1, pp: 2, sharding: zero1}";
  const std::string offload = "offload: {optimizer: host, gradients: host}\n";
  const auto refusal = [&](const std::string& software) {
    return error_of([&] { job_of(software, layout, 64, offload); });
  };
  const std::string advice = "layout.sharding: zero2 or zero3, or leave offload.gradients out";
  EXPECT_THAT(
      refusal("torchtitan"),
      testing::EndsWith(advice + "; torchtitan supports sharding zero3, with a pipeline zero1"));
  EXPECT_THAT(refusal("any"), testing::EndsWith(advice));
}

// Megatron-Core's schedules.py checks M mod N: 5 micro-batches on pp 2 leave 1, 8 on pp 4 leave 0.
// With groups of 3 on pp 2 five leave 2, which are enough.
TEST(TrainingSoftware, InterleavingRefusesASmallLastGroup) {
  const std::string pp2 = "{tp: 1, pp: 2, vpp: 2, sharding: zero1}";
  const std::string pp4 = "{tp: 1, pp: 4, vpp: 2, sharding: zero1}";
  const std::string set = "{base: megatron, gradients: bf16, reductions: bf16}";
  const std::string interleaved = "schedule: interleaved-1f1b\n";
  EXPECT_TRUE(noted(job_of(set, pp2, 5 * 32, interleaved), "full-groups"));
  EXPECT_TRUE(noted(job_of(set, pp4, 11 * 16, interleaved), "full-groups"));
  EXPECT_FALSE(noted(job_of(set, pp4, 8 * 16, interleaved), "refuse"));
  EXPECT_FALSE(noted(job_of(set, "{tp: 1, pp: 2, sharding: zero1}", 5 * 32), "refuse"));
  EXPECT_FALSE(noted(job_of(set, pp2, 5 * 32, "schedule: {name: interleaved-1f1b, group: 3}\n"),
                     "full-groups"));
}

// PyTorch requires equal rounds: 5 micro-batches on pp 2 make two rounds, 3 make one.
TEST(TrainingSoftware, TorchAsksForEqualRounds) {
  const std::string layout = "{tp: 1, pp: 2, vpp: 2, sharding: zero1}";
  const std::string interleaved = "schedule: interleaved-1f1b\n";
  EXPECT_TRUE(noted(job_of("torchtitan", layout, 5 * 32, interleaved), "equal-rounds"));
  EXPECT_FALSE(noted(job_of("torchtitan", layout, 3 * 32, interleaved), "equal-rounds"));
}

// Schedule1F1B refuses fewer micro-batches than stages; ScheduleGPipe and Megatron-Core accept
// them.
TEST(TrainingSoftware, TorchsPipelinesAskForAMicroBatchOfEachStage) {
  const std::string layout = "{tp: 1, pp: 4, sharding: zero1}";
  EXPECT_TRUE(noted(job_of("torchtitan", layout, 3 * 16), "micro-batches-fill"));
  EXPECT_FALSE(noted(job_of("torchtitan", layout, 4 * 16), "refuse"));
  EXPECT_FALSE(noted(job_of("torchtitan", layout, 3 * 16, "schedule: gpipe\n"), "refuse"));
  EXPECT_FALSE(noted(job_of("{base: megatron, gradients: bf16, reductions: bf16}", layout, 3 * 16),
                     "refuse"));
}

// _check_torch_compile_compatibility in PyTorch's schedules.py refuses this.
TEST(TrainingSoftware, TorchSplitsNoBackwardPassOfCompiledLayers) {
  const std::string layout = "{tp: 1, pp: 4, vpp: 2, sharding: zero1}";
  for (const char* schedule : {"schedule: zb-v\n", "schedule: dualpipev\n"}) {
    EXPECT_TRUE(noted(job_of("{base: torchtitan, fusion: compiled}", layout, 8 * 16, schedule),
                      "uncompiled-halves"));
    EXPECT_FALSE(
        noted(job_of("{base: torchtitan, fusion: none}", layout, 8 * 16, schedule), "refuse"));
  }
}

// Gradients stay unsharded until the last micro-batch (backward_maybe_with_nosync in PyTorch).
TEST(TrainingSoftware, TorchsPipelinesScatterGradientsOnce) {
  EXPECT_TRUE(noted(job_of("torchtitan", "{tp: 1, pp: 4, sharding: zero2}", 64),
                    "does not support sharding zero2"));
  EXPECT_FALSE(
      noted(job_of("torchtitan", "{tp: 1, pp: 4, sharding: zero1}", 64), "support sharding"));
}

TEST(TrainingSoftware, ExpertsWithTpAskForSequenceParallelismWhateverEpIs) {
  const auto mixtral = [](const std::string& sequence_parallel) {
    return parse_case(
        "name: t\nmodel: mixtral-8x7b\ncluster: {nodes: 1, node: dgx-h100}\n"
        "layout: {tp: 2, pp: 1, ep: 1, sharding: zero1, sequence_parallel: " +
            sequence_parallel +
            "}\nbatch: {global: 64, micro: 1, sequence: 4096}\nprecision: bf16\n"
            "software: megatron\n",
        "t.yaml");
  };
  EXPECT_TRUE(noted(mixtral("false"), "sequence-parallel-experts"));
  EXPECT_FALSE(noted(mixtral("true"), "sequence-parallel-experts"));
}

TEST(TrainingSoftware, WhatAnEntryDoesNotListIsTold) {
  const std::string pipeline = "{tp: 1, pp: 2, sharding: zero2}";
  EXPECT_TRUE(noted(job_of("deepspeed", pipeline, 64), "no-gradient-shards-in-pipelines"));
  EXPECT_TRUE(noted(job_of("maxtext", "{tp: 1, pp: 1, sharding: zero3}", 64), "does not run on"));
  EXPECT_TRUE(
      noted(job_of("deepspeed", "{tp: 1, pp: 2, vpp: 2}", 64, "schedule: interleaved-1f1b\n"),
            "does not run schedule interleaved-1f1b"));
  EXPECT_TRUE(noted(job_of("{base: megatron, gradients: fp32, reductions: bf16}",
                           "{tp: 1, pp: 1, sharding: zero1}", 64),
                    "one-gradient-type"));
}

TEST(TrainingSoftware, OfEachGpu) {
  EXPECT_EQ(usual_framework("h100").name, "megatron");
  EXPECT_EQ(usual_framework("mi300x").name, "megatron");
  EXPECT_EQ(usual_framework("tpu-v5p").name, "maxtext");
  EXPECT_EQ(usual_framework("trainium2").name, "neuron");
  EXPECT_EQ(usual_framework("gaudi3").name, "gaudi-deepspeed");
  EXPECT_THROW(usual_framework("cpu-core"), Error);
  EXPECT_THROW(check_runs_on(find_framework("megatron"), "tpu-v4"), Error);
  EXPECT_NO_THROW(check_runs_on(find_framework("any"), "cpu-core"));
}

// A stated value also wins if the software states it by another key, or by a part of the key.
TEST(TrainingSoftware, AnotherNameOrAPartOfWhatIsStatedStays) {
  const std::string layout = "{tp: 1, pp: 1}";
  const Job bytes = job_of("megatron-core", layout, 64, "communication: {bucket: 50 MB}\n").job;
  EXPECT_EQ(bytes.communication.bucket_elements, 0);
  EXPECT_EQ(bytes.communication.bucket_bytes, 50e6);
  EXPECT_EQ(job_of("megatron-core", layout, 64).job.communication.bucket_elements, 40e6);
  const Job modules = parse_case(
                          "name: t\nmodel: llama3-8b\ncluster: {nodes: 1, node: mi300x}\n"
                          "layout: {tp: 8}\nbatch: {global: 8, micro: 1}\nsoftware: mlperf-amd\n"
                          "recompute: {modules: [core_attn]}\n",
                          "t.yaml")
                          .job;
  EXPECT_EQ(modules.recompute.layers, Recompute::of(RecomputeModule::core_attn).layers);
}

TEST(TrainingSoftware, NamingItIsStatingWhatItSets) {
  const std::string layout = "{tp: 1, pp: 1, sharding: zero3}";
  EXPECT_EQ(job_of("torchtitan", layout, 64).key,
            job_of("{reductions: fp32, logit_memory: 14 B, fusion: compiled, repeated_keys: true, "
                   "kept_expert_outputs: true, shard_copies: true, fp32_shards: true, "
                   "host_shard: 1.1 ms}",
                   layout, 64, "communication: {overlap: bucketed}\n")
                .key);
  EXPECT_NE(job_of("torchtitan", layout, 64).key, job_of("{}", layout, 64).key);
}

TEST(TrainingSoftware, WhatTheScenarioStatesStays) {
  const std::string layout = "{tp: 2, pp: 1}";
  const Job named = job_of("megatron-core", layout, 64).job;
  EXPECT_EQ(named.layout.sharding, Sharding::zero1);
  EXPECT_TRUE(named.layout.sequence_parallel);
  EXPECT_EQ(named.software.tp_overlap, TensorOverlap::pipelined);
  EXPECT_EQ(
      job_of("{base: megatron-core, gradients: bf16}", layout, 64).job.software.gradient_bytes, 2);
  EXPECT_EQ(job_of("megatron-core", "{tp: 2, pp: 1, sharding: zero3}", 64).job.layout.sharding,
            Sharding::zero3);
  // Dependent settings follow: without sequence parallelism tensor parallelism overlaps nothing.
  const Job plain = job_of("megatron-core", "{tp: 2, pp: 1, sequence_parallel: false}", 64).job;
  EXPECT_FALSE(plain.layout.sequence_parallel);
  EXPECT_EQ(plain.software.tp_overlap, TensorOverlap::none);
}

TEST(TrainingSoftware, AReleaseIsItsBaseAndWhatDiffers) {
  const std::string layout = "{tp: 1, pp: 1}";
  EXPECT_FALSE(job_of("megatron-bridge", "{tp: 1, pp: 2}", 64).job.software.cuda_graphs);
  EXPECT_TRUE(job_of("megatron-bridge-26.06", layout, 64).job.software.cuda_graphs);
  EXPECT_EQ(job_of("torchtitan-2024-12", layout, 64).job.software.fusion, Fusion::none);
  EXPECT_EQ(job_of("torchtitan-2025-06", layout, 64).job.software.fusion, Fusion::compiled);
  EXPECT_EQ(job_of("torchtune", layout, 64).job.recompute, Recompute::full);
  EXPECT_EQ(job_of("torchtune", layout, 64, "recompute: none\n").job.recompute, Recompute::none);
}

// Release 0.10 brought groups of 3 on pp 2, and experts that divide the ranks of a stage; 0.8
// brought context parallelism beside experts, and 0.7 buckets that grow with dp.
TEST(TrainingSoftware, OlderReleasesOfMegatronCoreTakeLess) {
  const auto in_groups = [](const char* release) {
    return noted(job_of(release, "{tp: 1, pp: 2, vpp: 2, sharding: zero1}", 5 * 32,
                        "schedule: {name: interleaved-1f1b, group: 3}\n"),
                 "rounds-of-a-pipeline");
  };
  EXPECT_FALSE(in_groups("megatron-core"));
  EXPECT_TRUE(in_groups("megatron-core-0.9"));
  const auto case_of = [](const char* release, const char* layout) {
    return parse_case(std::string("name: t\nmodel: mixtral-8x7b\n"
                                  "cluster: {nodes: 2, node: dgx-h100}\nlayout: ") +
                          layout +
                          "\nbatch: {global: 64, micro: 1, sequence: 4096}\n"
                          "precision: bf16\nsoftware: " +
                          release + "\n",
                      "t.yaml");
  };
  const auto with_experts = [&](const char* release, const char* layout, const char* rule) {
    return noted(case_of(release, layout), rule);
  };
  const char* over_tp = "{tp: 4, pp: 1, ep: 8}";
  EXPECT_FALSE(with_experts("megatron-core", over_tp, "replicas-by-ep"));
  EXPECT_TRUE(with_experts("megatron-core-0.9", over_tp, "replicas-by-ep"));
  const char* sliced = "{tp: 4, pp: 1, ep: 4}";
  EXPECT_EQ(case_of("megatron-core", sliced).job.layout.ep_tokens, ExpertTokens::divided);
  EXPECT_EQ(case_of("megatron-core-0.9", sliced).job.layout.ep_tokens, ExpertTokens::gathered);
  const char* beside_cp = "{tp: 1, pp: 1, cp: 2, ep: 4}";
  EXPECT_FALSE(with_experts("megatron-core-0.9", beside_cp, "no-experts-beside-cp"));
  EXPECT_TRUE(with_experts("megatron-core-0.7", beside_cp, "no-experts-beside-cp"));
  const auto growth = [](const char* release) {
    return job_of(release, "{tp: 1, pp: 1}", 64).job.communication.bucket_elements_per_replica;
  };
  EXPECT_EQ(growth("megatron-core-0.7"), 1e6);
  EXPECT_EQ(growth("megatron-core-0.6"), 0);
}

// Whether recomputing a layer stops as soon as the backward pass has all that it reads.
TEST(TrainingSoftware, CheckpointsOfHuggingFace) {
  const auto stops_early = [](const char* software) {
    return job_of(software, "{tp: 1, pp: 1}", 64, "recompute: full\n").job.software.early_stop;
  };
  EXPECT_FALSE(stops_early("hf-trainer"));
  EXPECT_FALSE(stops_early("llama-factory"));
  EXPECT_TRUE(stops_early("axolotl"));
}

TEST(TrainingSoftware, LiBaiOverlapsReplicasAlone) {
  const auto overlap = [](const char* layout) {
    return job_of("libai", layout, 64).job.communication.overlap;
  };
  EXPECT_EQ(overlap("{tp: 1, pp: 1}"), GradientOverlap::bucketed);
  EXPECT_EQ(overlap("{tp: 2, pp: 1}"), GradientOverlap::none);
  EXPECT_EQ(overlap("{tp: 1, pp: 2}"), GradientOverlap::none);
}

// Models with experts keep layers gathered; others gather them in each micro-batch.
TEST(TrainingSoftware, AutoModelShardsByModel) {
  EXPECT_EQ(job_of("nemo-automodel", "{tp: 1, pp: 1}", 64).job.layout.sharding, Sharding::zero3);
  const Job experts = parse_case(
                          "name: t\nmodel: mixtral-8x7b\ncluster: {nodes: 2, node: dgx-h100}\n"
                          "layout: {tp: 1, pp: 1, ep: 8}\n"
                          "batch: {global: 64, micro: 1, sequence: 4096}\nprecision: bf16\n"
                          "software: nemo-automodel\n",
                          "t.yaml")
                          .job;
  EXPECT_EQ(experts.layout.sharding, Sharding::zero1);
  EXPECT_TRUE(experts.software.ep_merged);
}

// The source is the entry that states the key, not the named entry that is based on it.
TEST(TrainingSoftware, EachKeyHasTheSourceOfItsEntry) {
  const Case the_case = job_of("torchtitan-2025-06", "{tp: 1, pp: 1}", 64);
  const auto source = [&](std::string_view key) {
    return std::ranges::find(the_case.values, key, &ResolvedValue::key)->source;
  };
  EXPECT_EQ(source("software.logit_memory"), find_framework("torchtitan").source);
  EXPECT_EQ(source("software.early_stop"), find_framework("torchtitan-2024-12").source);
  EXPECT_EQ(source("software.fusion"), find_framework("torchtitan-2024-12-compiled").source);
}

// Experts with tp need sequence parallelism, which the software turns on.
TEST(TrainingSoftware, ConditionsAreAskedBeforeTheJobIsChecked) {
  const Case the_case = parse_case(
      "name: t\nmodel: mixtral-8x7b\ncluster: {nodes: 1, node: dgx-h100}\n"
      "layout: {tp: 2, pp: 1, ep: 4}\nbatch: {global: 64, micro: 1, sequence: 4096}\n"
      "precision: bf16\nsoftware: megatron-core\n",
      "t.yaml");
  EXPECT_TRUE(the_case.job.layout.sequence_parallel);
}

// Two reasons that differ only in numbers of micro-batches are the same broken rule.
TEST(TrainingSoftware, ABrokenRuleIsTheSameWhateverItsNumbers) {
  const std::string layout = "{tp: 1, pp: 4, sharding: zero1}";
  const Job three = job_of("torchtitan", layout, 3 * 16).job;
  const Job two = job_of("torchtitan", layout, 2 * 16).job;
  const Job four = job_of("torchtitan", layout, 4 * 16).job;
  const Framework& software = find_framework("torchtitan");
  EXPECT_NE(broken_rules(software, three)[0].text, broken_rules(software, two)[0].text);
  EXPECT_TRUE(takes_as_well(&software, two, three));
  EXPECT_FALSE(takes_as_well(&software, three, four));
  // An unsupported feature is a different rule.
  Job zero2 = three;
  zero2.layout.sharding = Sharding::zero2;
  EXPECT_FALSE(takes_as_well(&software, zero2, three));
}

// The help stands at the head of exported rows, without any other entry, to which it could refer.
TEST(TrainingSoftware, HelpNeedsNoEntryBesideIt) {
  for (const Framework& framework : frameworks()) {
    EXPECT_FALSE(framework.help.starts_with("the same")) << framework.name;
    EXPECT_FALSE(framework.help.starts_with("as ")) << framework.name;
  }
}

TEST(TrainingSoftware, AFitNamesItsSource) {
  const auto read = [](const std::string& item) {
    return error_of([&] { read_choices(parse_document("- {" + item + "}", "t.yaml"), "e", "s"); });
  };
  const std::string fitted = "set: {software.host_step: 5 ms}, fitted_on: {where: gpus==8}";
  EXPECT_EQ(read(fitted), "t.yaml:1:48: fitted_on: the number also needs a source");
  EXPECT_EQ(read(fitted + ", source: rows"), "no error");
}

// Without a pipeline an iteration is one graph, and with one it is not; the test changes in both
// directions.
TEST(TrainingSoftware, AnotherLayoutIsChosenForAnew) {
  const Framework& software = find_framework("megatron-bridge");
  const auto nothing = [](std::string_view) { return false; };
  const auto job = [](const std::string& layout) {
    return job_of("megatron-bridge", layout, 64).job;
  };
  Job changed = job("{tp: 1, pp: 1}");
  ASSERT_TRUE(changed.software.cuda_graphs);
  changed.layout.pp = 2;
  changed.layout.dp /= 2;
  choose_again(software, nothing, changed);
  EXPECT_FALSE(changed.software.cuda_graphs);
  changed.layout.pp = 1;
  choose_again(software, nothing, changed);
  EXPECT_TRUE(changed.software.cuda_graphs);
  choose_again(
      software, [](std::string_view key) { return key == "software.cuda_graphs"; }, changed);
  EXPECT_TRUE(changed.software.cuda_graphs);
}

// This includes keys without a default, such as which layers recompute, which depends on cp on
// MI300X.
TEST(TrainingSoftware, KeysWithoutADefaultAreChosenForAnew) {
  const Framework& software = find_framework("mlperf-amd");
  const auto nothing = [](std::string_view) { return false; };
  Job changed = parse_case(
                    "name: t\nmodel: llama3-8b\ncluster: {nodes: 1, node: mi300x}\n"
                    "layout: {tp: 1, pp: 1}\nbatch: {global: 8, micro: 1}\nsoftware: mlperf-amd\n",
                    "t.yaml")
                    .job;
  const Recompute own = changed.recompute;
  ASSERT_EQ(own.modules, Recompute::full.modules);
  ASSERT_EQ(own.layers, 21);
  changed.layout.cp = 2;
  changed.layout.dp /= 2;
  choose_again(software, nothing, changed);
  EXPECT_EQ(changed.recompute, Recompute::none);
  changed.layout.cp = 1;
  choose_again(software, nothing, changed);
  EXPECT_EQ(changed.recompute, own);
  const auto is_recompute = [](std::string_view key) { return key.starts_with("recompute"); };
  changed.recompute = Recompute::selective;
  choose_again(software, is_recompute, changed);
  EXPECT_EQ(changed.recompute, Recompute::selective);
}

TEST(TrainingSoftware, TheSourceOfAKeyIsThatOfTheLastChoice) {
  Framework software;
  software.name = "e";
  software.source = "entry";
  software.choices =
      read_choices(parse_document("[{set: {software.host_step: 5 ms}, source: first}, {set: "
                                  "{software.host_step: 6 ms}, source: last}]",
                                  "t.yaml"),
                   "e", "entry");
  EXPECT_EQ(source_of(software, "software.host_step"), "last");
  EXPECT_EQ(source_of(software, "software.sends"), "entry");
}

// Without columns the message ends without a list of them.
TEST(TrainingSoftware, AChoiceWithoutAJobHasNoQuantities) {
  const auto read = [] {
    read_choices(
        parse_document("[{when: [[pp, equals, 1]], set: {software.host_step: 5 ms}}]", "t.yaml"),
        "e", "s", {.of_job = false});
  };
  EXPECT_THAT(error_of(read), testing::EndsWith("here only quantities of a row are known"));
}

// Software may choose a compressor of gradients; compressors of other axes have keys of their own.
TEST(TrainingSoftware, ChoosesACompressorOfGradients) {
  const DocumentNode set = parse_document(
      "{communication.compressor.name: powersgd, communication.compressor.rank: 2}", "t.yaml");
  Job job;
  choose(
      {read_choice(set, "e", "s")}, [](std::string_view) { return false; }, job);
  EXPECT_EQ(job.communication.compressors.dp.name, "powersgd");
  EXPECT_EQ(job.communication.compressors.dp.rank, 2);
  const DocumentNode other = parse_document("{compress: [{axis: ep, name: fp8}]}", "t.yaml");
  EXPECT_THAT(error_of([&] { read_choice(other, "e", "s"); }),
              testing::EndsWith("is not a key that a training software can set"));
}

// Modules of a list are added to those of earlier choices; what the user states for `recompute`
// stays.
TEST(TrainingSoftware, ChoosesFurtherModulesOfRecomputation) {
  const auto read = [](const char* set) {
    return read_choice(parse_document(set, "t.yaml"), "e", "s");
  };
  const std::vector<SoftwareChoice> choices = {read("{recompute: op}"),
                                               read("{recompute: [core_attn]}")};
  Job job;
  choose(
      choices, [](std::string_view) { return false; }, job);
  using enum RecomputeModule;
  EXPECT_EQ(job.recompute, Recompute::of(matmuls, core_attn));
  Job told;
  choose(
      choices, [](std::string_view key) { return key == "recompute"; }, told);
  EXPECT_EQ(told.recompute, Recompute::none);
}

// Each entry makes a valid job of a plain scenario.
TEST(TrainingSoftware, EveryEntryMakesAJob) {
  for (const Framework& framework : frameworks()) {
    SCOPED_TRACE(framework.name);
    EXPECT_NO_THROW(job_of(framework.name, "{tp: 1, pp: 1}", 64));
    for (const SoftwareChoice& choice : framework.choices) EXPECT_FALSE(choice.values.empty());
  }
}

}  // namespace
}  // namespace windtunnel
