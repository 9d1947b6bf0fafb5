// Configurations of training programs are imported: each file of files/ must give its row of
// expected.yaml, refusals name their places, and damaged files are refused.
#include "scenarios/language/imports/import.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "models/base/error.hpp"
#include "scenarios/language/text/document.hpp"
#include "tests/scenarios/imports/expected_rows.hpp"
#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

class ImportedFile : public testing::TestWithParam<ImportRow> {};

TEST_P(ImportedFile, BecomesTheScenarioThatItsProgramRuns) {
  const ImportedScenario imported = import_scenario(request_of(GetParam()));
  std::map<std::string, std::string> found;
  for (const Setting& setting : settings_of_document(imported.text, "scenario.yaml")) {
    found[setting.name] = setting.value;
  }
  for (const auto& [key, value] : GetParam().keys) {
    EXPECT_EQ(found.contains(key) ? found.at(key) : "", value) << key << " in\n" << imported.text;
  }
  EXPECT_NO_THROW(check_imported(imported));
}

TEST_P(ImportedFile, SaysOfEachSettingWhatBecameOfIt) {
  const ImportedScenario imported = import_scenario(request_of(GetParam()));
  for (const ReadKey& read : imported.read) {
    EXPECT_TRUE(fs::exists(read.from.where.file) && read.from.where.line > 0) << read.key;
  }
  for (const std::string& key : GetParam().assumed) {
    EXPECT_TRUE(std::ranges::count(imported.assumed, key, &AssumedSetting::key)) << key;
  }
  std::set<std::string> left_out;
  for (const LeftOut& left : imported.left_out) {
    EXPECT_NE(left.why, "not known here") << left.setting.name;
    left_out.insert(left.setting.name);
  }
  for (const std::string& name : GetParam().left_out) EXPECT_TRUE(left_out.contains(name)) << name;
}

INSTANTIATE_TEST_SUITE_P(Import, ImportedFile, testing::ValuesIn(import_rows()),
                         [](const auto& row) { return row.param.name; });

TEST(Import, ARowReadsEachFile) {
  std::set<std::string> read;
  for (const ImportRow& row : import_rows()) read.insert(row.files.begin(), row.files.end());
  for (const auto& entry : fs::recursive_directory_iterator(kImportTests + "files")) {
    const std::string path = fs::relative(entry.path(), kImportTests + "files");
    const bool named = path == "trl/zero3.yaml";  // the script beside it names this file
    EXPECT_TRUE(!entry.is_regular_file() || named || read.contains(path)) << path;
  }
}

// --- Refusals ---

class ImportFolder : public testing::Test {
 protected:
  ImportFolder() : folder_(fs::path(testing::TempDir()) / test_folder()) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ImportFolder() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  ImportFolder(const ImportFolder&) = delete;
  ImportFolder& operator=(const ImportFolder&) = delete;

  static std::string test_folder() {
    return fmt::format("windtunnel-{}-{}", getpid(),
                       testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(path(name)) << text;
  }
  // Returns the message of the refusal, without the file's folder.
  std::string refusal(const std::string& name, const std::string& text,
                      const Overrides& set = {{"cluster.node", "dgx-h100"}},
                      const std::string& kind = "") const {
    write(name, text);
    const ImportRequest request{.files = {path(name)}, .kind = kind, .set = set};
    std::string told = error_of([&] { check_imported(import_scenario(request)); });
    const std::string folder = folder_.string() + "/";
    for (std::size_t at = 0; (at = told.find(folder)) != told.npos;) told.erase(at, folder.size());
    return told;
  }

 private:
  fs::path folder_;
};

const std::string kScript =
    "torchrun --nnodes 2 train.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 \\\n"
    "  --seq-length 4096 --micro-batch-size 1 --global-batch-size 64 --bf16";

TEST_F(ImportFolder, NamesWhatNoFileSays) {
  EXPECT_THAT(
      refusal("run.sh", kScript, {}),
      testing::StartsWith(
          "run.sh: does not say on which machine it runs; state it, for example with --cluster"));
  std::string alone = kScript;
  alone.replace(alone.find("--nnodes 2 "), 11, "");
  EXPECT_EQ(refusal("run.sh", alone),
            "run.sh: does not say how many nodes it uses; state it, for example with --cluster '1 "
            "x dgx-h100'");
  // Commands that take such a file instead of a scenario have only --set for the machine.
  const auto as_scenario_of = [](const std::string& text, const Overrides& set) {
    return error_of([&] { as_scenario({.file = "run.sh", .text = text, .set = set}); });
  };
  EXPECT_THAT(as_scenario_of(kScript, {}),
              testing::AllOf(testing::HasSubstr("state it with --set cluster.node=dgx-h100"),
                             testing::Not(testing::HasSubstr("--cluster"))));
  EXPECT_THAT(as_scenario_of(alone, {{"cluster.node", "dgx-h100"}}),
              testing::EndsWith("state it, for example with --set cluster.nodes=1"));
  const std::string deepspeed = R"({"train_batch_size": 64, "zero_optimization": {"stage": 3}})";
  const Overrides machine = {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "2"}};
  EXPECT_THAT(
      refusal("ds.json", deepspeed, machine),
      testing::StartsWith("ds.json: does not say which model it trains; state it with --model"));
  Overrides of_model = machine;
  of_model.emplace_back("model", "llama3-8b");
  EXPECT_THAT(refusal("ds.json", deepspeed, of_model),
              testing::StartsWith("ds.json: does not say how many tokens a sequence has"));
  EXPECT_THAT(refusal("run.yaml", "distributed_type: FSDP\nnum_processes: 16\n", of_model),
              testing::StartsWith("run.yaml: does not say how many sequences a step has; state it, "
                                  "for example with --set batch.global"));
}

TEST_F(ImportFolder, NamesThePlaceOfWhatCannotBe) {
  const auto with = [](const std::string& more) { return kScript + " \\\n  " + more + "\n"; };
  EXPECT_EQ(refusal("run.sh", with("--tensor-model-parallel-size many")),
            "run.sh:3:32: tensor_model_parallel_size: 'many' is not a number");
  EXPECT_EQ(refusal("run.sh", with("--tensor-model-parallel-size $TP")),
            "run.sh:3:32: tensor_model_parallel_size: '$TP' is a variable that the file does not "
            "set; give its value as --set layout.tp=VALUE");
  EXPECT_EQ(refusal("run.sh", with("--pipeline-model-parallel-size 3")),
            "run.sh:3:34: 16 GPUs are no multiple of tp x pp x cp = 3");
  EXPECT_EQ(refusal("run.sh", with("--pipeline-model-parallel-size 4 "
                                   "--num-layers-per-virtual-pipeline-stage 3")),
            "run.sh:3:76: num_layers_per_virtual_pipeline_stage: 32 layers on 4 stages cannot be "
            "cut into chunks of 3");
  EXPECT_EQ(refusal("run.sh", with("--recompute-granularity most")),
            "run.sh:3:27: recompute_granularity: 'most' is none of full, selective");
  EXPECT_EQ(
      refusal("run.sh", with("--global-batch-size 63")),
      "run.sh:3:23: global_batch_size: batch.global 63 is not a multiple of batch.micro 1 x dp "
      "16 = 16");
  EXPECT_EQ(refusal("run.sh", with("--tensor-model-parallel-size 1.5")),
            "run.sh:3:32: tensor_model_parallel_size: '1.5' is not a whole number");
  EXPECT_THAT(refusal("run.yaml",
                      "base_model: someone/none-of-these\nsequence_len: 512\nmicro_batch_size: 1\n",
                      {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "1"}}),
              testing::StartsWith("run.yaml:1:13: no model of the library is called "
                                  "'someone/none-of-these'; state it with --model"));
  EXPECT_THAT(
      refusal("run.yaml", "base_model: a/Qwen3-16B\nsequence_len: 512\nmicro_batch_size: 1\n",
              {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "1"}}),
      testing::StartsWith("run.yaml:1:13: "));
  for (const char* member : {"GLM-4.5-Flash", "GLM-4.5V", "DeepSeek-V3-Small"}) {
    EXPECT_THAT(
        refusal("run.yaml",
                fmt::format("base_model: a/{}\nsequence_len: 512\nmicro_batch_size: 1\n", member),
                {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "1"}}),
        testing::HasSubstr(fmt::format("'a/{}': the closest model of the library", member)));
  }
  EXPECT_THAT(refusal("run.yaml",
                      "base_model: Llama-3.1-8B\nsequence_len: 512\nmicro_batch_size: 1\n"
                      "deepspeed: configs/zero3.json\n",
                      {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "1"}}),
              testing::StartsWith("run.yaml:4:12: deepspeed: the file 'configs/zero3.json' was not "
                                  "found; give it to windtunnel import, too"));
}

TEST_F(ImportFolder, TakesWhatIsSetForVariablesAndForWordsInPlaceOfNumbers) {
  write("run.sh", "#SBATCH --nodes=your_nodes\n" +
                      kScript.substr(std::string("torchrun --nnodes 2 ").size()) +
                      " --tensor-model-parallel-size $TP --recompute-granularity ${HOW}\n");
  const auto refused = [&](const Overrides& set) {
    return error_of(
        [&] { import_scenario({.files = {path("run.sh")}, .kind = "megatron-lm", .set = set}); });
  };
  Overrides set = {{"cluster.node", "dgx-h100"}};
  EXPECT_THAT(refused(set), testing::HasSubstr("give its value as --set layout.tp=VALUE"));
  set.emplace_back("layout.tp", "2");
  EXPECT_THAT(refused(set), testing::HasSubstr("give its value as --set recompute.modules=VALUE"));
  set.emplace_back("recompute.modules", "full");
  EXPECT_THAT(refused(set), testing::HasSubstr("sbatch.nodes: 'your_nodes' is not a number"));
  set.emplace_back("cluster.nodes", "4");
  const std::string text =
      import_scenario({.files = {path("run.sh")}, .kind = "megatron-lm", .set = set}).text;
  EXPECT_THAT(text, testing::HasSubstr("nodes: 4"));
  EXPECT_THAT(text, testing::HasSubstr("tp: 2"));
}

TEST_F(ImportFolder, SaysWhatToDoWhereDegreesMakeAnotherNumberOfGpus) {
  const std::string text =
      "parallelism: {dp: 2, pp: 1, tp: 2}\n"
      "tokens: {micro_batch_size: 1, sequence_length: 1024, batch_accumulation_per_replica: 4}\n"
      "model: {model_config: {hidden_size: 1024, num_hidden_layers: 8, num_attention_heads: 8,\n"
      "  num_key_value_heads: 8, intermediate_size: 4096, vocab_size: 50257}}\n";
  Overrides set = {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "4"}};
  EXPECT_EQ(refusal("run.yaml", text, set),
            "run.yaml:1:19: parallelism.dp: its degrees make 4 GPUs, but the cluster has 32; give "
            "only the node, --cluster dgx-h100, or another number of replicas, --set layout.dp=16");
  set.emplace_back("layout.dp", "16");
  EXPECT_EQ(refusal("run.yaml", text, set), "no error");
  EXPECT_EQ(refusal("run.yaml", text), "no error");
}

TEST_F(ImportFolder, FindsANamedFileBelowAFolderAboveTheOneThatNamesIt) {
  write("configs/zero2.json", R"({"train_batch_size": "auto", "zero_optimization": {"stage": 2}})");
  const std::string text =
      "base_model: Llama-3.1-8B\nsequence_len: 512\nmicro_batch_size: 1\n"
      "deepspeed: configs/zero2.json\n";
  const Overrides machine = {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "1"}};
  EXPECT_EQ(refusal("examples/llama/run.yaml", text, machine), "no error");
  const ImportRequest request{
      .files = {path("examples/llama/run.yaml")}, .kind = "", .set = machine};
  EXPECT_THAT(import_scenario(request).text, testing::HasSubstr("sharding: zero2"));
}

// In MaxText's mesh an axis of -1 takes what the others leave, inside a slice and between slices.
TEST_F(ImportFolder, AnAxisOfMinusOneTakesWhatTheOthersLeave) {
  const Overrides nodes = {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "4"}};
  const auto imported = [&](const std::string& axes) {
    write("run.yml",
          "base_config: base.yml\nhardware: gpu\nmodel_name: llama2-7b\n"
          "per_device_batch_size: 2\nmax_target_length: 4096\n" +
              axes);
    return import_scenario({.files = {path("run.yml")}, .kind = "", .set = nodes}).text;
  };
  const auto holds = [](const char* text) { return testing::HasSubstr(text); };
  EXPECT_THAT(imported("ici_fsdp_parallelism: -1\n"), holds("shard_ranks: 8}"));
  EXPECT_THAT(imported("dcn_fsdp_parallelism: 2\n"), holds("shard_ranks: 16}"));
  EXPECT_THAT(imported("dcn_fsdp_parallelism: -1\ndcn_data_parallelism: 1\n"),
              testing::Not(holds("shard_ranks")));
  EXPECT_THAT(imported("ici_tensor_parallelism: -1\nici_fsdp_parallelism: 2\n"), holds("tp: 4"));
  EXPECT_THAT(imported("ici_tensor_sequence_parallelism: -1\nici_fsdp_parallelism: 4\n"),
              holds("tp: 2"));
  const std::string run =
      "hardware: gpu\nmodel_name: llama2-7b\nper_device_batch_size: 2\nmax_target_length: 4096\n";
  EXPECT_EQ(
      refusal("run.yml", run + "ici_fsdp_parallelism: 3\nici_tensor_parallelism: -1\n", nodes),
      "run.yml:5:23: ici_fsdp_parallelism: the axes in the file make 3, but 8 chips of a slice are "
      "no multiple of that; give the cluster for which the file was written");
  EXPECT_EQ(
      refusal("run.yml", run + "ici_fsdp_parallelism: -1\nici_tensor_parallelism: -1\n", nodes),
      "run.yml:5:23: ici_fsdp_parallelism: ici_tensor_parallelism is -1, too, but only one axis "
      "can take the remaining GPUs");
  Overrides asked = nodes;
  asked.emplace_back("layout.tp", "3");
  const std::string of_asked =
      "but 8 chips of a slice are no multiple of that; give another value, ";
  EXPECT_EQ(refusal("run.yml", run, asked),
            "--set layout.tp: the stated axes make 3, " + of_asked + "or another cluster");
  EXPECT_EQ(refusal("run.yml", run + "ici_expert_parallelism: 2\n", asked),
            "--set layout.tp: the stated axes make 6, " + of_asked + "or another cluster");
  const std::string of_slices =
      "32 chips are no multiple of 3 slices; give the cluster for which the file was written";
  EXPECT_EQ(refusal("run.yml", run + "num_slices: 3\n", nodes),
            "run.yml:5:13: num_slices: " + of_slices);
  EXPECT_EQ(refusal("run.yml", run + "num_slices: 1\ndcn_data_parallelism: 3\n", nodes),
            "run.yml:6:23: dcn_data_parallelism: " + of_slices);
}

TEST_F(ImportFolder, ReadsTheFilesThatAFileExtends) {
  write("base.yaml", read_text_file(kImportTests + "files/primus/llama3-8b-sft.yaml"));
  const std::string extends = "extends:\n  - base.yaml\n";
  const std::string own =
      "modules:\n  post_trainer:\n    framework: megatron\n    model: llama3_8B.yaml\n"
      "    overrides: {train_iters: 10, micro_batch_size: 1}\n";
  write("run.yaml", extends + own);
  const std::string text =
      import_scenario({.files = {path("run.yaml")},
                       .kind = "",
                       .set = {{"cluster.node", "mi355x"}, {"cluster.nodes", "1"}}})
          .text;
  EXPECT_THAT(text, testing::HasSubstr("micro: 1"));     // stated in this file
  EXPECT_THAT(text, testing::HasSubstr("global: 128"));  // stated in the other file
}

// A command that takes a script in the place of a scenario names the place in the script, not in
// the scenario that it has made of it. Values of the command line keep theirs.
TEST(AsScenario, NamesThePlaceOfTheSetting) {
  const std::string script =
      "torchrun --nnodes 2 train.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 "
      "\\\n"
      "  --seq-length 4096 --micro-batch-size 3 \\\n  --global-batch-size 64 --bf16";
  const auto refusal = [&](Overrides set) {
    set.emplace_back("cluster.node", "dgx-h100");
    const ReadScenario read = as_scenario({.file = "run.sh", .text = script, .set = set});
    return error_of([&] { resolve_case(read.scenario); });
  };
  EXPECT_EQ(refusal({}),
            "run.sh:3:23: batch.global 64 is not a multiple of batch.micro 3 x dp 16 = 48");
  EXPECT_THAT(refusal({{"batch.micro", "1"}, {"batch.global", "65"}}),
              testing::StartsWith("--set batch.global=65: "));
}

// Names that differ at one place are told; others share words by chance.
TEST(Imported, AsksWhetherASettingIsMisspelt) {
  const auto left_out = [](const std::string& flag) {
    const ImportedScenario imported =
        import_scenario({.files = {"run.sh"},
                         .kind = "",
                         .set = {{"cluster.node", "dgx-h100"}},
                         .texts = {{"run.sh", kScript + " " + flag + " 2"}}});
    return imported.left_out.empty() ? "" : imported.left_out.front().meant;
  };
  EXPECT_EQ(left_out("--tensor-modell-parallel-size"), "tensor_model_parallel_size");
  EXPECT_EQ(left_out("--pipeline-model-paralel-size"), "pipeline_model_parallel_size");
  EXPECT_EQ(left_out("--expert-parallel-size"), "");
  EXPECT_EQ(left_out("--my-own-flag"), "");
}

TEST_F(ImportFolder, NamesTheFileThatIsNotHereAndMaySayIt) {
  EXPECT_THAT(
      refusal("run.sh",
              "python3 train.py \"${PWD}\"/models/gpu/own.yml run_name=two \\\n"
              "  dcn_data_parallelism=2 ici_fsdp_parallelism=8 model_name=llama2-7b\n",
              {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "2"}}),
      testing::EndsWith(
          "; run.sh:1 names 'own.yml', which was not found: give it to windtunnel import, too"));
}

TEST_F(ImportFolder, LeavesOutTheScheduleOfAPipelineThatIsNotThere) {
  write("run.yaml",
        "step_scheduler: {global_batch_size: 64, local_batch_size: 4}\n"
        "distributed: {pp_size: 1, pipeline: {pp_schedule: interleaved1f1b, layers_per_stage: 2}}\n"
        "model: {_target_: a.b, pretrained_model_name_or_path: Qwen/Qwen3-8B}\n"
        "dataset: {seq_len: 4096}\n");
  const ImportRequest request{.files = {path("run.yaml")},
                              .kind = "",
                              .set = {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "1"}}};
  const ImportedScenario imported = import_scenario(request);
  EXPECT_THAT(imported.text, testing::Not(testing::HasSubstr("schedule")));
  EXPECT_NO_THROW(check_imported(imported));
}

// Which offload of a file is imported depends on its sharding.
TEST_F(ImportFolder, KeepsTheOffloadThatAProgramWouldDo) {
  const std::string deepspeed =
      "train_batch_size: 64\ntrain_micro_batch_size_per_gpu: 4\nbf16: {enabled: true}\n"
      "zero_optimization: {stage: ";
  const std::string bridge =
      "model: {num_layers: 8, hidden_size: 1024, num_attention_heads: 8, seq_length: 4096}\n"
      "train: {micro_batch_size: 1, global_batch_size: 64}\nmixed_precision: {bf16: true}\n"
      "ddp: {use_distributed_optimizer: true}\noptimizer: ";
  struct Stated {
    std::string text;
    std::string offload;  // empty: none
    std::vector<std::string> left_out = {};
  };
  for (const Stated& stated : std::vector<Stated>{
           {deepspeed + "3, offload_optimizer: {device: cpu}, offload_param: {device: cpu}}",
            "offload: {optimizer: host, gradients: host, weights: host}"},
           {deepspeed + "3, offload_optimizer: {device: nvme, ratio: 0.5}}",
            "offload: {optimizer: disk, gradients: host, optimizer_share: 0.5}"},
           {deepspeed + "2, offload_optimizer: {device: cpu}, offload_param: {device: cpu}}",
            "offload: {optimizer: host, gradients: host}",
            {"zero_optimization.offload_param.device"}},
           {deepspeed + "1, offload_optimizer: {device: cpu}}", "offload: {optimizer: host}"},
           {deepspeed + "3, offload_optimizer: {device: none, ratio: 1.0}}", ""},
           {deepspeed + "3, offload_param: {device: cpu}}",
            "",
            {"zero_optimization.offload_param.device"}},
           {deepspeed + "2, cpu_offload: true}", "offload: {optimizer: host, gradients: host}"},
           {bridge + "{optimizer_cpu_offload: false, optimizer_offload_fraction: 0.0}", ""},
           {bridge + "{optimizer_cpu_offload: true}", ""},
           {bridge + "{optimizer_cpu_offload: true, optimizer_offload_fraction: 0.5}",
            "offload: {optimizer: host, optimizer_share: 0.5}"}}) {
    write("run.yaml", stated.text + "\n");
    const ImportRequest request{.files = {path("run.yaml")},
                                .kind = "",
                                .set = {{"cluster.node", "dgx-h100"},
                                        {"cluster.nodes", "2"},
                                        {"model", "llama3-8b"},
                                        {"batch.sequence", "4096"}}};
    const ImportedScenario imported = import_scenario(request);
    const std::string line = stated.offload.empty() ? "" : "\n" + stated.offload + "\n";
    EXPECT_THAT(imported.text, testing::HasSubstr(line)) << stated.text;
    EXPECT_EQ(imported.text.find("offload:") == std::string::npos, line.empty()) << stated.text;
    EXPECT_NO_THROW(check_imported(imported)) << stated.text;
    std::vector<std::string> left_out;
    for (const LeftOut& left : imported.left_out) left_out.push_back(left.setting.name);
    EXPECT_EQ(left_out, stated.left_out) << stated.text;
  }
}

TEST_F(ImportFolder, RefusesPartsOfSequencesThatDevicesDoNotShare) {
  EXPECT_THAT(
      refusal("run.yaml",
              "model_name: llama2-7b\nper_device_batch_size: 0.3\nmax_target_length: 2048\n",
              {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "1"}}),
      testing::HasSubstr("run.yaml:2:24: per_device_batch_size: 0.3 on each of the 1 GPUs that "
                         "share a sequence do not make whole sequences"));
}

TEST_F(ImportFolder, TakesWhatIsSetBeforeWhatFilesSay) {
  write("run.yaml",
        "model_name_or_path: Llama-3.1-8B\nper_device_train_batch_size: 1\nmax_length: 2048\n"
        "fsdp: hybrid_shard auto_wrap\nbf16: true\n");
  Overrides set = {{"cluster.node", "dgx-h100"}, {"cluster.nodes", "2"}};
  const auto text = [&] {
    return import_scenario({.files = {path("run.yaml")}, .kind = "", .set = set}).text;
  };
  EXPECT_THAT(text(), testing::HasSubstr("shard_ranks: 8"));  // the GPUs of a node
  EXPECT_THAT(text(), testing::HasSubstr("global: 16"));
  EXPECT_THAT(text(), testing::HasSubstr("precision: bf16"));
  set.insert(set.end(), {{"precision", "fp16"}, {"batch.global", "64"}, {"model", "llama2-7b"}});
  EXPECT_THAT(text(), testing::HasSubstr("precision: fp16"));
  EXPECT_THAT(text(), testing::HasSubstr("global: 64"));
  EXPECT_THAT(text(), testing::HasSubstr("model: llama2-7b"));
}

TEST_F(ImportFolder, NamesTheKindsThatItKnows) {
  EXPECT_THAT(refusal("run.yaml", "colour: blue\n"),
              testing::StartsWith("run.yaml:1:1: has no settings of a known program; state with "
                                  "--kind which program it configures: launcher, megatron-lm, "));
  EXPECT_THAT(refusal("run.sh", kScript, {{"cluster.node", "dgx-h100"}}, "megatron-ml"),
              testing::HasSubstr("did you mean 'megatron-lm'"));
  EXPECT_THAT(refusal("run.sh", kScript, {{"layout.tq", "8"}}),
              testing::StartsWith("--set layout.tq: this is no key of a scenario"));
}

TEST_F(ImportFolder, NamesThePlaceOfDamage) {
  EXPECT_THAT(refusal("run.toml", "[model]\nname = \"llama3\nflavor = \"8B\"\n"),
              testing::StartsWith("run.toml:2:15: "));
  EXPECT_THAT(refusal("run.json", "{\"a\": 1,\n \"b\": [1, 2\n"),
              testing::StartsWith("run.json:3:1"));
  EXPECT_THAT(refusal("run.yaml", "a: 1\nb: \"c\nd: 2\n"), testing::StartsWith("run.yaml:"));
  EXPECT_EQ(refusal("run.sh", "A=1\nB=\"2\nC=3\n"), "run.sh:2:1: the quote \" is not closed");
  EXPECT_EQ(refusal("run.sh", "A=1\nB=(--c 2\n"), "run.sh:2:1: the parenthesis ( is not closed");
  EXPECT_THAT(refusal("run.yaml", "- 1\n- 2\n"), testing::StartsWith("run.yaml:1:1: "));
}

// --- Damage ---

// Matches the first value of a setting that every program needs; in a script it stands behind
// dashes.
std::regex first_number(bool script) {
  const std::string names =
      "(?:tensor[-_](?:model[-_])?parallel[-_](?:size|degree)|micro[-_]batch[-_]size|tp_size|"
      "per_device_(?:train_)?batch_size|train_micro_batch_size_per_gpu|num_gpus|"
      "ici_fsdp_parallelism|num_processes|local_batch_size|batch_size|ng|dp)";
  if (script) return std::regex(R"((\s-{0,2}(?:training\.)?)" + names + R"([= ])[$\w{}]+)");
  return std::regex(R"(([^\w.])" + names + R"("?\s*[:=]\s*)[$\w{}]+)");
}

// `alone`: no other file states the same settings.
std::vector<std::string> damaged(const std::string& name, const std::string& text, bool alone) {
  std::vector<std::string> texts;
  const bool json = name.ends_with(".json");
  const bool toml = name.ends_with(".toml");
  const bool yaml = name.ends_with(".yaml") || name.ends_with(".yml");
  const std::string wrong = json ? "\"nonsense\"" : toml ? "\"nonsense\"" : "nonsense";
  const std::regex number = first_number(!json && !toml && !yaml);
  if (alone && std::regex_search(text, number)) {
    texts.push_back(
        std::regex_replace(text, number, "$1" + wrong, std::regex_constants::format_first_only));
  }
  if (json) {
    texts.push_back(text.substr(0, text.rfind('}')));  // a bracket is missing
    std::string open = text;
    open.erase(open.find('"'), 1);
    texts.push_back(open);
  } else {
    const std::string name_and_equals = toml ? "broken = " : yaml ? "broken: " : "BROKEN=";
    texts.push_back(text + "\n" + name_and_equals + "\"does not end\n");
    texts.push_back(text + "\n" + name_and_equals + (yaml || toml ? "[1, 2\n" : "(1 2\n"));
  }
  return texts;
}

TEST_F(ImportFolder, RefusesWhatIsDamagedByItsPlace) {
  int refused = 0;
  for (const ImportRow& row : import_rows()) {
    for (const std::string& file : row.files) {
      for (const std::string& other : row.files) {
        write(other, read_text_file(kImportTests + "files/" + other));
      }
      for (const std::string& text :
           damaged(file, read_text_file(kImportTests + "files/" + file), row.files.size() == 1)) {
        write(file, text);
        try {
          check_imported(import_scenario(request_of(row, path(""))));
          ADD_FAILURE() << row.name << ": takes " << file << " with\n" << text;
        } catch (const Error& error) {
          EXPECT_TRUE(error.where().file.ends_with(file) && error.where().line > 0)
              << row.name << ": " << error.what();
          ++refused;
        }
      }
    }
  }
  fmt::print("{} damaged files are refused by their place\n", refused);
  EXPECT_GE(refused, 200);
}

}  // namespace
}  // namespace windtunnel
