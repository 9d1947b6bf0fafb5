#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/nccl_log.hpp"
#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using Json = nlohmann::json;

const std::string kLog = "examples/logs/llama3-8b.log";
const std::string kJob = "examples/logs/llama3-8b.yaml";

TEST(DiagnoseCommand, NamesTheCauseAndWhatMendingItGives) {
  const ProgramResult told = run_program("diagnose " + kLog + " " + kJob);
  ASSERT_EQ(told.exit_code, 0) << told.err;
  for (const char* part : {"Slower than expected", "5.81 s from iteration 31 on", "90 % interval",
                           "something else", "slow-node", "--log-straggler"}) {
    EXPECT_NE(told.out.find(part), std::string::npos) << part << " is not in " << told.out;
  }
  const Json answer = Json::parse(run_program("diagnose --json " + kLog + " " + kJob).out);
  EXPECT_EQ(answer.at("verdict"), "slower");
  EXPECT_EQ(answer.at("software"), "megatron-lm");
  const Json& cause = answer.at("causes").at(0);
  EXPECT_EQ(cause.at("cause"), "slow-node");
  EXPECT_NEAR(cause.at("strength").get<double>(), 1.6, 0.05);
  // `run` with the keys of the cause predicts the step time that `diagnose` reports for it.
  std::string set;
  for (const auto& [key, value] : cause.at("set").items()) {
    set += " --set '" + key + "=" + value.get<std::string>() + "'";
  }
  const Json ran = Json::parse(run_program("run " + kJob + " --json" + set).out);
  EXPECT_DOUBLE_EQ(ran.at("iteration").at("time_s"), cause.at("step_s"));
}

TEST(DiagnoseCommand, AsksWhetherTimesAreMilliseconds) {
  const std::string folder = scratch_folder("diagnose_ms");
  const auto told = [&](const std::string& column, const std::string& step) {
    const std::string file = folder + "/step.csv";
    std::ofstream(file) << "step," << column << "\n100," << step << "\n";
    return run_program("diagnose " + file + " " + kJob);
  };
  const char* kAsks = "if the log states them in milliseconds";
  EXPECT_NE(told("step_time", "3600").out.find(kAsks), std::string::npos);
  EXPECT_EQ(told("step_time", "3.6").out.find(kAsks), std::string::npos);
  const ProgramResult known = told("step_time_ms", "3600");
  EXPECT_EQ(known.out.find(kAsks), std::string::npos);
  EXPECT_NE(known.out.find("3.60 s"), std::string::npos) << known.out;
}

TEST(DiagnoseCommand, FitsOneScreen) {
  const ProgramResult told = run_program("diagnose " + kLog + " " + kJob);
  EXPECT_LT(std::count(told.out.begin(), told.out.end(), '\n'), 50);
}

TEST(DiagnoseCommand, TakesTheConfigurationThatTheRunWasStartedWith) {
  const ProgramResult told =
      run_program("diagnose " + kLog +
                  " examples/configurations/llama3-70b.sh --set cluster.node=dgx-h100 "
                  "--set batch.global=64 --json");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_EQ(Json::parse(told.out).at("verdict"), "slower");
}

// `diagnose` gives the same answer for the log as `expect` does on the job's machine.
TEST(DiagnoseCommand, HandsALogOfNcclTestsToExpect) {
  const std::string log = nccl_log(scratch_folder("diagnose_nccl"), "all_reduce.log");
  const std::string on = " --set cluster.nodes=2 --set batch.global=32 --json";
  const ProgramResult told = run_program("diagnose " + log + " " + kJob + on);
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const ProgramResult expected =
      run_program("expect all_reduce --cluster '2 x dgx-h100' --json --log " + log);
  EXPECT_EQ(Json::parse(told.out), Json::parse(expected.out));
  const ProgramResult alone = run_program("diagnose " + log);
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_NE(alone.err.find("windtunnel expect all-reduce --cluster MACHINE --log " + log),
            std::string::npos)
      << alone.err;
}

void expect_refusal(const std::string& arguments, const std::vector<std::string>& parts) {
  const ProgramResult told = run_program("diagnose " + arguments);
  EXPECT_EQ(told.exit_code, 2) << arguments << told.out;
  for (const std::string& part : parts) {
    EXPECT_NE(told.err.find(part), std::string::npos) << part << " is not in " << told.err;
  }
}

TEST(DiagnoseCommand, RefusesALogOfNcclTestsThatDoesNotFitTheJob) {
  const std::string folder = scratch_folder("diagnose_nccl_refused");
  const std::string log = nccl_log(folder, "all_reduce.log");
  expect_refusal(
      log + " " + kJob + " --set cluster.nodes=1",
      {"all_reduce.log: is of 16 ranks on 2 nodes, but the machine has 1 node of 8 GPUs"});
  std::ofstream(folder + "/pools.yaml")
      << "name: pools\n"
         "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000, sequence: 1024}\n"
         "cluster: {pools: [{name: a, nodes: 1, node: dgx-h100}, {name: b, nodes: 1, node: "
         "dgx-a100}]}\n"
         "layout: {tp: 1, sharding: zero3}\n"
         "batch: {global: 64, micro: 1}\n";
  expect_refusal(
      log + " " + folder + "/pools.yaml",
      {"pools.yaml:3:", "cluster.pools: a log of nccl-tests needs a machine with identical nodes"});
}

TEST(DiagnoseCommand, ALogOfNcclTestsIsOfOneCollective) {
  const std::string folder = scratch_folder("diagnose_nccl_kinds");
  const std::string first = nccl_log(folder, "first.log");
  const std::string second =
      nccl_log(folder, "second.log", "# Collective test starting: all_gather_perf\n", 0.9375);
  std::ofstream(folder + "/both.log") << read_text(first) << read_text(second);
  expect_refusal(folder + "/both.log " + kJob,
                 {"both.log: contains times of all-", "and of all-", "all-reduce", "all-gather",
                  "--cluster MACHINE --log " + folder + "/both.log"});
  const std::string none =
      nccl_log(folder, "none.log", "# Collective test starting: scatter_perf\n");
  expect_refusal(none + " " + kJob, {"none.log: contains no time of a collective"});
}

// `diagnose` reads the same steps of the file as `trace import`.
TEST(DiagnoseCommand, ReadsStepsOfAProfilersTrace) {
  const std::string trace = "examples/traces/kineto/rank-0.pt.trace.json.gz";
  const std::string job = "examples/traces/gpt-4-layers.yaml";
  const ProgramResult told = run_program("diagnose " + trace + " " + job + " --json");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const Json answer = Json::parse(told.out);
  EXPECT_EQ(answer.at("read_as"), Json::array({"a profiler"}));
  const Json captured = Json::parse(run_program("trace import " + trace + " --json").out);
  EXPECT_DOUBLE_EQ(answer.at("measured").at("step_s").get<double>(),
                   captured.at("captured").at(0).at("step_s").get<double>());
  EXPECT_NE(told.err.find("a profiler slows the host, and so steps that"), std::string::npos)
      << told.err;
}

TEST(DiagnoseCommand, RefusesKeysOfNoJob) {
  const ProgramResult told = run_program("diagnose " + kLog + " --set cluster.nodes=4");
  EXPECT_EQ(told.exit_code, 2);
  EXPECT_NE(told.err.find("name the job after the log"), std::string::npos) << told.err;
}

// `diagnose` has no --cluster, so that its message must not advise that option.
TEST(DiagnoseCommand, NamesTheWayToStateTheMachineOfAScript) {
  const std::string script =
      std::string(WINDTUNNEL_SOURCE_DIR) + "/examples/configurations/llama3-70b.sh";
  const ProgramResult told = run_program("diagnose " + kLog + " " + script);
  EXPECT_EQ(told.exit_code, 2);
  EXPECT_NE(told.err.find("--set cluster.node=dgx-h100"), std::string::npos) << told.err;
  EXPECT_EQ(told.err.find("--cluster"), std::string::npos) << told.err;
}

TEST(DiagnoseCommand, RefusesWhatIsNoLog) {
  const std::string folder = scratch_folder("diagnose");
  std::ofstream(folder + "/empty.log") << "";
  const ProgramResult empty = run_program("diagnose " + folder + "/empty.log " + kJob);
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_NE(empty.err.find("empty.log:1:1: no line contains the time of a step"), std::string::npos)
      << empty.err;
  std::ofstream(folder + "/damaged.log")
      << "started\n iteration 1/ 9 | elapsed time per iteration (ms): 5x2 |\n";
  const ProgramResult damaged = run_program("diagnose " + folder + "/damaged.log");
  EXPECT_EQ(damaged.exit_code, 2);
  EXPECT_NE(damaged.err.find("damaged.log:2:52: '5x2'"), std::string::npos) << damaged.err;
  std::ofstream(folder + "/seconds.csv") << "iteration,seconds\n1,9.1\n2,9.0\n";
  const ProgramResult seconds = run_program("diagnose " + folder + "/seconds.csv " + kJob);
  EXPECT_EQ(seconds.exit_code, 2);
  EXPECT_NE(seconds.err.find("seconds.csv:1:1: no column contains the time of a step"),
            std::string::npos)
      << seconds.err;
  EXPECT_NE(seconds.err.find("step_time"), std::string::npos) << seconds.err;
  std::ofstream(folder + "/rates.csv") << "step,throughput(tps)\n1,7000\n2,7100\n3,7050\n";
  const ProgramResult rates = run_program("diagnose " + folder + "/rates.csv");
  EXPECT_EQ(rates.exit_code, 2);
  EXPECT_NE(rates.err.find("it states work per second, not the time of a"), std::string::npos)
      << rates.err;
}

}  // namespace
}  // namespace windtunnel
