#include "report/store/sweep_store.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "models/base/error.hpp"
#include "models/base/version.hpp"
#include "report/page/sweep_page.hpp"
#include "report/store/sweep_database.hpp"
#include "report/store/sweep_lines.hpp"
#include "report/store/sweep_ranking.hpp"
#include "report/store/sweep_results.hpp"
#include "tests/support/error_of.hpp"
#include "traces/sqlite/sqlite_file.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

std::string scratch(const std::string& name) {
  const std::string folder =
      fmt::format("{}windtunnel-store-{}-{}", ::testing::TempDir(), getpid(), name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

// A sweep of 2 x 3 points; the scenario text of the last one is impossible.
SweepPlan plan_of_six() {
  SweepPlan plan;
  plan.version = "1.2.3";
  plan.sweep = {{.file = "/a/b.yaml",
                 .text = "name: \"x\"\n",
                 .set = {{"k", "v"}, {"k", "w"}},
                 .files = {{.name = "a.csv", .text = "steps\n5\n", .hash = "0123456789abcdef"}}},
                {{"schedule", {"1f1b", "gpipe"}}, {"snapshots.0.every", {"1 h", "2 h", "240 s"}}}};
  for (int i = 0; i < 5; ++i) {
    plan.cases.push_back({.index = i, .key = 0x100U + static_cast<unsigned>(i), .table = 7});
  }
  plan.cases.push_back({.index = 5, .fault = std::make_shared<const Error>("cannot be")});
  return plan;
}

SweepPoint point_of(const SweepCase& the_case, double tokens_per_s, std::vector<double> goodput) {
  SweepPoint point{.index = the_case.index};
  point.scenario = "x";
  point.iteration.time_s = 10;
  point.iteration.tokens_per_s = tokens_per_s;
  CampaignReport report;
  report.goodput = estimate(goodput, 1);
  report.wall_s = {1000, 1000, 1000, 1000, 1000};
  report.lost_s[0] = {50, 40, 60, 30, 70};
  report.lost[0] = {0.05, 0.04, 0.06, 0.03, 0.07};
  report.trial_goodput = std::move(goodput);
  point.campaign = report;
  return point;
}

std::map<int, std::string> six_lines(const SweepPlan& plan) {
  std::map<int, std::string> lines;
  for (int i = 0; i < 5; ++i) {
    const double base = 0.5 + 0.05 * i;
    lines[i] =
        point_line(plan.sweep, plan.cases[i], point_of(plan.cases[i], 100, {base, base + 0.2}));
  }
  SweepPoint infeasible{.index = 5};
  infeasible.reason = plan.cases[5].reason();
  lines[5] = point_line(plan.sweep, plan.cases[5], infeasible);
  return lines;
}

TEST(SweepStore, CasesReadBackWhatWasWritten) {
  const SweepPlan plan = plan_of_six();
  EXPECT_EQ(parse_cases(cases_text(plan), "cases.jsonl"), plan);
  EXPECT_EQ(difference_of(plan, plan), "");
  const auto differs = [&](auto change) {
    SweepPlan other = plan;
    change(other);
    return difference_of(plan, other);
  };
  EXPECT_NE(differs([](SweepPlan& p) { p.version = "2"; }), "");
  EXPECT_NE(differs([](SweepPlan& p) { p.sweep.scenario.text += "#"; }), "");
  EXPECT_NE(differs([](SweepPlan& p) { p.sweep.scenario.set.pop_back(); }), "");
  EXPECT_NE(differs([](SweepPlan& p) { p.sweep.vary[0].values[0] = "zb-v"; }), "");
  EXPECT_NE(differs([](SweepPlan& p) { ++p.cases[2].key; }), "");
}

TEST(SweepStore, DamagedCasesAreRefused) {
  const std::string text = cases_text(plan_of_six());
  // Wherever the text is cut off, it is not read as another sweep.
  for (size_t length = 0; length < text.size(); length += 7) {
    EXPECT_THROW(parse_cases(text.substr(0, length), "cases.jsonl"), Error) << length;
  }
  EXPECT_THROW(parse_cases("{}\n{}\n", "cases.jsonl"), Error);
  // A point's keys follow from its place in the grid; a mismatch is reported.
  const auto fault_with = [&](const std::string& part, const std::string& other) {
    std::string damaged = text;
    damaged.replace(damaged.find(part), part.size(), other);
    return error_of([&] { parse_cases(damaged, "cases.jsonl"); });
  };
  EXPECT_EQ(fault_with("[\"schedule\",\"gpipe\"]", "[\"schedule\",\"1f1b\"]"),
            "cases.jsonl:5:1: damaged: not the values of this point of the grid");
  EXPECT_EQ(fault_with("0000000000000103", "0000000000000x03"),
            "cases.jsonl:5:1: damaged: key '0000000000000x03' is none");
  // A point must have a key or a reason.
  EXPECT_EQ(fault_with("\"key\":\"0000000000000103\"", "\"key\":\"\""),
            "cases.jsonl:5:1: damaged: neither key nor reason");
  EXPECT_EQ(fault_with("\"reason\":\"cannot be\"", "\"reason\":\"\""),
            "cases.jsonl:7:1: damaged: neither key nor reason");
  EXPECT_EQ(fault_with("\"points\":6", "\"points\":7"),
            "cases.jsonl:1:1: damaged: holds 7 points of a grid of 6");
}

TEST(SweepStore, CasesAreReadFromTheirFileAsFromText) {
  const SweepPlan plan = plan_of_six();
  const std::string folder = scratch("cases");
  const std::string file = cases_path(folder);
  write_cases(plan, file);
  EXPECT_EQ(read_file(file), cases_text(plan));
  EXPECT_EQ(read_cases(file), plan);
  std::vector<SweepCase> seen;
  const SweepPlan head = read_cases(file, [&](const SweepCase& each) { seen.push_back(each); });
  EXPECT_TRUE(head.cases.empty());
  EXPECT_EQ(seen, plan.cases);
  fs::remove_all(folder);
}

TEST(SweepStore, ATornLineIsNoResultAndMakesRoom) {
  const SweepPlan plan = plan_of_six();
  const std::map<int, std::string> lines = six_lines(plan);
  for (const size_t torn : {size_t{1}, lines.at(1).size() / 2, lines.at(1).size() - 1}) {
    const std::string folder = scratch("torn");
    std::ofstream(folder + "/part-0.jsonl") << lines.at(0) << lines.at(1).substr(0, torn);
    EXPECT_EQ(SweepLines(folder, head_of(plan)).finished(), 1U);
    SweepPart(folder, 0).append(lines.at(2));
    EXPECT_EQ(read_file(folder + "/part-0.jsonl"), lines.at(0) + lines.at(2));
    EXPECT_EQ(SweepLines(folder, head_of(plan)).finished(), 2U);
    fs::remove_all(folder);
  }
}

TEST(SweepStore, ALineOfAnotherSweepIsRefusedWithItsPlace) {
  const SweepPlan plan = plan_of_six();
  const std::map<int, std::string> lines = six_lines(plan);
  SweepCase other = plan.cases[1];
  ++other.key;
  const std::string foreign = point_line(plan.sweep, other, point_of(other, 1, {0.5}));
  for (const std::string& wrong : {foreign, std::string("{\"index\": 77}\n"), std::string("x\n"),
                                   std::string("{\"index\": \"1\", \"key\": 3}\n")}) {
    const std::string folder = scratch("foreign");
    std::ofstream(folder + "/part-3.jsonl") << lines.at(0) << wrong;
    EXPECT_TRUE(fails([&] { SweepLines(folder, head_of(plan)); }, "part-3.jsonl:2:1"));
    fs::remove_all(folder);
  }
}

TEST(SweepStore, APartIsWrittenByOneProcessAtATime) {
  const std::string folder = scratch("lock");
  const auto refused_to_another = [&] {
    const pid_t child = fork();
    if (child == 0) {
      try {
        SweepPart(folder, 0);
        _exit(0);
      } catch (const Error&) {
        _exit(1);
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
  };
  {
    const SweepPart part(folder, 0);
    EXPECT_TRUE(refused_to_another());
  }
  EXPECT_FALSE(refused_to_another());
  fs::remove_all(folder);
}

TEST(SweepStore, FilesThatAreWrittenOnce) {
  const SweepPlan plan = plan_of_six();
  const std::string folder = scratch("once");
  const std::map<int, std::string> lines = six_lines(plan);
  {
    SweepPart part(folder, 2, 3600);
    part.append(lines.at(0));
    part.append(lines.at(1));
    EXPECT_TRUE(fs::is_empty(folder));  // buffered until the interval ends
    part.finish();
    EXPECT_EQ(read_file(folder + "/part-2-0.jsonl"), lines.at(0) + lines.at(1));
    part.append(lines.at(2));
  }
  EXPECT_EQ(read_file(folder + "/part-2-1.jsonl"), lines.at(2));
  SweepPart again(folder, 2, 3600);  // nothing locks the parts
  again.append(lines.at(2));
  again.finish();
  EXPECT_EQ(read_file(folder + "/part-2-2.jsonl"), lines.at(2));
  EXPECT_EQ(SweepLines(folder, head_of(plan)).finished(), 3U);
  fs::remove_all(folder);
}

TEST(SweepStore, PointsThatEndSeldomAreWrittenAtOnce) {
  const SweepPlan plan = plan_of_six();
  const std::string folder = scratch("seldom");
  const std::map<int, std::string> lines = six_lines(plan);
  SweepPart part(folder, 0, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  part.append(lines.at(0));  // two intervals after the start
  part.append(lines.at(1));
  part.append(lines.at(2));
  EXPECT_EQ(read_file(folder + "/part-0-0.jsonl"), lines.at(0));
  EXPECT_EQ(read_file(folder + "/part-0-1.jsonl"), lines.at(1));
  EXPECT_FALSE(fs::exists(folder + "/part-0-2.jsonl"));
  fs::remove_all(folder);
}

TEST(SweepStore, WhatCouldNotBeWrittenOnceIsWrittenLater) {
  const SweepPlan plan = plan_of_six();
  const std::string folder = scratch("once-again");
  const std::map<int, std::string> lines = six_lines(plan);
  SweepPart part(folder, 0, 3600);
  part.append(lines.at(0));
  fs::remove_all(folder);
  const std::string error = error_of([&] { part.finish(); }, ExitCode::failed);
  EXPECT_NE(error.find("part-0-0.jsonl: cannot write: No such file"), std::string::npos) << error;
  fs::create_directories(folder);
  part.finish();
  EXPECT_EQ(SweepLines(folder, head_of(plan)).finished(), 1U);
  fs::remove_all(folder);
}

TEST(SweepResults, BestAndHowSurely) {
  const SweepPlan plan = plan_of_six();
  std::map<int, std::string> lines = six_lines(plan);
  // Replicas differ by 0.2, but the points by 0.05 in each replica, so that the difference is
  // certain.
  const Json best = sweep_results(plan.sweep, lines).document.at("best");
  EXPECT_EQ(best.at("index"), 4);
  EXPECT_EQ(best.at("runner_up").at("index"), 3);
  for (const char* part : {"mean", "low", "high"}) {
    EXPECT_NEAR(best.at("runner_up").at("difference").at(part).get<double>(), 0.05, 1e-12);
  }
  // Half of the goodput at three times the speed makes more progress.
  lines[1] = point_line(plan.sweep, plan.cases[1], point_of(plan.cases[1], 300, {0.35, 0.45}));
  const Json faster = sweep_results(plan.sweep, lines).document.at("best");
  EXPECT_EQ(faster.at("index"), 1);
  EXPECT_NEAR(faster.at("runner_up").at("difference").at("mean").get<double>(), 0.4 - 0.8 / 3,
              1e-12);
  // With equal iterations the difference is in goodput, otherwise in progress.
  EXPECT_EQ(best.at("runner_up").at("by"), "goodput");
  EXPECT_EQ(faster.at("runner_up").at("by"), "progress");
  EXPECT_NE(runner_up_text(best.at("runner_up")).find("points less goodput under"),
            std::string::npos);
  EXPECT_NE(runner_up_text(faster.at("runner_up")).find("points less progress"), std::string::npos);
}

TEST(SweepResults, DocumentHasEveryPointWithResultOrReason) {
  SweepPlan plan = plan_of_six();
  const Json document = sweep_results(plan.sweep, six_lines(plan)).document;
  EXPECT_EQ(document.at("scenario"), "x");
  EXPECT_EQ(document.at("format"), "windtunnel-sweep-1");
  EXPECT_EQ(document.at("source").at("version"), program_version());
  EXPECT_EQ(document.at("source").at("scenario"), plan.sweep.scenario.text);
  EXPECT_EQ(document.at("source").at("files")[0].at("name"), "a.csv");
  EXPECT_EQ(document.at("vary")[0].at("numbers"), nullptr);
  EXPECT_EQ(document.at("vary")[1].at("numbers"), Json({3600.0, 7200.0, 240.0}));
  ASSERT_EQ(document.at("points").size(), 6U);
  EXPECT_TRUE(document.at("points")[0].at("result").contains("goodput"));
  EXPECT_EQ(document.at("points")[5].at("reason"), "cannot be");
  const std::string text = sweep_text(sweep_results(plan.sweep, six_lines(plan)));
  EXPECT_NE(text.find("best: schedule=gpipe snapshots.0.every=2 h"), std::string::npos) << text;
  EXPECT_NE(text.find("5: cannot be"), std::string::npos) << text;
  plan.sweep.scenario.files.clear();
  EXPECT_FALSE(sweep_results(plan.sweep, six_lines(plan)).document.at("source").contains("files"));
}

std::vector<std::vector<std::string>> query(const std::string& path, const std::string& sql) {
  std::vector<std::vector<std::string>> rows;
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  const auto add = [](void* into, int count, char** values, char**) {
    auto* all = static_cast<std::vector<std::vector<std::string>>*>(into);
    all->emplace_back();
    for (int i = 0; i < count; ++i) all->back().emplace_back(values[i] ? values[i] : "NULL");
    return 0;
  };
  char* fault = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), add, &rows, &fault), SQLITE_OK)
      << (fault != nullptr ? fault : "");
  sqlite3_free(fault);
  sqlite3_close(database);
  return rows;
}

void write_database(const std::string& path, const SweepPlan& plan,
                    const std::map<int, std::string>& lines) {
  SweepDatabase database(path, plan.sweep);
  for (const auto& [index, line] : lines) database.add(parse_json(line, "line"));
  database.close();
}

TEST(SweepResults, SqliteAnswersQuestions) {
  const SweepPlan plan = plan_of_six();
  const std::string folder = scratch("sqlite");
  const std::string path = folder + "/results.sqlite";
  write_database(path, plan, six_lines(plan));
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(query(path,
                  "SELECT schedule, \"snapshots.0.every\", lost_stall FROM points "
                  "WHERE goodput = (SELECT max(goodput) FROM points)"),
            (Rows{{"gpipe", "7200.0", "0.05"}}));
  EXPECT_EQ(query(path, "SELECT point, reason FROM points WHERE goodput IS NULL"),
            (Rows{{"5", "cannot be"}}));
  EXPECT_EQ(query(path, "SELECT * FROM varied"),
            (Rows{{"schedule", "NULL"}, {"snapshots.0.every", "s"}}));
  EXPECT_EQ(query(path, "SELECT unit, origin FROM figures WHERE \"column\" = 'iteration_s'"),
            (Rows{{"s", "simulated"}}));
  EXPECT_EQ(query(path,
                  "SELECT count(*) FROM points WHERE goodput_p05 > goodput OR "
                  "goodput_p95 < goodput"),
            (Rows{{"0"}}));
  const std::string again = folder + "/again.sqlite";
  write_database(again, plan, six_lines(plan));
  EXPECT_EQ(read_file(path), read_file(again));
  EXPECT_THROW(write_database(folder + "/none/x", plan, {}), Error);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++files;
  EXPECT_EQ(files, 2U) << "a temporary file was left behind";
  fs::remove_all(folder);
}

TEST(SweepResults, RatesOfAWholeJobHaveAUnit) {
  SweepPlan plan = plan_of_six();
  plan.sweep.vary[0] = {"failures.0.job_rate", {"1 per day", "2 per day"}};
  const std::string folder = scratch("rates");
  const std::string path = folder + "/results.sqlite";
  write_database(path, plan, six_lines(plan));
  EXPECT_EQ(query(path, "SELECT unit FROM varied WHERE \"key\" = 'failures.0.job_rate'"),
            (std::vector<std::vector<std::string>>{{"per s"}}));
  fs::remove_all(folder);
}

TEST(SweepResults, NamesAreQuotedAndIndicesJoined) {
  EXPECT_EQ(sql_name("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(ranges_text({}), "");
  EXPECT_EQ(ranges_text({3, 7, 8, 9, 12}), "3, 7-9, 12");
}

// A failure rate is a circumstance and no choice: each of its values has a best point, and the rate
// with the fewest failures is not the best one.
TEST(SweepResults, BestAtEachFailureRate) {
  SweepPlan plan = plan_of_six();
  EXPECT_TRUE(sweep_results(plan.sweep, six_lines(plan)).document.at("best_by").empty());
  plan.sweep.vary[0] = {"failures.0.rate", {"1 per 1000 node-days", "2 per 1000 node-days"}};
  const SweepResults results = sweep_results(plan.sweep, six_lines(plan));
  SweepPlan failures_only = plan;
  failures_only.sweep.vary.pop_back();
  EXPECT_TRUE(sweep_results(failures_only.sweep, six_lines(plan)).document.at("best").is_null());
  const Json& best_by = results.document.at("best_by");
  ASSERT_EQ(best_by.size(), 2u);
  EXPECT_EQ(best_by[0].at("index"), 2);
  EXPECT_EQ(best_by[0].at("runner_up").at("index"), 1);
  EXPECT_EQ(best_by[1].at("index"), 4) << "5 is infeasible";
  const std::string text = sweep_text(results);
  EXPECT_NE(text.find("best snapshots.0.every"), std::string::npos) << text;
  EXPECT_EQ(text.find("best: "), std::string::npos) << text;
  EXPECT_NE(text.find("infeasible: 1 of 6"), std::string::npos) << text;
  EXPECT_NE(sweep_page(results.document).find("id=\"best-by\""), std::string::npos);
}

}  // namespace
}  // namespace windtunnel
