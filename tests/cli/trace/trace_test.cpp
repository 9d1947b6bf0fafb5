#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

size_t files_in(const std::string& folder) {
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++files;
  return files;
}

TEST(TraceCommand, WhatIsExportedTakesTheStepTimeOfTheRun) {
  const json run = json::parse(run_program("run scenarios/small.yaml --json").out);
  const std::pair<const char*, size_t> cases[] = {{"all", 16}, {"one-per-class", 2}};
  for (const auto& [ranks, files] : cases) {
    const std::string folder = scratch_folder("trace");
    const ProgramResult written = run_program("trace export scenarios/small.yaml --out " + folder +
                                              " --ranks " + std::string(ranks));
    ASSERT_EQ(written.exit_code, 0) << written.err;
    EXPECT_EQ(files_in(folder), files);
    const ProgramResult read =
        run_program("trace import " + folder + " --scenario scenarios/small.yaml --json");
    ASSERT_EQ(read.exit_code, 0) << read.err;
    const json document = json::parse(read.out);
    EXPECT_EQ(document.at("step_s"), run.at("iteration").at("time_s"));
    EXPECT_EQ(document.at("ranks"), 16);
  }
}

TEST(TraceCommand, AClusterAloneIsAMachine) {
  const std::string folder = scratch_folder("trace-cluster");
  run_program("trace export scenarios/small.yaml --ranks one-per-class --out " + folder);
  const auto step_s = [&](const std::string& machine) {
    const ProgramResult read = run_program("trace import " + folder + machine + " --json");
    EXPECT_EQ(read.exit_code, 0) << read.err;
    return json::parse(read.out).at("step_s").get<double>();
  };
  const std::string cluster = " --cluster '2 x dgx-h100'";
  EXPECT_EQ(step_s(cluster), step_s(" --scenario scenarios/small.yaml"));
  // The import accepts GPUs of any precision.
  EXPECT_GT(step_s(" --cluster '2 x dgx-v100'"), 0);
  EXPECT_GT(step_s(" --cluster '16 x single-k80'"), 0);
  EXPECT_GT(step_s(cluster + " --set 'cluster.node.nic=1 Gb/s'"), step_s(cluster));
  const std::pair<std::string, const char*> refusals[] = {
      {" --cluster '2 x dgx-h10'", "did you mean 'dgx-h100'"},
      {" --cluster '1 x dgx-h100'", "of 16 ranks, but 1 x dgx-h100 has 8 GPUs"},
      {cluster + " --set cluster.nodes=4", "--cluster already says which nodes and how many"},
      {cluster + " --set precision=fp16", "the job is that of the traces"},
      {" --set cluster.node.nic='1 Gb/s'", "--cluster"},
      {cluster + " --scenario scenarios/small.yaml", "excludes"}};
  for (const auto& [machine, message] : refusals) {
    const ProgramResult refused = run_program("trace import " + folder + machine);
    EXPECT_EQ(refused.exit_code, 2) << machine;
    EXPECT_NE(refused.err.find(message), std::string::npos) << refused.err;
  }
  for (const std::string other : {"examples/traces/kineto", "tests/data/infinitehbd_faults.csv"}) {
    const ProgramResult refused = run_program("trace import " + other + cluster);
    EXPECT_EQ(refused.exit_code, 2) << other;
    EXPECT_NE(refused.err.find("--cluster"), std::string::npos) << refused.err;
  }
}

TEST(TraceCommand, AnImportHasAPage) {
  const std::string page = scratch_folder("trace-page") + "/page.html";
  const ProgramResult result = run_program(
      "trace import tests/fuzz/corpus/chakra/mlp-cpu.0.et --cluster '1 x dgx-h100' --page " + page);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string text = read_text(page);
  EXPECT_NE(text.find("22 tasks of 2 ranks, written by windtunnel"), std::string::npos);
  EXPECT_NE(text.find("Where the step time goes (critical path)</h2>"), std::string::npos);
  EXPECT_NE(text.find("779 ms"), std::string::npos);
}

// The scenario of an import may choose collectives, such as reductions in the switch, which take
// longer here than rings.
TEST(TraceCommand, CollectivesRunAsTheScenarioOfTheImportSays) {
  const std::string folder = scratch_folder("trace-choices");
  run_program("trace export scenarios/small.yaml --ranks one-per-class --out " + folder);
  const std::string import = "trace import " + folder + " --scenario scenarios/small.yaml --json";
  const auto step_s = [&](const std::string& set) {
    const ProgramResult result = run_program(import + set);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out).at("step_s").get<double>();
  };
  EXPECT_GT(step_s(" --set 'communication.collectives={dp: nvls}'"), step_s(""));
}

// A scenario may repeat the value that the traces were exported with.
TEST(TraceCommand, WhatTracesDoNotTakeFromAScenarioIsRefused) {
  const std::string folder = scratch_folder("trace-stated");
  const std::string recompute = " --set recompute=full";
  ASSERT_EQ(run_program("trace export scenarios/small.yaml --ranks one-per-class --out " + folder +
                        recompute)
                .exit_code,
            0);
  const std::string import = "trace import " + folder + " --scenario scenarios/small.yaml";
  EXPECT_EQ(run_program(import + recompute).exit_code, 0);
  const std::pair<const char*, const char*> refusals[] = {
      {"", "small.yaml:11:12: recompute: selective, which has no effect on traces"},
      {" --set recompute=full --set schedule=gpipe",
       "--set schedule=gpipe: schedule.name: gpipe, which has no effect on traces"},
      {" --set recompute=full --set communication.inner=tasks",
       "communication.inner: tasks, which has no effect on traces"}};
  for (const auto& [set, message] : refusals) {
    const ProgramResult refused = run_program(import + set);
    EXPECT_EQ(refused.exit_code, 2) << set;
    EXPECT_NE(refused.err.find(message), std::string::npos) << refused.err;
  }
}

TEST(TraceCommand, AnEarlierExportIsKeptUnlessForced) {
  const std::string folder = scratch_folder("trace-again");
  const std::string command = "trace export scenarios/small.yaml --out " + folder;
  ASSERT_EQ(run_program(command).exit_code, 0);
  const ProgramResult again = run_program(command);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.err.find("--force"), std::string::npos) << again.err;
  EXPECT_EQ(run_program(command + " --force --ranks one-per-class").exit_code, 0);
  EXPECT_EQ(files_in(folder), 2u);  // no rank of the first export is left
}

TEST(TraceCommand, TracesMustFitTheMachine) {
  const std::string folder = scratch_folder("trace-fit");
  run_program("trace export scenarios/llama3-405b.yaml --ranks one-per-class --out " + folder);
  const ProgramResult result =
      run_program("trace import " + folder + " --scenario scenarios/small.yaml");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("16384 ranks"), std::string::npos) << result.err;
}

TEST(TraceCommand, ATraceIsNotSimulatedOnAJitteringMachine) {
  const std::string folder = scratch_folder("trace-jitter");
  run_program("trace export scenarios/small.yaml --out " + folder);
  const ProgramResult result =
      run_program("trace import " + folder +
                  " --scenario scenarios/small.yaml --set 'cluster.jitter={sigma: 0.1}'");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("cluster.jitter needs an average over random draws"), std::string::npos)
      << result.err;
}

TEST(TraceCommand, ANameThatNoFileCanHaveIsTheUsersError) {
  const ProgramResult result =
      run_program("trace import " + std::string(5000, 'a') + " --scenario scenarios/small.yaml");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err.find("internal error"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace windtunnel
