// Tests `windtunnel sweep`: a sweep gives the same bytes if it is killed and resumed, or split into
// shards and merged.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/cli/run_program.hpp"
#include "tests/cli/sweep_kills.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kGrid =
    "scenarios/small.yaml --replicas 8 "
    "--vary 'failures.*.rate=2 per 1000 node-days:20 per 1000 node-days:3log' "
    "--vary 'snapshots.0.every=10 min:4 h:4log' ";
void remove_folders(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) fs::remove_all(folder);
}

TEST(SweepCommand, FindsTheBestPoint) {
  const std::string folder = scratch_folder("sweep-json");
  const ProgramResult result = run_program("sweep " + kGrid + "--json --out " + folder);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, read_text(folder + "/sweep.json"));
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("scenario"), "small");
  ASSERT_EQ(document.at("points").size(), 12U);
  double most = 0;
  for (const json& point : document.at("points")) {
    most = std::max(most, point.at("result").at("goodput").at("mean").get<double>());
  }
  const json& best = document.at("best");
  EXPECT_EQ(best.at("goodput").at("mean"), most);
  EXPECT_EQ(best.at("set").at("failures.*.rate"), "2 per 1000 node-days");
  EXPECT_LE(best.at("runner_up").at("difference").at("low"),
            best.at("runner_up").at("difference").at("mean"));
  ASSERT_EQ(document.at("best_by").size(), 3U);  // rates are not chosen: one best each
  EXPECT_NE(result.err.find("best snapshots.0.every"), std::string::npos) << result.err;
  fs::remove_all(folder);
}

// The command that `sweep expand` prints as the next one must run as printed.
TEST(SweepCommand, WhatExpandSaysComesNextRuns) {
  const std::string folder = scratch_folder("sweep-next");
  const ProgramResult expanded = run_program(
      "sweep expand scenarios/small.yaml --vary layout.tp=1,2 --replicas 2 --out " + folder);
  ASSERT_EQ(expanded.exit_code, 0) << expanded.err;
  const std::string said = expanded.out + expanded.err;
  const std::string kProgram = "  windtunnel ";
  int run = 0;
  for (std::size_t at = said.find(kProgram); at != said.npos; at = said.find(kProgram, at + 1)) {
    const std::size_t begin = at + kProgram.size();
    std::string command = said.substr(begin, said.find('\n', at) - begin);
    command.resize(std::min(command.size(), command.find(" (")));
    const ProgramResult next = run_program(command);
    EXPECT_EQ(next.exit_code, 0) << command << next.err;
    ++run;
  }
  EXPECT_EQ(run, 2) << said;
  EXPECT_TRUE(fs::exists(folder + "/report.html"));
  fs::remove_all(folder);
}

// Repair times are circumstances and no choices, so that no point of the sweep is the best.
TEST(SweepCommand, OfCircumstancesAloneIsAnAnswer) {
  const std::string folder = scratch_folder("sweep-circumstances");
  const ProgramResult result = run_program(
      "sweep scenarios/small.yaml --vary 'failures.0.repair=1 h,24 h' --replicas 2 --json --out " +
      folder);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(json::parse(result.out).at("best").is_null());
  fs::remove_all(folder);
}

TEST(SweepCommand, SaysOnceWhatANamedRecoveryLeaves) {
  const std::string folder = scratch_folder("sweep-notes");
  const ProgramResult result = run_program(
      "sweep scenarios/small.yaml --vary recovery=restart,hot-spares --vary "
      "snapshots.0.every=1h,2h --replicas 2 --out " +
      folder);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string note =
      "note: recovery: the name replaces the stated keys: spares; recovery.base would keep them";
  const size_t first = result.err.find(note);
  EXPECT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("note: ", first + 1), std::string::npos) << result.err;
  fs::remove_all(folder);
}

TEST(SweepCommand, SameBytesOnAnyThreadsAndInAnyShards) {
  const std::string whole = whole_sweep(kGrid + "-j 1", "sweep-whole");
  const std::string threads = whole_sweep(kGrid + "-j 3", "sweep-threads");
  EXPECT_EQ(merged_bytes(whole), merged_bytes(threads));
  const std::string parts = scratch_folder("sweep-parts");
  ASSERT_EQ(run_program("sweep expand " + kGrid + "--out " + parts).exit_code, 0);
  EXPECT_EQ(run_program("sweep status " + parts).exit_code, 3);
  EXPECT_EQ(run_program("sweep run " + parts + " --shard 2/3").exit_code, 0);
  const ProgramResult early = run_program("sweep merge " + parts);
  EXPECT_EQ(early.exit_code, 3);
  EXPECT_NE(early.out.find("8 of 12 points are missing"), std::string::npos) << early.out;
  EXPECT_EQ(run_program("sweep run " + parts + " --shard 0/3").exit_code, 0);
  EXPECT_EQ(run_program("sweep resume " + parts).exit_code, 0);
  EXPECT_EQ(merged_bytes(whole), merged_bytes(parts));
  EXPECT_EQ(run_program("sweep merge " + parts).exit_code, 0);
  EXPECT_EQ(merged_bytes(whole), merged_bytes(parts));
  EXPECT_EQ(run_program("sweep status " + parts).exit_code, 0);
  // The same command continues in the folder; another sweep is refused there.
  EXPECT_EQ(run_program("sweep " + kGrid + "--out " + parts).exit_code, 0);
  const ProgramResult other =
      run_program("sweep scenarios/small.yaml --vary snapshots.0.every=1h,2h --out " + parts);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("the folder already contains another sweep"), std::string::npos)
      << other.err;
  EXPECT_EQ(merged_bytes(whole), merged_bytes(parts));
  remove_folders({whole, threads, parts});
}

TEST(SweepCommand, ShardsFromTheLauncher) {
  const std::string folder = scratch_folder("sweep-auto");
  ASSERT_EQ(run_program("sweep expand " + kGrid + "--out " + folder).exit_code, 0);
  const std::vector<const char*> variables = {"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX",
                                              "HQ_TASK_ID", "OMPI_COMM_WORLD_RANK"};
  for (const char* variable : variables) unsetenv(variable);
  const ProgramResult none = run_program("sweep run " + folder + " --shard auto/4");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("SLURM_ARRAY_TASK_ID"), std::string::npos) << none.err;
  for (size_t i = 0; i < variables.size(); ++i) {
    setenv(variables[i], std::to_string(i).c_str(), 1);
    EXPECT_EQ(run_program("sweep run " + folder + " --shard auto/4").exit_code, 0);
    unsetenv(variables[i]);
    EXPECT_TRUE(fs::exists(fmt::format("{}/part-{}.jsonl", folder, i)));
  }
  EXPECT_EQ(run_program("sweep merge " + folder).exit_code, 0);
  fs::remove_all(folder);
}

TEST(SweepCommand, InfeasiblePointsAreListed) {
  const std::string folder = scratch_folder("sweep-infeasible");
  const ProgramResult result = run_program(
      "sweep scenarios/small.yaml --replicas 3 --vary schedule=1f1b,gpipe --out " + folder);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("infeasible: 1 of 2 points"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("  1: "), std::string::npos) << result.out;
  fs::remove_all(folder);
}

TEST(SweepCommand, RefusesWhatItCannotDo) {
  const std::string folder = scratch_folder("sweep-refused");
  const auto expect_fault = [&](const std::string& arguments, const std::string& words) {
    const ProgramResult result = run_program("sweep " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  };
  const std::string small = "scenarios/small.yaml ";
  expect_fault("", "SCENARIO");
  expect_fault(small, "--vary");
  expect_fault(small + "--vary schedule=1f1b", "--out");
  expect_fault(small + "--vary snapshots.0.evry=1h,2h --out " + folder, "did you mean 'every'");
  expect_fault(small + "--vary campaign.length=1:2:3 --out " + folder, "a time");
  expect_fault(small + "--set campaign.length='0 s' --vary layout.tp=2,4 --out " + folder,
               "campaign");
  expect_fault("run " + folder, "cases.jsonl");
  expect_fault("resume " + folder, "cases.jsonl");
  ASSERT_EQ(run_program("sweep expand " + kGrid + "--out " + folder).exit_code, 0);
  const ProgramResult page = run_program("report " + folder);
  EXPECT_EQ(page.exit_code, 2);
  EXPECT_NE(page.err.find("windtunnel sweep merge"), std::string::npos) << page.err;
  expect_fault("run " + folder + " --shard 4/4", "parts are counted from 0");
  expect_fault("run " + folder + " --shard 1", "expected I/N");
  expect_fault("run " + folder + " --shard -1/2", "expected I/N");
  expect_fault("run " + folder + " --shad 1/2", "--shard");
  expect_fault("submit " + folder, "--slurm");
  fs::remove_all(folder);
}

constexpr const char* kManyPoints =
    "scenarios/small.yaml --replicas 40 "
    "--vary 'failures.*.rate=2 per 1000 node-days:40 per 1000 node-days:20log' "
    "--vary 'snapshots.0.every=2 min:4 h:30log' ";

TEST(SweepCommand, AnInterruptFinishesWhatIsUnderWay) {
  const std::string folder = scratch_folder("sweep-interrupt");
  ASSERT_EQ(run_program(std::string("sweep expand ") + kManyPoints + "--out " + folder).exit_code,
            0);
  const Running running({"sweep", "run", folder, "-j", "1"});
  while (lines_of(folder + "/part-0.jsonl") < 3) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  running.send(SIGINT);
  EXPECT_EQ(running.wait(), 3);
  const std::string part = read_text(folder + "/part-0.jsonl");
  EXPECT_TRUE(part.ends_with("}\n"));
  EXPECT_LT(lines_of(folder + "/part-0.jsonl"), 600U);
  EXPECT_EQ(run_program("sweep status " + folder).exit_code, 3);
  fs::remove_all(folder);
}

TEST(SweepCommand, SurvivesKills) {
  expect_sweep_survives_kills(
      "scenarios/small.yaml --replicas 20 "
      "--vary 'failures.*.rate=2 per 1000 node-days:40 per 1000 node-days:10log' "
      "--vary 'snapshots.0.every=2 min:4 h:20log' ",
      200, 5);
}

// Writes fake Slurm commands, which record how they were called.
void fake_slurm(const std::string& folder, const std::string& config) {
  const auto write = [&](const std::string& name, const std::string& body) {
    const std::string path = folder + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << body;
    fs::permissions(path, fs::perms::owner_all);
  };
  write("scontrol", fmt::format("echo 'MaxArraySize            = {}'\n", config));
  write("sbatch",
        fmt::format("echo \"$@\" >> '{0}/calls'\nwc -l < '{0}/calls' | tr -d ' '\n", folder));
}

TEST(SweepCommand, SubmitsAnArrayAndAMergeAfterIt) {
  const std::string tools = scratch_folder("sweep-slurm"), folder = tools + "/out";
  fake_slurm(tools, "5");
  ASSERT_EQ(run_program("sweep expand " + kGrid + "--out " + folder).exit_code, 0);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (tools + ":" + path).c_str(), 1);
  const ProgramResult printed =
      run_program("sweep submit " + folder + " --slurm --print --shards 4 --cpus 2");
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_NE(printed.out.find("#SBATCH --array=0-3\n"), std::string::npos) << printed.out;
  EXPECT_NE(printed.out.find("--shard auto/4 -j 2\n"), std::string::npos) << printed.out;
  EXPECT_FALSE(fs::exists(tools + "/calls"));
  const ProgramResult result = run_program("sweep submit " + folder + " --slurm");
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("5 shards instead of 12, because of MaxArraySize"), std::string::npos)
      << result.out;
  EXPECT_EQ(read_text(tools + "/calls"),
            fmt::format("--parsable {0}/shards.sh\n"
                        "--parsable --dependency=afterany:1 {0}/merge.sh\n",
                        folder));
  for (int i = 0; i < 5; ++i) {
    const std::string command =
        fmt::format("SLURM_ARRAY_TASK_ID={} sh {}/shards.sh 2>/dev/null", i, folder);
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  EXPECT_EQ(std::system(fmt::format("sh {}/merge.sh >/dev/null", folder).c_str()), 0);
  EXPECT_TRUE(fs::exists(folder + "/report.html"));
  fs::remove_all(tools);
}

TEST(OptimiseIntervals, WhatItFindsIsWhatRunGives) {
  // The gain is measured with other trials than the ones that chose the interval: with few trials
  // it may be negative.
  const std::string set = " --set campaign.replicas=64 ";
  const ProgramResult result = run_program(
      "optimise scenarios/small.yaml --over snapshots.0.every --for goodput --json" + set);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  const std::string value = document.at("set").at("snapshots.0.every");
  const json ran = json::parse(run_program("run scenarios/small.yaml --json" + set +
                                           "--set 'snapshots.0.every=" + value + "'")
                                   .out);
  EXPECT_EQ(ran.at("campaign").at("goodput").at("mean"),
            document.at("best").at("goodput").at("mean"));
  EXPECT_GE(document.at("gain").at("mean"), 0);
  EXPECT_NE(result.err.find("windtunnel run scenarios/small.yaml --set campaign.replicas=64 "
                            "--set "),
            std::string::npos)
      << result.err;
}

TEST(OptimiseIntervals, RefusesWhatItCannotSearch) {
  const auto expect_fault = [](const std::string& arguments, const std::string& words) {
    const ProgramResult result = run_program("optimise scenarios/small.yaml " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  };
  expect_fault("--over snapshots.0.every", "--for goodput");
  expect_fault("--over snapshots.0.every layout --for memory", "--for goodput");
  expect_fault("--over snapshots.7.every --for goodput", "no tier 7");
  expect_fault("--over snapshots.7.every layout --for goodput", "no tier 7");
  expect_fault("--over snapshots.1.every --for goodput",
               "the index is that in `snapshots`, which has 1 tier, counted from 0");
}

}  // namespace
}  // namespace windtunnel
