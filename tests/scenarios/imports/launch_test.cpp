// Jobs that are written as configurations of training programs: imported again they must be the
// same job, and settings that cannot be written must be named.
#include "scenarios/language/imports/launch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "models/base/error.hpp"
#include "scenarios/language/imports/import.hpp"
#include "scenarios/language/library/facts/training_software.hpp"

namespace windtunnel {
namespace {

struct LaunchRow {
  std::string name, program, scenario;
  std::set<std::string> unsaid;  // keys that the program has no setting for
};

std::string job(const std::string& model, int nodes, const std::string& software,
                const std::string& rest) {
  return fmt::format(
      "name: job\nmodel: {}\ncluster: {{nodes: {}, node: dgx-h100}}\nsoftware: {}\n{}\n", model,
      nodes, software, rest);
}

std::vector<LaunchRow> launch_rows() {
  const std::string megatron =
      "layout: {tp: 4, pp: 2, vpp: 10, sharding: zero1, sequence_parallel: true}\n"
      "schedule: interleaved-1f1b\nbatch: {global: 512, micro: 1, sequence: 8192}\n"
      "precision: bf16\nrecompute: selective";
  const std::string dense =
      "layout: {tp: 8, sharding: zero1, sequence_parallel: true}\n"
      "batch: {global: 256, micro: 2, sequence: 4096}\nprecision: fp8\nrecompute: none";
  const std::string experts =
      "layout: {tp: 2, pp: 4, ep: 8, sharding: zero1, sequence_parallel: true}\n"
      "schedule: 1f1b\nbatch: {global: 256, micro: 1, sequence: 4096}\nprecision: bf16";
  const std::string experts_16 =
      "layout: {tp: 1, pp: 1, ep: 64, sharding: zero1}\n"
      "batch: {global: 512, micro: 1, sequence: 4096}\nprecision: bf16";
  const std::string fsdp =
      "layout: {sharding: zero3}\nbatch: {global: 64, micro: 1, sequence: 8192}\n"
      "precision: bf16\nrecompute: full";
  const std::string fsdp_tp =
      "layout: {tp: 8, sharding: zero3, sequence_parallel: true}\n"
      "batch: {global: 64, micro: 2, sequence: 8192}\nprecision: bf16\nrecompute: op";
  const std::string pipeline =
      "layout: {pp: 8, sharding: zero3}\nschedule: 1f1b\n"
      "batch: {global: 128, micro: 1, sequence: 8192}\nprecision: bf16\nrecompute: none";
  const std::string zero =
      "layout: {sharding: zero3}\nbatch: {global: 128, micro: 2, sequence: 4096}\n"
      "precision: bf16\nrecompute: none";
  return {
      {"MegatronDense", "megatron", job("llama3-70b", 64, "megatron-lm", megatron), {}},
      {"MegatronOverlapped", "megatron", job("llama3-70b", 64, "megatron", megatron), {}},
      {"MegatronFp8", "megatron", job("llama3-8b", 4, "megatron-lm", dense), {}},
      {"MegatronExperts", "megatron", job("mixtral-8x7b", 8, "megatron-lm", experts), {}},
      {"BridgeDense", "bridge", job("llama3-70b", 64, "megatron-bridge-26.06", megatron), {}},
      {"BridgeExperts", "bridge", job("mixtral-8x7b", 8, "megatron-bridge-26.06", experts), {}},
      {"TorchtitanFsdp", "torchtitan", job("llama3-8b", 8, "torchtitan", fsdp), {}},
      {"TorchtitanTp", "torchtitan", job("llama3-70b", 32, "torchtitan", fsdp_tp), {}},
      {"TorchtitanPipeline", "torchtitan", job("llama3-8b", 8, "torchtitan", pipeline), {}},
      {"DeepSpeedZero3",
       "deepspeed",
       job("llama3-8b", 4, "deepspeed", zero),
       {"model", "batch.sequence"}},
      // The job states the opposite of what the software would do.
      {"MegatronWithoutDropout",
       "megatron",
       job("{base: llama3-8b, dropout: false}", 4, "megatron-lm", dense),
       {}},
      {"MegatronGroupsOfExperts",
       "megatron",
       job("deepseek-v3", 32, "megatron-lm", experts_16),
       {}},
      {"MegatronHybrid", "megatron", job("nemotron-h-8b", 8, "megatron-lm", dense), {}},
  };
}

LaunchRow launch_row(const std::string& name) {
  for (const LaunchRow& row : launch_rows()) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return {};
}

// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for
void PrintTo(const LaunchRow& row, std::ostream* out) {
  *out << row.name;
}

class LaunchedJob : public testing::TestWithParam<LaunchRow> {};

TEST_P(LaunchedJob, ComesBackAsTheSameJob) {
  const LaunchRow& row = GetParam();
  const Launch launch = launch_of({.file = "job.yaml", .text = row.scenario}, row.program);
  std::set<std::string> unsaid;
  for (const UnsaidKey& each : launch.unsaid) {
    unsaid.insert(each.key);
    EXPECT_TRUE(row.unsaid.contains(each.key))
        << each.key << " is '" << each.value << "' and becomes '" << each.launched << "' by\n"
        << launch.text;
  }
  EXPECT_EQ(unsaid, row.unsaid);
}

// Here the import reports unknown settings, and not the launch.
TEST_P(LaunchedJob, IsReadWithoutAnUnknownSetting) {
  const LaunchRow& row = GetParam();
  const Launch launch = launch_of({.file = "job.yaml", .text = row.scenario}, row.program);
  ImportRequest request{.files = {launch.file},
                        .kind = "",
                        .set = {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "64"}},
                        .texts = {{launch.file, launch.text}}};
  if (row.unsaid.contains("model")) {
    request.set.emplace_back("model", "llama3-8b");
    request.set.emplace_back("batch.sequence", "4096");
  }
  const ImportedScenario imported = import_scenario(request);
  for (const LeftOut& left : imported.left_out) {
    ADD_FAILURE() << left.setting.name << ": " << left.why;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LaunchedJob, testing::ValuesIn(launch_rows()),
                         [](const auto& at) { return at.param.name; });

TEST(Launch, NamesWhatTheProgramCannotSay) {
  const std::string scenario = job("llama3-8b", 4, "megatron-lm",
                                   "layout: {pp: 4, sharding: zero1}\nschedule: zb-h1\n"
                                   "batch: {global: 64, micro: 1, sequence: 8192}");
  const Launch launch = launch_of({.file = "job.yaml", .text = scenario}, "megatron");
  std::map<std::string, UnsaidKey> unsaid;
  for (const UnsaidKey& each : launch.unsaid) unsaid[each.key] = each;
  ASSERT_TRUE(unsaid.contains("schedule.name"));
  EXPECT_EQ(unsaid.at("schedule.name").value, "zb-h1");
  EXPECT_EQ(unsaid.at("schedule.name").launched, "1f1b");
}

// Without its stages such a job is impossible: they are named, with the reason.
TEST(Launch, NamesWhatTheJobCannotDoWithout) {
  const std::string scenario =
      job("llama3-405b", 16, "megatron-lm",
          "layout: {tp: 8, pp: 8, sharding: zero1, sequence_parallel: true, stages: {first: -1, "
          "last: -1}}\nschedule: 1f1b\nbatch: {global: 64, micro: 1, sequence: 8192}");
  const Launch launch = launch_of({.file = "job.yaml", .text = scenario}, "megatron");
  std::map<std::string, UnsaidKey> unsaid;
  for (const UnsaidKey& each : launch.unsaid) unsaid[each.key] = each;
  EXPECT_TRUE(unsaid.contains("layout.stages.first"));
  EXPECT_FALSE(unsaid.contains("layout.tp"));
  EXPECT_THAT(launch.why_not_whole, testing::HasSubstr("do not divide"));
}

TEST(Launch, WritesWhatTheProgramTakes) {
  const Launch script =
      launch_of({.file = "job.yaml", .text = launch_row("MegatronDense").scenario}, "megatron");
  EXPECT_THAT(script.text,
              testing::StartsWith(
                  "#!/bin/bash\ntorchrun --nnodes 64 --nproc-per-node 8 pretrain_gpt.py \\\n"));
  EXPECT_THAT(script.text, testing::HasSubstr(" --sequence-parallel \\\n"));
  EXPECT_THAT(script.text, testing::HasSubstr(" --tensor-model-parallel-size 4 \\\n"));
  EXPECT_THAT(script.text, testing::Not(testing::HasSubstr("--train-samples")));
  const Launch toml =
      launch_of({.file = "job.yaml", .text = launch_row("TorchtitanFsdp").scenario}, "torchtitan");
  EXPECT_THAT(toml.text, testing::HasSubstr("[model]\nname = \"llama3\"\nflavor = \"8B\"\n"));
  const Launch json =
      launch_of({.file = "job.yaml", .text = launch_row("DeepSpeedZero3").scenario}, "deepspeed");
  EXPECT_THAT(json.text, testing::HasSubstr("\"stage\": 3"));
}

// Both kinds of dropout are 0.1 in Megatron-LM unless the script says otherwise.
TEST(Launch, StatesThatThereIsNoDropout) {
  const Launch script = launch_of(
      {.file = "job.yaml", .text = launch_row("MegatronWithoutDropout").scenario}, "megatron");
  EXPECT_THAT(script.text, testing::HasSubstr(" --attention-dropout 0.0 \\\n"));
  EXPECT_THAT(script.text, testing::HasSubstr(" --hidden-dropout 0.0 \\\n"));
}

// The last sequence may be cut off by the number of tokens.
TEST(Launch, StatesHowLongItTrains) {
  const std::string scenario =
      launch_row("MegatronDense").scenario + "\njob: {tokens: 819201, price: 2 USD per gpu-hour}\n";
  const Launch script = launch_of({.file = "job.yaml", .text = scenario}, "megatron");
  EXPECT_THAT(script.text, testing::HasSubstr(" --seq-length 8192 \\\n"));
  EXPECT_THAT(script.text, testing::HasSubstr(" --train-samples 101 \\\n"));
}

// These settings are off in Megatron-LM's scripts, and Megatron-Core's plans rely on them.
TEST(Launch, AsksForWhatThePlansSoftwareHas) {
  EXPECT_EQ(launch_software("megatron"), "megatron");
  const LaunchRow row = launch_row("MegatronOverlapped");
  const Launch script = launch_of({.file = "job.yaml", .text = row.scenario}, row.program);
  for (const char* flag : {"--overlap-grad-reduce", "--overlap-param-gather",
                           "--grad-reduce-in-bf16", "--cross-entropy-loss-fusion"}) {
    EXPECT_THAT(script.text, testing::HasSubstr(std::string("    ") + flag)) << script.text;
  }
  const LaunchRow plain = launch_row("MegatronDense");
  const Launch without = launch_of({.file = "job.yaml", .text = plain.scenario}, plain.program);
  EXPECT_THAT(without.text, testing::Not(testing::HasSubstr("--overlap"))) << without.text;
}

// Megatron-LM requires that positions reach as far as sequences.
TEST(Launch, PositionsReachAsFarAsSequences) {
  const std::string longer = job("qwen3-32b", 4, "megatron-lm",
                                 "layout: {tp: 8, sharding: zero1, sequence_parallel: true}\n"
                                 "batch: {global: 64, micro: 1, sequence: 8192}");
  const Launch script = launch_of({.file = "job.yaml", .text = longer}, "megatron");
  EXPECT_THAT(script.text, testing::HasSubstr("--max-position-embeddings 8192"));
  EXPECT_THAT(script.text, testing::HasSubstr("--seq-length 8192"));
  const std::string shorter = job("mixtral-8x7b", 4, "megatron-lm",
                                  "layout: {tp: 8, sharding: zero1, sequence_parallel: true}\n"
                                  "batch: {global: 64, micro: 1, sequence: 4096}");
  const Launch within = launch_of({.file = "job.yaml", .text = shorter}, "megatron");
  EXPECT_THAT(within.text, testing::HasSubstr("--max-position-embeddings 32768"));
}

// Layers that are given by letters need another program of Megatron-LM.
TEST(Launch, HybridModelsAreStartedByTheirProgram) {
  for (const LaunchRow& row : launch_rows()) {
    if (row.name != "MegatronHybrid") continue;
    const Launch script = launch_of({.file = "job.yaml", .text = row.scenario}, row.program);
    EXPECT_THAT(script.text, testing::HasSubstr(" pretrain_mamba.py \\\n"));
    EXPECT_THAT(script.text, testing::HasSubstr("--hybrid-override-pattern"));
  }
}

// torchtitan reads the option as a text, and refuses a number.
TEST(Launch, KeepsTheQuotesOfATextThatLooksLikeANumber) {
  const std::string every_second = job("llama3-8b", 8, "torchtitan",
                                       "layout: {sharding: zero3}\n"
                                       "batch: {global: 64, micro: 1, sequence: 8192}\n"
                                       "recompute: {modules: full, method: every, layers: 16}");
  const Launch toml = launch_of({.file = "job.yaml", .text = every_second}, "torchtitan");
  EXPECT_THAT(toml.text, testing::HasSubstr("selective_ac_option = \"2\""));
}

TEST(Launch, EachProgramIsReadAsASoftwareOfTheLibrary) {
  for (const std::string& program : launch_programs()) {
    EXPECT_NO_THROW(find_framework(launch_software(program))) << program;
  }
}

TEST(Launch, OfAnUnknownProgramNothingIsWritten) {
  EXPECT_THAT(launch_programs(),
              testing::ElementsAre("megatron", "bridge", "torchtitan", "deepspeed"));
  EXPECT_THROW(
      launch_of({.file = "job.yaml", .text = launch_row("MegatronDense").scenario}, "megatrom"),
      Error);
}

}  // namespace
}  // namespace windtunnel
