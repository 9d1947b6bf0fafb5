#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kTrace = "tests/data/infinitehbd_faults.csv";

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(TraceFaults, ALogIsFittedWithIntervals) {
  const ProgramResult result = run_program("trace import " + kTrace + " --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json fit = json::parse(result.out).at("logs").at(0);
  EXPECT_EQ(fit.at("name"), "InfiniteHBD");
  EXPECT_EQ(fit.at("faults"), 584);
  EXPECT_NEAR(fit.at("gap_weibull_shape").at("value").get<double>(), 0.62, 0.01);
  EXPECT_LT(fit.at("gap_weibull_shape").at("low").get<double>(), 0.60);
  EXPECT_GT(fit.at("gap_weibull_shape").at("high").get<double>(), 0.64);
  EXPECT_NE(result.err.find("faults per 1000 node-days"), std::string::npos) << result.err;
  const ProgramResult text = run_program("trace import " + kTrace);
  EXPECT_EQ(text.out, result.err);  // without --json the same text goes to stdout
}

// The page of a fit shows a table without figures above it, and no empty list of figures.
TEST(TraceFaults, AFitHasAPage) {
  const std::string page = scratch_folder("faults-page") + "/page.html";
  const ProgramResult result = run_program("trace import " + kTrace + " --page " + page);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string text = read_text(page);
  EXPECT_NE(text.find("<h1>Faults of "), std::string::npos);
  EXPECT_NE(text.find("faults per 1000 node-days<"), std::string::npos);
  EXPECT_EQ(text.find("<dl class=\"figures\"></dl>"), std::string::npos);
}

// A scenario takes the failures that `trace import` writes. `trace export` simulates a log of that
// scenario, and importing it gives the same fit within the spread of one draw.
TEST(TraceFaults, ALogGoesThroughAScenarioAndBack) {
  const std::string folder = scratch_folder("faults");
  const ProgramResult imported = run_program("trace import " + kTrace + " --out " + folder);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  for (const char* file : {"plain.csv", "arrivals.csv", "repairs.csv", "failures.yaml"}) {
    EXPECT_TRUE(fs::exists(folder + "/" + file)) << file;
    EXPECT_NE(imported.out.find(file), std::string::npos) << imported.out;
  }
  const json first = json::parse(run_program("trace import " + kTrace + " --json").out);
  const json again = json::parse(run_program("trace import " + folder + "/plain.csv --json").out);
  EXPECT_EQ(first, again);

  // The imported failures and their origins replace those of the scenario.
  std::string scenario = read_text(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml");
  for (const char* key : {"\nfailures:", "\norigins:"}) {
    const size_t begin = scenario.find(key);
    if (begin == std::string::npos) continue;
    size_t end = begin + 1;
    do {
      end = scenario.find('\n', end + 1);
    } while (end != std::string::npos && end + 1 < scenario.size() &&
             std::string(" -#\n").find(scenario[end + 1]) != std::string::npos);
    scenario.erase(begin, end == std::string::npos ? end : end - begin);
  }
  write_text(folder + "/taken.yaml", scenario + "\n" + read_text(folder + "/failures.yaml"));
  const std::string simulated = folder + "/simulated.csv";
  const std::string command = "trace export " + folder + "/taken.yaml --faults --out " + simulated +
                              " --nodes 400 --days 3480";
  const ProgramResult exported = run_program(command);
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const json fit =
      json::parse(run_program("trace import " + simulated + " --json").out).at("logs").at(0);
  const json& trace = first.at("logs").at(0);
  const auto near = [&](const char* key, double share) {
    const double value = trace.at(key).at("value");
    EXPECT_NEAR(fit.at(key).at("value").get<double>(), value, share * value) << key;
  };
  EXPECT_EQ(fit.at("nodes"), 400);
  near("rate_per_node_s", 0.15);
  near("gap_weibull_shape", 0.05);
  near("repair_median_s", 0.1);
  near("faults_in_batches", 0.25);
  near("frailty_variance", 0.4);

  const std::string first_log = read_text(simulated);
  run_program(command);
  EXPECT_EQ(read_text(simulated), first_log);
  run_program(command + " --seed 9");
  EXPECT_NE(read_text(simulated), first_log);
}

TEST(TraceFaults, WhatALogDoesNotNameIsNotCounted) {
  const std::string folder = scratch_folder("faults-unnamed");
  write_text(folder + "/starts.csv", "start_h\n1\n2\n7\n");
  const ProgramResult result = run_program("trace import " + folder + "/starts.csv");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("no fault names its node"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("nodes with a fault"), std::string::npos) << result.out;
}

TEST(TraceFaults, SeveralSystemsInOneFileGetAFolderEach) {
  const std::string folder = scratch_folder("systems");
  write_text(folder + "/lanl.csv",
             "system,start_min_since_2001,node,downtime_min,category,detail\n"
             "18,10,1,5,Hardware,\n18,20,2,5,Hardware,\n18,70,1,5,Hardware,\n"
             "20,10,1,5,Hardware,\n20,20,2,7,Hardware,\n20,90,1,9,Hardware,\n");
  const ProgramResult result =
      run_program("trace import " + folder + "/lanl.csv --out " + folder + "/out");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(fs::exists(folder + "/out/LANL-system-18/failures.yaml"));
  EXPECT_TRUE(fs::exists(folder + "/out/LANL-system-20/failures.yaml"));
  EXPECT_EQ(run_program("trace import " + folder + "/lanl.csv --nodes 4").exit_code, 2);
}

// A cluster's own records become classes of failures that a scenario takes without changes.
TEST(TraceFaults, RecordsOfAClusterBecomeFailuresOfAScenario) {
  const std::string folder = scratch_folder("faults-records");
  write_text(folder + "/jobs.txt",
             "JobID|State|Start|End|NNodes|NodeList\n"
             "1|NODE_FAIL|2024-08-01T00:00:00|2024-08-11T00:00:00|8|n[1-8]\n"
             "2|FAILED|2024-08-11T00:00:00|2024-08-21T00:00:00|8|n[1-8]\n"
             "3|COMPLETED|2024-08-21T00:00:00|2024-08-31T00:00:00|8|n[1-8]\n");
  const ProgramResult told = run_program("trace import " + folder + "/jobs.txt --out " + folder);
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_NE(told.out.find("jobs, processes: 1 fault of 8 nodes in 30.0 d"), std::string::npos)
      << told.out;
  EXPECT_NE(told.out.find("240 node-days of 3 jobs"), std::string::npos) << told.out;
  write_text(folder + "/job.yaml",
             "name: taken\nmodel: llama3-8b\ncluster: {node: dgx-h100, nodes: 2, storage: {write: "
             "2 GB/s, read: 2 GB/s}}\n"
             "batch: {global: 32}\nlayout: {sharding: zero2}\nsnapshots: [{tier: storage, every: 1 "
             "h, mode: async}]\n"
             "campaign: {length: 30 d}\n" +
                 read_text(folder + "/failures.yaml"));
  const ProgramResult ran = run_program("run " + folder + "/job.yaml --json");
  ASSERT_EQ(ran.exit_code, 0) << ran.err << read_text(folder + "/failures.yaml");
  // A file that is neither a trace nor a log of faults gets the error of a log.
  const ProgramResult refused = run_program("trace import " + folder + "/job.yaml");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("job.yaml:1:1: no log of faults has these columns"), std::string::npos)
      << refused.err;
}

// A fault that only ends processes of the job leaves no node to be repaired.
TEST(TraceFaults, ProcessesHaveNoRepairs) {
  const std::string folder = scratch_folder("faults-process");
  write_text(folder + "/ended.csv",
             "# kind: process\n# nodes: 4\n# days: 30\nstart_h,repair_h,node\n1,2,0\n50,1,1\n"
             "200,1,2\n");
  const ProgramResult told =
      run_program("trace import " + folder + "/ended.csv --out " + folder + "/out");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_TRUE(fs::exists(folder + "/out/arrivals-process.csv"));
  EXPECT_FALSE(fs::exists(folder + "/out/repairs-process.csv"));
  EXPECT_FALSE(fs::exists(folder + "/out/repairs.csv"));
  EXPECT_EQ(told.out.find("repairs"), std::string::npos) << told.out;
}

TEST(TraceFaults, WhatDoesNotGoTogetherIsTheUsersError) {
  const std::string folder = scratch_folder("faults-wrong");
  write_text(folder + "/bad.csv", "start_h,node\n1,2\n2,x\n");
  const std::pair<std::string, std::string> cases[] = {
      {"import " + folder + "/bad.csv", "bad.csv:3:2: column 'node' holds 'x'"},
      {"import " + folder + "/none.csv", "none.csv: cannot be read"},
      {"import " + kTrace + " --scenario scenarios/small.yaml", "needs no --scenario"},
      {"import " + kTrace + " --days 30", "its stated length is 30.0 days"},
      {"import " + kTrace + " --nodes 100",
       "with 100 nodes, counted from 0, there is no such node"},
      {"import " + kTrace + " --nodes 0", "--nodes"},
      {"import " + kTrace + " --days nan", "--days"},
      {"import traces", "--cluster is missing"},
      {"import traces --scenario scenarios/small.yaml --nodes 3", "are for a log of faults"},
      {"export scenarios/small.yaml --out " + folder + "/x --days 3", "--faults"},
      {"export scenarios/small.yaml --out " + folder + "/x --faults --ranks all", "--ranks"},
  };
  for (const auto& [arguments, what] : cases) {
    const ProgramResult result = run_program("trace " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_NE(result.err.find(what), std::string::npos) << arguments << "\n" << result.err;
  }
}

}  // namespace
}  // namespace windtunnel
