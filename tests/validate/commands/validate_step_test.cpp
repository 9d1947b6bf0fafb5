// windtunnel validate step: what it refuses before it measures, and what a step that it does
// measure is told as.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"
#include "tests/cli/small_step.hpp"

namespace windtunnel {
namespace {

ProgramResult validated(const std::string& arguments) {
  return run_program("validate step scenarios/mlp-cpu.yaml --budget '1 ms' " + arguments);
}

void expect_refused(const std::string& arguments, const std::string& words) {
  const ProgramResult result = validated(arguments);
  EXPECT_EQ(result.exit_code, 2) << arguments;
  EXPECT_EQ(result.err, "windtunnel: " + words + "\n");
  EXPECT_EQ(result.out, "");
}

int cores() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  EXPECT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  return CPU_COUNT(&usable);
}

TEST(ValidateStep, RefusesWhatItCannotRun) {
  expect_refused("--set layout.pp=2",
                 "--set layout.pp=2: layout.pp is 2, but model 'mlp' is a table of layers, which "
                 "runs data parallel only; set it to 1");
  expect_refused("--set communication.compressor=fp8",
                 "--set communication.compressor=fp8: communication.compressor: fp8 needs "
                 "collectives that sum fp8, which these do not; take int8");
  expect_refused("--set 'communication.compressor={name: int8, block: 128}'",
                 "--set communication.compressor={name: int8, block: 128}: "
                 "communication.compressor: int8 has kernels for blocks of 256 elements, not 128");
  expect_refused("--set communication.overlap=wfbp",
                 "model 'mlp' cannot run here: set communication.overlap: blocking (or none), "
                 "because nothing is computed while gradients are exchanged");
  expect_refused("--set batch.global=256",
                 "model 'mlp' cannot run here: a rank runs one micro-batch a step: set "
                 "batch.global to 128 or batch.micro to 128");
  const ProgramResult transformer = run_program("validate step scenarios/llama3-405b.yaml");
  EXPECT_EQ(transformer.exit_code, 2);
  EXPECT_EQ(transformer.err,
            "windtunnel: model 'llama3-405b' cannot run here: it is a transformer; take a table "
            "of linear layers\n");
}

// Whichever point it is: before any is measured.
TEST(ValidateStep, ChecksAllPointsFirst) {
  expect_refused("--vary communication.compressor=none,fp8",
                 "--set communication.compressor=fp8: communication.compressor: fp8 needs "
                 "collectives that sum fp8, which these do not; take int8");
}

TEST(ValidateStep, CalibrationsMustBeThere) {
  const ProgramResult name = validated("--calibration generik");
  EXPECT_EQ(name.exit_code, 2);
  EXPECT_TRUE(name.err.starts_with(
      "windtunnel: --calibration: unknown calibration 'generik'; did you mean 'generic'?"))
      << name.err;
  // Named as typed, wherever the scenario lies.
  for (const std::string file : {"nowhere.yaml", "folder/nowhere.yaml", "/nowhere.yaml"}) {
    expect_refused("--calibration " + file,
                   file +
                       ": --calibration: no such file; 'windtunnel calibrate --backend cpu "
                       "--ranks N --out " +
                       file + "' measures one");
  }
  const ProgramResult other = validated("--calibration scenarios/mlp-cpu.yaml");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_TRUE(other.err.starts_with("windtunnel: --calibration: scenarios/mlp-cpu.yaml:9:1: "))
      << other.err;
}

// The program runs where the sources begin, and the scenario lies in a folder there.
TEST(ValidateStep, CalibrationsAreFoundFromHere) {
  expect_refused("--calibration scenarios/library/calibrations/generic.yaml --set layout.pp=2",
                 "--set layout.pp=2: layout.pp is 2, but model 'mlp' is a table of layers, which "
                 "runs data parallel only; set it to 1");
  expect_refused("--calibration auto --set communication.overlap=wfbp",
                 "model 'mlp' cannot run here: set communication.overlap: blocking (or none), "
                 "because nothing is computed while gradients are exchanged");
}

TEST(ValidateStep, EachRankNeedsACore) {
  const int nodes = cores() / 2 + 1;  // of two ranks
  expect_refused(fmt::format("--set cluster.nodes={} --set batch.global={}", nodes, 128 * nodes),
                 fmt::format("{} ranks need a core each, and this process may run on {}; set "
                             "layout.dp to that, and nodes and GPUs of the cluster",
                             2 * nodes, cores()));
}

// Of few steps, so nothing is asked of the times but that they fit together.
TEST(ValidateStep, TellsPhasesOfTheStep) {
  if (cores() < 2) GTEST_SKIP() << "two ranks need two cores";
  const std::string folder = scratch_folder("step");
  const ProgramResult result =
      run_program("validate step " + small_step(folder) +
                  " --budget '1 ms' --fail-above 0 --json " + "--page " + folder + "/step.html");
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const std::string page = read_text(folder + "/step.html");
  for (const std::string said : {"<h1>small, measured on this machine</h1>", "communicate</th>",
                                 "windtunnel validate step "}) {
    EXPECT_NE(page.find(said), std::string::npos) << said;
  }
  const auto steps = nlohmann::json::parse(result.out);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].at("ranks"), 2);
  for (const char* which : {"measured", "predicted"}) {
    const auto& step = steps[0].at(which);
    for (const char* phase : {"forward_s", "backward_s", "communicate_s", "optimizer_s"}) {
      EXPECT_GT(step.at("phases").at(phase), 0.0) << which << " " << phase;
    }
    EXPECT_EQ(step.at("phases").at("compress_s"), 0.0) << which;
  }
  const double predicted_s = steps[0].at("predicted").at("step_s");
  const double measured_s = steps[0].at("measured").at("step_s");
  EXPECT_NEAR(steps[0].at("error").get<double>(), predicted_s / measured_s - 1, 1e-9);
}

}  // namespace
}  // namespace windtunnel
