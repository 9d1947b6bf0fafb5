// Tests `windtunnel run` on a scenario of several jobs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

using nlohmann::json;

TEST(RunCompany, SaysEachJobsStepAloneAndTogether) {
  const ProgramResult text = run_program("run scenarios/company/company.yaml");
  const ProgramResult document = run_program("run scenarios/company/company.yaml --json -j 1");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.out, document.err);
  EXPECT_NE(text.out.find("2 jobs on 16 nodes, spread"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("0-1, 4-5, 8-9, 12-13"), std::string::npos) << text.out;
  const json report = json::parse(document.out);
  EXPECT_EQ(report.at("placement"), "spread");
  EXPECT_EQ(report.at("nodes"), 16);
  ASSERT_EQ(report.at("jobs").size(), 2u);
  for (const json& job : report.at("jobs")) {
    const double alone_s = job.at("step_s").at("alone");
    const double slowdown = job.at("slowdown").at("mean");
    EXPECT_DOUBLE_EQ(job.at("step_s").at("together").get<double>(), alone_s * slowdown);
    EXPECT_EQ(job.at("alone").at("iteration").at("time_s").get<double>(), alone_s);
    EXPECT_GT(slowdown, 1);
    EXPECT_EQ(job.at("nodes").size(), 8u);
  }
}

TEST(RunCompany, AJobsRecordIsItselfAloneWhereItStands) {
  const std::string folder = scratch_folder("company");
  const ProgramResult run =
      run_program("run scenarios/company/company.yaml --json --out " + folder);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const ProgramResult again = run_program("run --json " + folder + "/job-1/record.json");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  json document = json::parse(again.out);
  EXPECT_EQ(document.at("schema"), "windtunnel/run/1");
  document.erase("schema");  // only the printed document has one
  EXPECT_EQ(document, json::parse(run.out).at("jobs").at(1).at("alone"));
}

TEST(RunCompany, ComparesPlacements) {
  const ProgramResult compared =
      run_program("compare scenarios/company/company.yaml --vary placement=packed,spread --json");
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  const json points = json::parse(compared.out).at("points");
  ASSERT_EQ(points.size(), 2u);
  const json spread = json::parse(run_program("run scenarios/company/company.yaml --json").out);
  EXPECT_EQ(points.at(1).at("set").at("placement"), "spread");
  EXPECT_EQ(points.at(1).at("result").at("jobs"), spread.at("jobs"));
  EXPECT_NE(points.at(0).at("result").at("jobs"), spread.at("jobs"));
  const ProgramResult none =
      run_program("compare scenarios/company/company.yaml --vary cluster.nodes=15,14");
  EXPECT_EQ(none.exit_code, 2);
}

TEST(RunCompany, DrawsAPage) {
  const std::string folder = scratch_folder("company-page");
  ASSERT_EQ(run_program("run scenarios/company/company.yaml --out " + folder).exit_code, 0);
  const ProgramResult drawn = run_program("report " + folder);
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_NE(drawn.out.find("spread"), std::string::npos);
}

TEST(RunCompany, WhatCannotBeExitsWithTwo) {
  const ProgramResult full =
      run_program("run scenarios/company/company.yaml --set cluster.nodes=15");
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_NE(full.err.find("need 16 nodes in all"), std::string::npos) << full.err;
  const ProgramResult swept =
      run_program("sweep scenarios/company/company.yaml --vary placement=packed,spread --out " +
                  scratch_folder("company-sweep"));
  EXPECT_EQ(swept.exit_code, 2);
  EXPECT_NE(swept.err.find("jobs: this is a scenario of several jobs"), std::string::npos)
      << swept.err;
  const ProgramResult explained = run_program("run scenarios/company/company.yaml --explain");
  EXPECT_EQ(explained.exit_code, 2);
}

}  // namespace
}  // namespace windtunnel
