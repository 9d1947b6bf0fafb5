#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace windtunnel {
namespace {

using nlohmann::json;

// 1F1B of 2 ranks and 2 micro-batches with unit times: (m + p - 1) (F + B) = 9. The last row
// claims twice that; the schedule of the row before is unknown.
std::string rows_file() {
  const std::string path = scratch_folder("validate") + "/rows.csv";
  std::ofstream(path) << "schedule,p,m,v,T_F,T_I,T_W,T_comm,makespan,max_stage_span,"
                         "makespan_minus_max_busy,peak_act_max,peak_act_per_rank\n"
                         "1f1b,2,2,1,1,1,1,0,9,9,3,2,2 1\n"
                         "no-such-schedule,2,2,1,1,1,1,0,9,9,3,2,2 1\n"
                         "1f1b,2,2,1,1,1,1,0,18,9,3,2,2 1\n";
  return path;
}

TEST(ValidateCommand, DocumentHasTheContractsKeys) {
  const ProgramResult result = run_program("validate schedules " + rows_file() + " --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::ordered_json::parse(result.out);
  ASSERT_GE(document.at("families").size(), 1u);
  for (const char* key : {"name", "metric", "rows", "baselines", "oom", "mape", "median_ape",
                          "p90_ape", "worst", "kendall_tau", "coverage90"}) {
    EXPECT_TRUE(document.at("families")[0].contains(key)) << key;
  }
  for (const char* key : {"id", "metric", "measured", "predicted", "low", "high", "origin"}) {
    EXPECT_TRUE(document.at("rows")[0].contains(key)) << key;
  }
  ASSERT_EQ(document.at("skipped").size(), 1u);
  EXPECT_NE(document.at("skipped")[0].at("reason"), "");
}

TEST(ValidateCommand, FailsAboveTheBound) {
  const std::string command = "validate schedules " + rows_file() + " --fail-above ";
  EXPECT_EQ(run_program(command + "10").exit_code, 0);
  const ProgramResult result = run_program(command + "0.01");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("is above 0.01"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace windtunnel
