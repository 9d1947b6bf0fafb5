#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

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
    EXPECT_NEAR(sum, rank.at("step_s").get<double>(), 0.01 * sum);  // medians of each
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

TEST(TraceProfile, OtherJobsAndFilesAreRefused) {
  const std::pair<std::string, const char*> cases[] = {
      {std::string(kTraces) + kScenario + " --nodes 4", "--nodes and --days are for a log"},
      {"trace import examples/traces/kineto/rank-0.pt.trace.json.gz "
       "examples/traces/kineto/rank-0.pt.trace.json.gz",
       "is of rank 0, and so is"},
      {"trace import examples/traces/kineto/rank-3.pt.trace.json.gz --set layout.tp=1 --set "
       "cluster.node.gpus=2" +
           std::string(kScenario),
       "is of rank 3; the job of"},
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
