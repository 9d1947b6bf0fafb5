// Every JSON document that a command prints states its schema and version, and
// docs/reference/json.md lists its kind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "models/base/version.hpp"
#include "tests/cli/help_pages.hpp"
#include "tests/cli/nccl_log.hpp"
#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using nlohmann::ordered_json;

// Describes a command that has --json: the kind of its document, and its other arguments when it
// runs in `folder`.
struct Documented {
  std::string command;
  std::string kind;
  std::function<std::string(const std::string& folder)> arguments;
};

std::string runs_table(const std::string& folder) {
  const std::string path = folder + "/runs.csv";
  std::ofstream out(path);
  out << "source,model,layers,hidden,heads,ffn_hidden,seq,vocab,global_batch,micro_batch,gpus,"
         "gpu_type,tp,pp,dp,recompute,schedule,precision,iter_time_s,note\n";
  for (const int micro : {1, 2, 4}) {
    out << fmt::format(
        "test rows,GPT 1.3B,24,2048,16,8192,1024,50257,32,{},8,A100,2,2,2,full,1F1B,fp16,{},\n",
        micro, 1.3 + 0.1 * micro);
  }
  return path;
}

std::string traces(const std::string& folder) {
  run_program("trace export scenarios/small.yaml --ranks one-per-class --out " + folder + "/t");
  return folder + "/t --scenario scenarios/small.yaml";
}

const std::string kNetwork = " --network 'InfiniBand NDR 8x400Gb/s/node'";
const std::string kSmallSweep = "scenarios/small.yaml --vary layout.vpp=1,2 --replicas 2 --out ";

std::string begun_sweep(const std::string& folder) {
  EXPECT_EQ(run_program("sweep " + kSmallSweep + folder + "/s").exit_code, 0);
  return folder + "/s";
}

const char* const kSearched = "scenarios/small.yaml --over recompute --simulate 1";
const char* const kRollouts = "scenarios/reinforcement.yaml --over rollout --simulate 0";
const char* const kLogged = "examples/logs/llama3-8b.log examples/logs/llama3-8b.yaml";
const char* const kImported =
    "tests/scenarios/imports/files/torchtitan/llama3-8b.toml --cluster '8 x dgx-h100'";

std::vector<Documented> documented() {
  const auto always = [](const std::string& arguments) {
    return [arguments](const std::string&) { return arguments; };
  };
  std::vector<Documented> rows = {
      {"plan", "plan", always("--cluster '2 x dgx-h100' --model llama3-8b --tokens '10 B'")},
      {"import", "import", always(kImported)},
      {"diagnose", "diagnose", always(kLogged)},
      {"run", "run", always("scenarios/small.yaml")},
      {"run", "company", always("scenarios/company/company.yaml")},
      {"compare", "compare", always("scenarios/small.yaml --vary layout.vpp=1,2")},
      {"compare", "company-compare",
       always("scenarios/company/company.yaml --vary placement=packed,spread")},
      {"sweep", "sweep", [](const std::string& folder) { return kSmallSweep + folder + "/s"; }},
      {"sweep merge", "sweep", begun_sweep},
      {"sweep resume", "sweep", begun_sweep},
      {"sweep status", "sweep-status", begun_sweep},
      {"optimise", "optimise", always(kSearched)},
      {"optimise", "optimise-intervals",
       always("scenarios/small.yaml --over snapshots.0.every --for goodput "
              "--set campaign.replicas=2")},
      {"optimise", "optimise-rollout", always(kRollouts)},
      {"expect", "expect", always("all_reduce --cluster '2 x dgx-h100' --sizes 1M")},
      {"list", "list", always("gpus")},
      {"schedule list", "list", always("")},
      {"schedule show", "schedule-show", always("1f1b")},
      {"schedule search", "schedule-search",
       always("--ranks 2 --microbatches 3 --times 1,1,1 --effort 0.01")},
      {"trace import", "trace-import", traces},
      {"trace import", "fault-logs", always("tests/data/infinitehbd_faults.csv")},
      {"validate", "validate-schedules", always("tests/data/schedule_oracle.csv")},
      {"validate schedules", "validate-schedules", always("tests/data/schedule_oracle.csv")},
      {"validate checkpoints", "validate-checkpoints", always("tests/data/checkpoint_times.csv")},
      {"validate all", "validate-all",
       always("tests/data/checkpoint_times.csv tests/data/failures_2026.csv")},
      {"validate dispatch", "validate-dispatch", always("tests/data/moe_dispatch_2026.csv")},
      {"validate rollouts", "validate-rollouts",
       always("tests/fuzz/corpus/measured-rows/rollouts.csv")},
      {"validate power", "validate-power", always("tests/data/power_2026.csv")},
      {"validate failures", "validate-failures", always("tests/data/failures_2026.csv")},
      {"validate faults", "validate-faults", always("tests/data/fault_reference_points.csv")},
      {"validate collectives", "validate-collectives",
       [](const std::string& folder) { return nccl_log(folder, "all_reduce.log") + kNetwork; }},
      {"validate compression", "validate-compression", always("tests/data/exchange_runs.csv")},
      {"validate samples", "validate-samples",
       always(
           "tests/data/kernel_samples.csv --calibration tests/fuzz/corpus/kernel-laws/cpu.yaml")},
      {"validate runs", "validate-runs", runs_table},
      {"validate execution", "validate-execution",
       always("scenarios/execution/ring.yaml --budget '1 ms'")},
      {"execute", "execute", always("scenarios/execution/ring.yaml --budget '1 ms'")},
      {"calibrate", "calibrate-runs",
       [](const std::string& folder) {
         return "--from " + runs_table(folder) + " --out " + folder + "/mine.yaml";
       }},
      {"calibrate", "calibrate-collectives",
       [](const std::string& folder) {
         return "--from " + nccl_log(folder, "all_reduce.log") + kNetwork + " --machine M --out " +
                folder + "/net.yaml";
       }},
      {"calibrate", "calibrate-kernels",
       [](const std::string& folder) {
         return "--backend cpu --ranks 1 --budget '10 ms' --out " + folder + "/cpu.yaml";
       }},
  };
  std::erase_if(rows, [](const Documented& row) { return !is_built(row.command); });
  return rows;
}

TEST(JsonDocuments, SayTheirSchemaAndVersion) {
  const std::string docs = read_text(WINDTUNNEL_SOURCE_DIR "/docs/reference/json.md");
  int number = 0;
  for (const Documented& each : documented()) {
    const std::string folder = scratch_folder(fmt::format("document-{}", ++number));
    const std::string command = fmt::format("{} --json {}", each.command, each.arguments(folder));
    const ProgramResult result = run_program(command);
    ordered_json document = ordered_json::parse(result.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << command << ": " << result.err;
    if (document.is_array()) {
      ASSERT_FALSE(document.empty()) << command;
      document = document.front();
    }
    EXPECT_EQ(document.begin().key(), "schema") << command;
    EXPECT_EQ(document.at("schema"), fmt::format("windtunnel/{}/1", each.kind)) << command;
    EXPECT_EQ(document.at("version"), program_version()) << command;
    EXPECT_NE(docs.find(fmt::format("`{}`", each.kind)), std::string::npos)
        << each.kind << " is not in docs/reference/json.md";
  }
}

// A new command with --json must get its row in documented().
TEST(JsonDocuments, AreOfEveryCommandThatHasThem) {
  std::set<std::string> with_json, walked;
  for (const auto& [path, help] : help_pages()) {
    if (help.find("  --json") != std::string::npos) with_json.insert(path);
  }
  for (const Documented& each : documented()) walked.insert(each.command);
  EXPECT_EQ(walked, with_json);
}

// The files in a result's folder are the same documents that --json prints.
TEST(JsonDocuments, InFilesAreTheSame) {
  const std::string folder = scratch_folder("document-files");
  const ProgramResult sweep = run_program("sweep --json " + kSmallSweep + folder + "/s");
  EXPECT_EQ(read_text(folder + "/s/sweep.json"), sweep.out);
  const ProgramResult compare = run_program(
      "compare --json scenarios/small.yaml --vary layout.vpp=1,2 --out " + folder + "/c");
  EXPECT_EQ(read_text(folder + "/c/compare.json"), compare.out);
}

}  // namespace
}  // namespace windtunnel
