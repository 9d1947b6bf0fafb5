#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kTraces = "trace import examples/traces/kineto";
constexpr const char* kScenario = " --scenario examples/traces/gpt-4-layers.yaml";

TEST(TraceProfile, SaysWhereTheStepsWent) {
  const ProgramResult read = run_program(std::string(kTraces) + " --json");
  ASSERT_EQ(read.exit_code, 0) << read.err;
  const json document = json::parse(read.out);
  EXPECT_EQ(document.at("schema"), "windtunnel/trace-capture/1");
  ASSERT_EQ(document.at("captured").size(), 4u);
  for (const json& rank : document.at("captured")) {
    const double sum = rank.at("compute_s").get<double>() + rank.at("exposed_s").get<double>() +
                       rank.at("copy_s").get<double>() + rank.at("idle_s").get<double>();
    EXPECT_NEAR(sum, rank.at("step_s").get<double>(), 0.01 * sum);  // each is a median
    EXPECT_EQ(rank.at("steps"), 3);                                 // the first is left out
    EXPECT_EQ(rank.at("calls").size(), 2u);
  }
  EXPECT_FALSE(document.contains("compared"));
}

TEST(TraceProfile, StandsBesideTheScenariosOwnStep) {
  const ProgramResult read = run_program(std::string(kTraces) + kScenario + " --json");
  ASSERT_EQ(read.exit_code, 0) << read.err;
  const json document = json::parse(read.out);
  const json run = json::parse(run_program("run examples/traces/gpt-4-layers.yaml --json").out);
  const json& rows = document.at("compared");
  EXPECT_EQ(rows.at(0).at("what"), "step");
  EXPECT_EQ(rows.at(0).at("predicted_s"), run.at("iteration").at("time_s"));
  std::map<std::string, double> predicted;
  for (const json& row : rows) predicted[row.at("what")] = row.at("predicted_s").get<double>();
  EXPECT_NEAR(predicted.at("some kernel computes") + predicted.at("exposed communication") +
                  predicted.at("idle"),
              predicted.at("step"), 1e-3 * predicted.at("step"));
  EXPECT_NEAR(predicted.at("products") + predicted.at("attention") +
                  predicted.at("memory-bound kernels") + predicted.at("optimizer"),
              predicted.at("some kernel computes"), 0.05 * predicted.at("step"));
}

// The traced times of forward passes, backward passes and the optimizer stand beside the predicted
// ones, rank by rank.
TEST(TraceProfile, StepsStandBesideEachOtherTaskByTask) {
  const std::string folder = scratch_folder("trace-tasks");
  const ProgramResult read =
      run_program(std::string(kTraces) + kScenario + " --json --page " + folder + "/page.html");
  ASSERT_EQ(read.exit_code, 0) << read.err;
  const json document = json::parse(read.out);
  ASSERT_EQ(document.at("tasks").size(), 4u);
  for (const json& rank : document.at("tasks")) {
    EXPECT_FALSE(rank.contains("not_matched"));
    std::string kinds;
    double until_s = 0, kernels_s = 0, predicted_s = 0;
    for (const json& task : rank.at("tasks")) {
      kinds += task.at("kind").get<std::string>() + " ";
      const json& traced = task.at("traced");
      EXPECT_GE(traced.at("start_s").get<double>(), until_s);
      until_s = traced.at("start_s").get<double>() + traced.at("time_s").get<double>();
      kernels_s += traced.at("kernels_s").get<double>();
      predicted_s += task.at("predicted").at("kernels_s").get<double>();
    }
    EXPECT_EQ(kinds, "F B optimizer ");
    const double compute_s = document.at("captured").at(0).at("compute_s").get<double>();
    EXPECT_NEAR(kernels_s, compute_s, 0.01 * compute_s);
    for (const json& row : document.at("compared")) {
      if (row.at("what") != "some kernel computes") continue;
      EXPECT_NEAR(predicted_s, row.at("predicted_s").get<double>(), 1e-9);
    }
  }
  std::ifstream file(folder + "/page.html");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find("Passes as they ran and as predicted"), std::string::npos);
}

// The captured tasks are replayed on the scenario's machine, on a slower one, and on more replicas.
TEST(TraceProfile, CapturedTasksRunOnOtherMachines) {
  const auto replay = [](const std::string& more) {
    const ProgramResult read = run_program(std::string(kTraces) + "/rank-0.pt.trace.json.gz" +
                                           kScenario + " --json" + more);
    EXPECT_EQ(read.exit_code, 0) << read.err;
    return json::parse(read.out).at("replay");
  };
  const json here = replay("");
  EXPECT_EQ(here.at("ranks"), 4);
  EXPECT_EQ(here.at("captured_ranks"), 1);
  EXPECT_EQ(here.at("priced"), 20);
  EXPECT_EQ(here.at("as_measured"), 0);
  const double step_s = here.at("step_s").get<double>();
  EXPECT_NEAR(step_s, here.at("captured_s").get<double>(), 0.1 * step_s);
  EXPECT_LT(here.at("step_range_s").at("low").get<double>(), step_s);
  EXPECT_GT(here.at("step_range_s").at("high").get<double>(), step_s);
  const json slower = replay(" --set cluster.node.nvlink='50 GB/s'");
  EXPECT_GT(slower.at("step_s").get<double>(), 1.2 * step_s);
  const json more = replay(" --set cluster.nodes=8 --set batch.global=16 --replicas 8");
  EXPECT_EQ(more.at("ranks"), 32);
  EXPECT_GT(more.at("step_s").get<double>(), step_s);
}

TEST(TraceProfile, ACalibrationFromATraceMeetsIt) {
  const std::string folder = scratch_folder("trace-calibration");
  const std::string trace = std::string(kTraces) + "/rank-0.pt.trace.json.gz" + kScenario;
  const ProgramResult written = run_program(trace + " --out " + folder);
  ASSERT_EQ(written.exit_code, 0) << written.err;
  fs::copy_file(WINDTUNNEL_SOURCE_DIR "/examples/traces/gpt-4-layers.yaml", folder + "/s.yaml");
  const ProgramResult read = run_program(std::string(kTraces) + " --scenario " + folder +
                                         "/s.yaml --set calibration=calibration.yaml --json");
  ASSERT_EQ(read.exit_code, 0) << read.err;
  for (const json& row : json::parse(read.out).at("compared")) {
    const std::string what = row.at("what");
    if (what != "products" && what != "attention" && what != "optimizer") continue;
    const double traced_s = row.at("traced_s").get<double>();
    EXPECT_NEAR(row.at("predicted_s").get<double>(), traced_s, 0.02 * traced_s) << what;
  }
}

// The calibration of the H200 has laws of measured kernels. The import scales them to fit the
// trace.
TEST(TraceProfile, ACalibrationWithLawsMeetsARealTrace) {
  const std::string folder = scratch_folder("trace-laws");
  const std::string trace = "trace import examples/traces/h200/two-layers.rank-0.json.gz";
  const ProgramResult written =
      run_program(trace + " --scenario examples/traces/h200-two-layers.yaml --out " + folder);
  ASSERT_EQ(written.exit_code, 0) << written.err;
  fs::copy_file(WINDTUNNEL_SOURCE_DIR "/examples/traces/h200-two-layers.yaml", folder + "/s.yaml");
  const ProgramResult read = run_program(trace + " --scenario " + folder +
                                         "/s.yaml --set calibration=calibration.yaml --json");
  ASSERT_EQ(read.exit_code, 0) << read.err;
  const json document = json::parse(read.out);
  for (const json& row : document.at("compared")) {
    const std::string what = row.at("what");
    if (what.find("computes") == std::string::npos && what != "products" && what != "attention" &&
        what != "memory-bound kernels" && what != "optimizer") {
      continue;
    }
    const double traced_s = row.at("traced_s").get<double>();
    EXPECT_NEAR(row.at("predicted_s").get<double>(), traced_s, 0.03 * traced_s) << what;
  }
  EXPECT_EQ(document.at("tasks").at(0).at("tasks").size(), 5u);
}

// `captured` must equal the scenario with the trace's calibration, `others` the other choices.
TEST(TraceProfile, OtherChoicesAreTheScenarioWithTheTracesCalibration) {
  const ProgramResult read =
      run_program(std::string(kTraces) + kScenario + " --json --vary recompute=none,full --vary " +
                  "layout.pp=1,3");
  ASSERT_EQ(read.exit_code, 0) << read.err;
  const json document = json::parse(read.out).at("what_if");
  const json& captured = document.at("captured");
  const json& others = document.at("others");
  ASSERT_EQ(others.size(), 4u);
  EXPECT_EQ(others.at(0).at("step_s"), captured.at("step_s"));  // the captured configuration
  EXPECT_FALSE(others.at(1).contains("step_s"));  // three stages do not divide four GPUs
  EXPECT_TRUE(others.at(1).contains("reason"));
  EXPECT_GT(others.at(2).at("step_s").get<double>(), captured.at("step_s").get<double>());
  EXPECT_LT(others.at(2).at("memory_bytes").get<double>(),
            captured.at("memory_bytes").get<double>());
}

// Another JSON file in a folder of execution traces does not turn them into profiler traces.
TEST(TraceProfile, AFolderOfExecutionTracesStaysOne) {
  const std::string folder = scratch_folder("trace-mixed");
  run_program("trace export scenarios/small.yaml --ranks one-per-class --out " + folder);
  fs::copy_file(WINDTUNNEL_SOURCE_DIR "/scenarios/schema.json", folder + "/notes.json");
  const ProgramResult read =
      run_program("trace import " + folder + " --scenario scenarios/small.yaml --json");
  ASSERT_EQ(read.exit_code, 0) << read.err;
  EXPECT_EQ(json::parse(read.out).at("schema"), "windtunnel/trace-import/1");
}

// Steps and comparison are shown even where the captured tasks cannot be replayed.
TEST(TraceProfile, WhatCannotRunAgainIsSaid) {
  const std::string command = std::string(kTraces) + kScenario +
                              " --set layout.dp=1 --set cluster.node.gpus=2 --set batch.global=4";
  const ProgramResult read =
      run_program("trace import examples/traces/kineto/rank-0.pt.trace.json.gz --json" +
                  command.substr(std::string(kTraces).size()));
  ASSERT_EQ(read.exit_code, 0) << read.err;
  const json document = json::parse(read.out);
  EXPECT_TRUE(document.contains("compared"));
  EXPECT_FALSE(document.contains("replay"));
  EXPECT_NE(document.at("no_replay").get<std::string>().find("the traces are of 4 ranks"),
            std::string::npos);
}

TEST(TraceProfile, OtherFilesOfAFolderAreLeftOut) {
  const std::string folder = scratch_folder("trace-stray");
  fs::copy_file(WINDTUNNEL_SOURCE_DIR "/examples/traces/kineto/rank-0.pt.trace.json.gz",
                folder + "/rank-0.pt.trace.json.gz");
  fs::copy_file(WINDTUNNEL_SOURCE_DIR "/scenarios/schema.json", folder + "/config.json");
  const ProgramResult read = run_program("trace import " + folder + " --json");
  ASSERT_EQ(read.exit_code, 0) << read.err;
  EXPECT_EQ(json::parse(read.out).at("captured").size(), 1u);
}

TEST(TraceProfile, OtherJobsAndFilesAreRefused) {
  const std::pair<std::string, const char*> cases[] = {
      {std::string(kTraces) + kScenario + " --nodes 4", "--nodes and --days are for a log"},
      {"trace import examples/traces/kineto/rank-0.pt.trace.json.gz "
       "examples/traces/kineto/rank-0.pt.trace.json.gz",
       "is of rank 0, as is"},
      {"trace import examples/traces/kineto/rank-3.pt.trace.json.gz --set layout.tp=1 --set "
       "cluster.node.gpus=2" +
           std::string(kScenario),
       "is of rank 3, but the job of"},
      {std::string(kTraces) + " --replicas 2", "--set, --vary and --replicas need a --scenario"},
      {std::string(kTraces) + " --set fold=none", "--set, --vary and --replicas need a --scenario"},
      {std::string(kTraces) + " --vary schedule=gpipe", "--set, --vary and --replicas need"},
      {"trace import traces --vary schedule=gpipe" + std::string(kScenario),
       "--vary is for profiler traces"},
      {"trace import traces --replicas 2" + std::string(kScenario),
       "--replicas is for profiler traces"},
      {std::string(kTraces) + " --replicas 20000" + std::string(kScenario),
       "the traces are of 80000 ranks"},
      {std::string(kTraces) + " --out x", "--out writes the calibration of a --scenario"},
      {std::string(kTraces) + kScenario + " --vary shedule=1f1b", "did you mean 'schedule'?"},
      {"trace import scenarios/schema.json", "has no list 'traceEvents'"},
  };
  for (const auto& [command, message] : cases) {
    const ProgramResult refused = run_program(command);
    EXPECT_EQ(refused.exit_code, 2) << command;
    EXPECT_NE(refused.err.find(message), std::string::npos) << refused.err;
  }
}

}  // namespace
}  // namespace windtunnel
