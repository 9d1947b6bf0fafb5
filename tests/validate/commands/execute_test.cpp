// Tests the refusals of windtunnel execute, and its output for a plan that really ran.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using nlohmann::ordered_json;

void expect_not_executed(const std::string& arguments, const std::string& words) {
  const ProgramResult result = run_program("execute " + arguments);
  EXPECT_EQ(result.exit_code, 2) << arguments;
  EXPECT_EQ(result.err, "windtunnel: " + words + "\n");
  EXPECT_EQ(result.out, "");
}

TEST(Execute, RefusesWhatItCannotRun) {
  expect_not_executed("scenarios/llama3-405b.yaml",
                      "llama3-405b-16k has 16384 ranks, but at most 64 can be executed, one "
                      "process each; make it smaller, e.g. with --set cluster.nodes and layout.dp");
  expect_not_executed("scenarios/small.yaml --ranks-per-node 5",
                      "--ranks-per-node 5 does not divide the scenario's 16 ranks");
  expect_not_executed(
      "scenarios/execution/company.yaml --ranks-per-node 2",
      "--ranks-per-node applies to one job; with several jobs the scenario states their nodes");
  expect_not_executed("scenarios/small.yaml --budget 0s",
                      "--budget: '0s' is too short; give e.g. '3 min'");
}

TEST(Execute, PrintsPredictedBesideMeasured) {
  const std::string folder = scratch_folder("execute");
  const ProgramResult result = run_program(
      "execute scenarios/execution/1f1b.yaml --budget '1 ms' "
      "--scale 20 --json --out " +
      folder + " --page " + folder + "/page.html");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const ordered_json document = ordered_json::parse(result.out);
  EXPECT_EQ(document.at("schema"), "windtunnel/execute/1");
  EXPECT_EQ(document.at("ranks"), 8);
  EXPECT_EQ(document.at("scale").at("times"), 20);
  EXPECT_GE(document.at("scale").at("bytes"), 20);
  EXPECT_EQ(document.at("executions"), 1);
  EXPECT_EQ(document.at("links"), "buckets");
  EXPECT_EQ(document.at("computations"), "waits");
  EXPECT_EQ(document.at("collectives"), "tcp");
  // Nothing runs faster than the links and waits that limit it.
  EXPECT_GT(document.at("step").at("measured_s"), document.at("step").at("predicted_s"));
  EXPECT_EQ(document.at("ranks_end").size(), 8u);
  std::vector<std::string> kinds;
  for (const ordered_json& kind : document.at("kinds")) kinds.push_back(kind.at("kind"));
  EXPECT_EQ(kinds, (std::vector<std::string>{"compute", "send", "recv", "collective"}));
  EXPECT_NE(result.err.find("1f1b: 8 ranks, executed 1 times with 1/20 of its durations"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("recv, mean of a rank, waits in it ("), std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("(links: buckets, computations: waits, collectives: tcp)"),
            std::string::npos)
      << result.err;
  for (const char* trace : {"/predicted.json", "/executed.json"}) {
    const ordered_json events = ordered_json::parse(read_text(folder + trace), nullptr, false);
    EXPECT_FALSE(events.is_discarded()) << trace;
  }
  EXPECT_NE(read_text(folder + "/page.html").find("1f1b, predicted and executed"),
            std::string::npos);
  for (int rank = 0; rank < 8; ++rank) {
    EXPECT_TRUE(std::filesystem::exists(fmt::format("{}/executed.{}.et", folder, rank))) << rank;
  }
}

TEST(Execute, TakesOtherNodesAndSeveralJobs) {
  const ProgramResult paired = run_program(
      "execute scenarios/execution/ring.yaml --ranks-per-node 2 --scale 10 --budget '1 ms'");
  EXPECT_EQ(paired.exit_code, 0) << paired.err;
  const ProgramResult jobs =
      run_program("execute scenarios/execution/company.yaml --scale 10 --budget '1 ms'");
  EXPECT_EQ(jobs.exit_code, 0) << jobs.err;
  EXPECT_NE(jobs.out.find("company: 8 ranks"), std::string::npos) << jobs.out;
}

TEST(ValidateExecution, JudgesScenariosByWhatWasMeasuredOnOtherPlans) {
  const std::string page = scratch_folder("validate_execution") + "/page.html";
  const ProgramResult result = run_program(
      "validate execution scenarios/execution/ring.yaml scenarios/execution/tree.yaml "
      "--budget '1 ms' --fail-above 0 --json --page " +
      page);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(read_text(page).find("<h2>Over all of them</h2>"), std::string::npos);
  const ordered_json document = ordered_json::parse(result.out);
  EXPECT_EQ(document.at("schema"), "windtunnel/validate-execution/1");
  ASSERT_EQ(document.at("executions").size(), 2u);
  for (const ordered_json& each : document.at("executions")) {
    EXPECT_GT(each.at("overheads").at("wait_s"), 0);
    EXPECT_GT(each.at("overheads").at("round_s"), 0);
  }
  EXPECT_GT(document.at("median_step_error"), 0);
}

}  // namespace
}  // namespace windtunnel
