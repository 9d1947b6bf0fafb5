// Tests what exact texts do not show: documents parse, files are written, and a second run gives
// the same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/cli/run_program.hpp"
#include "tests/support/test_names.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(RunCommand, SameBytesTwiceAndOnAnyNumberOfThreads) {
  const ProgramResult first = run_program("run scenarios/small.yaml --json");
  const ProgramResult second = run_program("run scenarios/small.yaml --json -j 1");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(first.err, second.err);
  EXPECT_GT(json::parse(first.out).at("iteration").at("time_s").get<double>(), 0);
}

// These folders hold whole scenarios; others hold parts of scenarios.
class RunFolder : public testing::TestWithParam<std::string> {};

TEST_P(RunFolder, EveryShippedScenarioRuns) {
  const std::string out = scratch_folder("shipped" + GetParam().substr(1));
  int ran = 0;
  for (const auto& entry :
       fs::directory_iterator(WINDTUNNEL_SOURCE_DIR "/scenarios" + GetParam())) {
    if (entry.path().extension() != ".yaml") continue;
    ++ran;
    const std::string path = entry.path().string();
    const ProgramResult run = run_program("run " + path + " --allow-oom --out " + out);
    EXPECT_EQ(run.exit_code, 0) << path << "\n" << run.err;
  }
  EXPECT_GT(ran, 0);
}

std::string folder_name(const std::string& folder) {
  return folder == "/." ? "scenarios" : folder;
}

INSTANTIATE_TEST_SUITE_P(Folders, RunFolder,
                         testing::Values("/.", "/company", "/execution", "/headlines", "/pools"),
                         named(folder_name));
INSTANTIATE_TEST_SUITE_P(LongFolders, RunFolder, testing::Values("/volunteers"),
                         named(folder_name));

// A larger batch takes longer per step, but trains no fewer samples per second.
TEST(CompareCommand, RanksBatchesByWhatTheyTrainInASecond) {
  const ProgramResult result =
      run_program("compare scenarios/small.yaml --vary batch.global=64,256 --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const size_t larger = result.err.find("\n256 ");
  const size_t smaller = result.err.find("\n64 ");
  ASSERT_NE(larger, std::string::npos) << result.err;
  ASSERT_NE(smaller, std::string::npos) << result.err;
  EXPECT_LT(larger, smaller) << result.err;
  EXPECT_NE(result.err.find("tokens/s"), std::string::npos) << result.err;
}

TEST(RunCommand, JsonLeavesStdoutToTheDocument) {
  const ProgramResult text = run_program("run scenarios/small.yaml");
  const ProgramResult document = run_program("run scenarios/small.yaml --json");
  EXPECT_EQ(text.out, document.err);
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("step time"), std::string::npos);
}

TEST(RunCommand, TimingOnRequestOnly) {
  EXPECT_FALSE(json::parse(run_program("run scenarios/small.yaml --json").out).contains("timing"));
  const json timed = json::parse(run_program("run scenarios/small.yaml --json --timing").out);
  EXPECT_GT(timed.at("timing").at("wall_s").get<double>(), 0);
}

TEST(RunCommand, WritesTheFolderAndReportDrawsItAgain) {
  const std::string folder = scratch_folder("run") + "/deep/out";
  const ProgramResult run = run_program("run scenarios/small.yaml --out " + folder);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(json::parse(read_text(folder + "/trace.json")).contains("traceEvents"));
  const std::string page = read_text(folder + "/report.html");
  fs::remove(folder + "/report.html");
  const ProgramResult report = run_program("report " + folder);
  ASSERT_EQ(report.exit_code, 0) << report.err;
  EXPECT_EQ(read_text(folder + "/report.html"), page);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++files;
  EXPECT_EQ(files, 3u) << "a temporary file was left behind";
}

void add_nulls(const json& value, const std::string& path, std::set<std::string>& nulls) {
  if (value.is_null()) nulls.insert(path);
  if (!value.is_structured()) return;
  for (const auto& [key, part] : value.items()) {
    add_nulls(part, path + (value.is_array() ? "[]" : "/" + key), nulls);
  }
}

// Only the values that docs/reference/json.md names may be null, even if failures roll back beyond
// every copy or no copy survives them.
TEST(RunCommand, NoNumberOfARecordIsLeftOut) {
  const std::set<std::string> unknown = {"/campaign/job/days", "/campaign/job/cost_usd",
                                         "/campaign/interval", "/model/moe",
                                         "/model/latent",      "/model/hybrid_override_pattern",
                                         "/model/mamba",       "/model/sparse"};
  for (const std::string failure :
       {"kind: loss-spike, rollback: 1 h", "kind: loss-spike, rollback: 20 d",
        "kind: network, repair: 10 min", "kind: network", "kind: corrupt-snapshot", "kind: planned",
        "kind: slow-node, slowdown: 2", "kind: hang"}) {
    const ProgramResult run = run_program(
        "run scenarios/protection-34b.yaml --json --set campaign.replicas=4 --set "
        "'failures=[{class: one, rate: 2 per 1000 node-days, " +
        failure + "}]'");
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err.find("internal check"), std::string::npos) << failure;
    std::set<std::string> nulls;
    add_nulls(json::parse(run.out), "", nulls);
    for (const std::string& path : nulls) EXPECT_TRUE(unknown.contains(path)) << failure << path;
  }
}

// If the trace does not show the typical step, the trace and the output of `run` both say which
// iterations or which draw it shows.
TEST(RunCommand, SaysWhichIterationsOrDrawTheTraceIs) {
  const std::vector<std::pair<std::string, std::string>> runs = {
      {" --set layout.pp=2 --set batch.global=8 --set schedule=pipedream", "it shows "},
      {" --set cluster.jitter.sigma=0.2 --set cluster.jitter.draws=3", "it is draw "}};
  for (const auto& [set, says] : runs) {
    const std::string folder = scratch_folder("shown");
    const ProgramResult run =
        run_program("run examples/traces/gpt-4-layers.yaml --out " + folder + set);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto at = run.out.find("trace.json: " + says);
    ASSERT_NE(at, std::string::npos) << run.out;
    const json trace = json::parse(read_text(folder + "/trace.json"));
    const std::string shows = trace.at("otherData").at("shows");
    EXPECT_EQ(run.out.substr(at, 12 + shows.size()), "trace.json: " + shows);
  }
}

TEST(RunCommand, ARecordMakesItsResultAgain) {
  const std::string folder = scratch_folder("again");
  const std::string set =
      " --set recompute=full --set batch.global=32 --set 'failures.0.rate=9 per 1000 node-days'";
  ASSERT_EQ(run_program("run scenarios/small.yaml --out " + folder + "/a" + set).exit_code, 0);
  const ProgramResult again =
      run_program("run " + folder + "/a/record.json --out " + folder + "/b --json");
  ASSERT_EQ(again.exit_code, 0) << again.err;
  for (const std::string name : {"/record.json", "/report.html", "/trace.json"}) {
    EXPECT_EQ(read_text(folder + "/b" + name), read_text(folder + "/a" + name)) << name;
  }
  const json record = json::parse(read_text(folder + "/a/record.json"));
  EXPECT_EQ(record.at("source").at("scenario"),
            read_text(WINDTUNNEL_SOURCE_DIR "/scenarios/small.yaml"));
  EXPECT_EQ(record.at("source").at("set").at(0), json({"recompute", "full"}));
  const auto rate = std::ranges::find(record.at("values"), "failures.0.rate",
                                      [](const json& value) { return value.at("key"); });
  ASSERT_NE(rate, record.at("values").end());
  EXPECT_EQ(rate->at("value"), "9 per 1000 node-days");
  EXPECT_EQ(rate->at("from"), "scenario");
  // An option overrides what the record holds.
  const json other =
      json::parse(run_program("run " + folder + "/a/record.json --json --set batch.global=64").out);
  EXPECT_NE(other.at("key"), json::parse(again.out).at("key"));
  const ProgramResult folder_of_sweep = run_program("run " + folder + "/a/trace.json");
  EXPECT_EQ(folder_of_sweep.exit_code, 2) << "no record";
}

// Writes into the folder a scenario and the file that it names as `job.quality`; returns the
// scenario's path.
std::string scenario_with_file(const std::string& folder) {
  std::ofstream(folder + "/q.csv") << "steps\n5000\n";
  std::ofstream(folder + "/t.yaml")
      << "name: t\nmodel: llama3-8b\ncluster: {nodes: 2, node: dgx-h100}\n"
         "layout: {tp: 2, pp: 2, sharding: zero1, sequence_parallel: true}\n"
         "batch: {global: 64}\njob: {quality: q.csv}\n";
  return folder + "/t.yaml";
}

TEST(RunCommand, ARecordHoldsTheFilesThatItsScenarioNames) {
  const std::string folder = scratch_folder("files");
  const std::string scenario = scenario_with_file(folder);
  const ProgramResult first = run_program("run " + scenario + " --json --out " + folder + "/o");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::string record = folder + "/o/record.json";
  const auto expect_the_same = [&](const std::string& path) {
    const ProgramResult again = run_program("run " + path + " --json");
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(again.out, first.out);
    EXPECT_EQ(again.err.find("windtunnel:"), std::string::npos) << again.err;
  };
  std::ofstream(folder + "/q.csv") << "steps\n9000\n";
  expect_the_same(record);
  fs::remove(folder + "/q.csv");
  expect_the_same(record);
  // A user may have formatted the record, as `jq .` does.
  std::ofstream(folder + "/pretty.json") << json::parse(read_text(record)).dump(2);
  expect_the_same(folder + "/pretty.json");
}

TEST(RunCommand, ARecordOfAnotherBuildOrCaseSaysSo) {
  const std::string folder = scratch_folder("another");
  const std::string scenario = scenario_with_file(folder);
  ASSERT_EQ(run_program("run " + scenario + " --out " + folder).exit_code, 0);
  json record = json::parse(read_text(folder + "/record.json"));
  const auto complaints = [&](const json& changed) {
    std::ofstream(folder + "/changed.json") << changed;
    const ProgramResult result = run_program("run " + folder + "/changed.json");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  EXPECT_EQ(complaints(record), "");
  json build = record;
  build["source"]["version"] = "9.9.9";
  build["source"]["commit"] = "deadbeef";
  EXPECT_NE(complaints(build).find("was made by 9.9.9 (deadbeef), but this is "),
            std::string::npos);
  // The warning is printed once, even by commands that read the scenario several times.
  const std::string twice =
      run_program("schedule search --effort 0.01 --scenario " + folder + "/changed.json").err;
  EXPECT_NE(twice.find("was made by"), std::string::npos) << twice;
  EXPECT_EQ(twice.find("was made by"), twice.rfind("was made by")) << twice;
  json key = record;
  key["result"]["key"] = "0000";
  EXPECT_NE(complaints(key).find(" 0000"), std::string::npos);
  // A text that is too large is not kept in the record: the file on disk is compared instead.
  json large = record;
  large["source"]["files"][0]["text"] = nullptr;
  EXPECT_EQ(complaints(large), "");
  std::ofstream(folder + "/q.csv") << "steps\n9000\n";
  EXPECT_NE(complaints(large).find("q.csv has changed since"), std::string::npos);
  // A text that was edited inside the record is used as it is, and changes the key of the case.
  json edited = record;
  edited["source"]["files"][0]["text"] = "steps\n7000\n";
  EXPECT_EQ(complaints(edited).find("q.csv"), std::string::npos);
  EXPECT_NE(complaints(edited).find("the case differs from the one in the record"),
            std::string::npos);
}

TEST(RunCommand, ARecordOfWhatDoesNotFitMakesItsResultAgain) {
  const std::string folder = scratch_folder("oom");
  ASSERT_EQ(run_program("run scenarios/small.yaml --set schedule=gpipe --allow-oom --out " + folder)
                .exit_code,
            0);
  const ProgramResult again = run_program("run " + folder + "/record.json");
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST(RunCommand, RecordsOfOtherCommandsSayWhatTakesThem) {
  const std::string folder = scratch_folder("others");
  const std::string scenario =
      "scenarios/small.yaml --vary layout.tp=2,4 --set campaign.replicas=2";
  ASSERT_EQ(run_program("compare " + scenario + " --allow-oom --out " + folder + "/c").exit_code,
            0);
  ASSERT_EQ(run_program("sweep " + scenario + " --out " + folder + "/s").exit_code, 0);
  for (const auto& [path, words] :
       {std::pair{"/c/record.json", "; to run all of it again: windtunnel compare /"},
        {"/s/sweep.json", "; to run all of it again: windtunnel sweep /"},
        {"/s/sweep.json", " --vary layout.tp=2,4 --out NEW_DIR\n"},
        {"/s/cases.jsonl", "windtunnel sweep resume /"},
        {"/s/cases.jsonl", " --set campaign.replicas=2 --vary layout.tp=2,4 --out NEW_DIR\n"}}) {
    const ProgramResult result = run_program("run " + folder + path);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }
  EXPECT_NE(run_program("run " + folder + "/c/record.json").err.find(" --out NEW_DIR\n"),
            std::string::npos);
  const ProgramResult point = run_program("run " + folder + "/c/4/record.json");
  EXPECT_EQ(point.exit_code, 0) << point.err;
  // Every command takes a record where it takes a scenario.
  const std::string record = folder + "/c/4/record.json";
  for (const std::string& command :
       {"sweep " + record + " --vary layout.tp=2,4 --out " + folder + "/again",
        "optimise " + record + " --over recompute --top 1",
        "trace export " + record + " --ranks one-per-class --out " + folder + "/traces"}) {
    const ProgramResult result = run_program(command);
    EXPECT_EQ(result.exit_code, 0) << command << ": " << result.err;
  }
}

TEST(ReportCommand, AFolderIsOfOneResult) {
  const std::string folder = scratch_folder("mixed");
  const std::string sweep = "sweep scenarios/small.yaml --vary layout.tp=2,4 --replicas 2 --out ";
  ASSERT_EQ(run_program(sweep + folder + "/s").exit_code, 0);
  ASSERT_EQ(run_program("run scenarios/small.yaml --out " + folder + "/r").exit_code, 0);
  for (const std::string& command :
       {"run scenarios/small.yaml --out " + folder + "/s", sweep + folder + "/r",
        "compare scenarios/small.yaml --vary layout.tp=2,4 --out " + folder + "/s"}) {
    const ProgramResult result = run_program(command);
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_NE(result.err.find("take another folder with --out"), std::string::npos) << result.err;
  }
  fs::copy_file(folder + "/r/record.json", folder + "/s/record.json");
  EXPECT_EQ(run_program("report " + folder + "/s").exit_code, 2);
}

TEST(RunCommand, AModelIsNoScenario) {
  const std::string folder = scratch_folder("model_no_scenario");
  std::ofstream(folder + "/config.json") << "{\"architectures\": [\"LlamaForCausalLM\"]}";
  const ProgramResult result = run_program("run " + folder + "/config.json");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("config.json: is a model, not a scenario: a scenario names it as "),
            std::string::npos)
      << result.err;
  std::ofstream(folder + "/broken.json") << "{\"a\": 1\n \"b\": 2}";
  const std::string broken = run_program("run " + folder + "/broken.json").err;
  EXPECT_NE(broken.find("broken.json:2:5: not valid JSON"), std::string::npos) << broken;
  EXPECT_NE(broken.find("comma"), std::string::npos) << broken;
}

TEST(RunCommand, ExpertsWithoutAWidthPointAtThem) {
  const std::string file = scratch_folder("experts") + "/moe.yaml";
  std::ofstream(file) << "name: a\nmodel: {base: llama3-8b,\n  moe: {experts: 8, per_token: 2}}\n"
                         "cluster: {nodes: 1, node: dgx-h100}\nlayout: {tp: 1, pp: 1}\n"
                         "batch: {global: 8}\n";
  const std::string err = run_program("run " + file).err;
  EXPECT_NE(err.find("moe.yaml:3:3: model.moe has no 'ffn'"), std::string::npos) << err;
}

// `auto` derives dp from the GPUs and the other dimensions, whatever dp the scenario gives.
TEST(RunCommand, AutoLetsDpFollow) {
  const ProgramResult fixed = run_program("run scenarios/small.yaml --set layout.dp=3");
  EXPECT_EQ(fixed.exit_code, 2);
  EXPECT_NE(fixed.err.find("layout.dp=auto"), std::string::npos) << fixed.err;
  const std::string open = "run scenarios/small.yaml --json --set layout.dp=";
  const ProgramResult follows = run_program(open + "auto");
  ASSERT_EQ(follows.exit_code, 0) << follows.err;
  EXPECT_EQ(json::parse(follows.out).at("iteration"),
            json::parse(run_program("run scenarios/small.yaml --json").out).at("iteration"));
}

TEST(RunCommand, WhatDoesNotFitFailsUnlessAllowed) {
  const std::string arguments = "run scenarios/small.yaml --set schedule=gpipe";
  const ProgramResult refused = run_program(arguments + " --json");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("activations"), std::string::npos) << refused.err;
  const ProgramResult allowed = run_program(arguments + " --allow-oom");
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_NE(allowed.out.find("excess"), std::string::npos) << allowed.out;
}

TEST(RunCommand, ExplainStatesEveryValueWithItsOrigin) {
  const ProgramResult result = run_program("run scenarios/small.yaml --explain");
  EXPECT_EQ(result.exit_code, 0);
  for (const char* word : {"layout.pp", "default", "scenario"}) {
    EXPECT_NE(result.out.find(word), std::string::npos) << word;
  }
}

TEST(RunCommand, AFullDiskIsAnError) {
  const ProgramResult result = run_program("run scenarios/small.yaml --json >/dev/full");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("cannot write to standard output"), std::string::npos) << result.err;
}

TEST(RunCommand, PathsTheSystemRefusesAreErrors) {
  const std::string long_name(5000, 'x');
  const std::pair<std::string, int> cases[] = {
      {"run scenarios/small.yaml --out " + long_name, 1},
      {"run scenarios/small.yaml --out CMakeLists.txt/out", 1},
      {"run scenarios/small.yaml --out /proc/no-such-folder", 1},
      {"report " + long_name, 2},
      {"report CMakeLists.txt", 2},
      {"validate schedules " + long_name, 2},
      {"validate schedules tests", 2}};
  for (const auto& [arguments, exit_code] : cases) {
    if (!is_built(arguments)) continue;
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << arguments;
    EXPECT_NE(result.err.find("cannot"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("internal error"), std::string::npos) << result.err;
  }
}

TEST(CompareCommand, ListsInfeasiblePointsWithoutFailing) {
  const std::string folder = scratch_folder("compare");
  const ProgramResult result = run_program(
      "compare scenarios/small.yaml --vary layout.pp=1,2,3 --vary schedule=gpipe,1f1b --json "
      "--out " +
      folder);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("points").size() + document.at("infeasible").size(), 6u);
  EXPECT_EQ(document.at("points").size(), 2u);
  for (const json& point : document.at("points")) {
    EXPECT_EQ(point.at("set").at("schedule"), "1f1b");
  }
  for (const json& point : document.at("infeasible")) EXPECT_NE(point.at("reason"), "");
  EXPECT_EQ(read_text(folder + "/compare.json"), result.out);
}

TEST(CompareCommand, AMisspeltKeyIsAnErrorOfTheOptionThatWasUsed) {
  const ProgramResult result = run_program("compare scenarios/small.yaml --vary layout.tq=2,4");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "windtunnel: --vary layout.tq=2: unknown layout key 'tq'; did you mean 'tp'?\n");
}

// A misspelt name is an error even though the other point would run.
TEST(CompareCommand, AMisspeltNameIsAnErrorOfItsOption) {
  const ProgramResult result =
      run_program("compare scenarios/small.yaml --vary layout.sharding=none,zreo1");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "windtunnel: --vary layout.sharding=zreo1: unknown sharding 'zreo1'; did you mean "
            "'zero1'?\n");
}

TEST(CompareCommand, WithoutAScenarioThereIsNoFolder) {
  const std::string folder = scratch_folder("compare-none") + "/new";
  EXPECT_EQ(run_program("compare nope.yaml --vary layout.tp=2,4 --out " + folder).exit_code, 2);
  EXPECT_FALSE(fs::exists(folder));
}

TEST(CompareCommand, CommasInsideOfBracesDoNotSeparate) {
  const ProgramResult result = run_program(
      "compare scenarios/small.yaml --vary 'batch={global: 64, micro: 1, sequence: 8192},"
      "{global: 32, micro: 1, sequence: 8192}' --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).at("points").size(), 2u);
}

TEST(CompareCommand, WritesAPageAndAFolderPerPointThatReportDrawsAgain) {
  const std::string folder = scratch_folder("compare-page");
  const ProgramResult result = run_program(
      "compare scenarios/small.yaml --vary schedule=1f1b,gpipe,interleaved-1f1b --allow-oom "
      "--set layout.vpp=1 --out " +
      folder);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string page = read_text(folder + "/report.html");
  for (const std::string name : {"1f1b", "gpipe", "interleaved-1f1b"}) {
    EXPECT_NE(page.find("<th scope=\"row\">" + name + "</th>"), std::string::npos) << name;
  }
  EXPECT_EQ(run_program("report " + folder).exit_code, 0);
  EXPECT_EQ(read_text(folder + "/report.html"), page);
  for (const std::string name : {"1f1b", "gpipe"}) {
    const json trace = json::parse(read_text(folder + "/" + name + "/trace.json"));
    EXPECT_GT(trace.at("traceEvents").size(), 100u);
    EXPECT_EQ(run_program("report " + folder + "/" + name).exit_code, 0);
  }
}

TEST(CompareCommand, TheNumberOfThreadsDoesNotShow) {
  const std::string arguments =
      "compare scenarios/small.yaml --vary schedule=1f1b,gpipe --vary batch.micro=1,2 --json -j ";
  const ProgramResult one = run_program(arguments + "1");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(run_program(arguments + "4").out, one.out);
}

TEST(SchemaCommand, PrintsASchema) {
  const ProgramResult result = run_program("schema");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json schema = json::parse(result.out);
  EXPECT_TRUE(schema.contains("$schema"));
  EXPECT_TRUE(schema.at("properties").contains("layout"));
}

TEST(ListCommand, EveryListIsATableAndADocument) {
  for (const std::string what :
       {"gpus", "nodes", "models", "fabrics", "schedules", "compressors", "calibrations",
        "attention", "snapshots", "writers", "recoveries"}) {
    const ProgramResult table = run_program("list " + what);
    EXPECT_EQ(table.exit_code, 0) << table.err;
    EXPECT_GT(std::count(table.out.begin(), table.out.end(), '\n'), 1) << what;
    const json document = json::parse(run_program("list " + what + " --json").out);
    // Rows that continue the entry above, or have no name, do not count as entries.
    std::istringstream rows(table.out);
    std::size_t named = 0;
    for (std::string row; std::getline(rows, row);) named += row[0] != ' ' && row[0] != '-';
    EXPECT_EQ(document.at(what).size() + 1, named) << what;
  }
}

// NVIDIA's data sheet (SXM5, 80 GB) states 989.4 TFLOP/s dense in 16 bits, and twice that in 8.
TEST(ListCommand, ARowSaysWhatIsKnownAndFromWhere) {
  const std::string gpus = run_program("list gpus").out;
  const std::string row = gpus.substr(gpus.find("\nh100 ") + 1);
  for (const char* part : {" 989   989   1979 ", " 80.0 GB  3.35 TB/s  132  spec "}) {
    EXPECT_NE(row.substr(0, row.find('\n')).find(part), std::string::npos) << row;
  }
}

// GEMINI (SOSP 2023) keeps copies on two machines, so one of them may be lost.
TEST(ListCommand, TheDocumentSaysWhatASnapshotSurvives) {
  const json document = json::parse(run_program("list snapshots --json").out);
  EXPECT_EQ(document.at("tiers").size(), 6U);
  for (const json& tier : document.at("tiers")) EXPECT_NE(tier.at("help"), "");
  const json& all = document.at("snapshots");
  for (const json& one : all) {
    EXPECT_TRUE(one.at("help").is_string() && one.at("source").is_string()) << one;
    EXPECT_TRUE(one.at("origin") == "published" || one.at("origin") == "assumed") << one;
  }
  const auto gemini = std::ranges::find(all, "gemini", [](const json& one) { return one["name"]; });
  ASSERT_NE(gemini, all.end());
  const json& tiers = gemini->at("tiers");
  ASSERT_EQ(tiers.size(), 2U);
  EXPECT_EQ(tiers[0].at("survives"),
            json::parse(R"({"everything": false, "process": true, "keeper": true, "planned": true,
                            "nodes": 1, "of_nodes": 2})"));
  EXPECT_EQ(tiers[1].at("survives").at("everything"), true);
}

}  // namespace
}  // namespace windtunnel
