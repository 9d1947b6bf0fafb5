// Merges a sweep that is too large for its document. The tests check which part is shown, and that
// the best point is the best of all.
#include "report/store/sweep_merge.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "report/page/sweep_page.hpp"
#include "tests/support/error_of.hpp"
#include "traces/text/text.hpp"

namespace windtunnel {
namespace {

namespace fs = std::filesystem;

// 4 failure rates x 50 intervals x 3 schedules; a third of the second schedule's points are
// infeasible.
struct LargeSweep {
  SweepPlan plan;
  std::string folder = fs::temp_directory_path() / fmt::format("windtunnel-merge-{}", getpid());

  LargeSweep() {
    VariedKey rate{"failures.*.rate", {}}, every{"snapshots.0.every", {}};
    for (int i = 1; i <= 4; ++i) rate.values.push_back(fmt::format("{} per 1000 node-days", i));
    for (int i = 1; i <= 50; ++i) every.values.push_back(fmt::format("{} min", i));
    plan.version = "1";
    plan.sweep = {{.file = "/a/b.yaml", .text = "name: x\n"},
                  {rate, every, {"schedule", {"1f1b", "gpipe", "zb-v"}}}};
    for (size_t i = 0; i < grid_size(plan.sweep); ++i) {
      plan.cases.push_back({.index = static_cast<int>(i), .key = i + 1, .table = 7});
    }
    fs::remove_all(folder);
    fs::create_directories(folder);
    write_cases(plan, cases_path(folder));
    std::vector<std::ofstream> parts;
    for (int i = 0; i < 7; ++i) parts.emplace_back(fmt::format("{}/part-{}.jsonl", folder, i));
    for (const SweepCase& each : plan.cases) parts[each.index * 5 % 7] << line_of(each.index);
  }
  ~LargeSweep() { fs::remove_all(folder); }

  // Depending on the rate the best interval is 10, 20, 30 or 40 min; the third schedule is a little
  // faster.
  std::string line_of(int index) const {
    const int rate = index / 150, every = index / 3 % 50, schedule = index % 3;
    SweepPoint point{.index = index};
    point.scenario = "x";
    if (schedule == 1 && every % 3 == 0) {
      point.reason = fmt::format("too much of {}", every % 2);
      return point_line(plan.sweep, plan.cases[index], point);
    }
    point.iteration.time_s = 10;
    point.iteration.tokens_per_s = schedule == 2 ? 101 : 100;
    const double worse = std::abs(every - 10 * (rate + 1)) * 0.002;
    CampaignReport report;
    report.trial_goodput = {0.9 - worse, 0.88 - worse - 0.01 * rate, 0.91 - worse};
    report.goodput = estimate(report.trial_goodput, 1);
    report.wall_s = {1000, 1000, 1000, 1000, 1000};
    point.campaign = report;
    return point_line(plan.sweep, plan.cases[index], point);
  }
};

TEST(SweepMerge, OfALargeSweepTheBestIsOfAllPoints) {
  const LargeSweep sweep;
  const SweepHead head = read_head(sweep.folder);
  EXPECT_EQ(head.sweep, sweep.plan.sweep);
  const MergedSweep whole = merge_lines(sweep.folder, head);
  EXPECT_EQ(whole.finished, 600U);
  EXPECT_FALSE(whole.results.document.contains("left_out"));
  const std::string lines = read_file(sweep.folder + "/results.jsonl");
  const std::string tables = read_file(sweep.folder + "/results.sqlite");
  const MergedSweep few = merge_lines(sweep.folder, head, 40);
  EXPECT_EQ(read_file(sweep.folder + "/results.jsonl"), lines);
  EXPECT_EQ(read_file(sweep.folder + "/results.sqlite"), tables);
  const Json& all = whole.results.document;
  const Json& shown = few.results.document;
  ASSERT_EQ(all.at("points").size(), 600U);
  EXPECT_LT(shown.at("points").size(), 80U);
  EXPECT_EQ(shown.at("points").size() + left_out(shown, "ran") + left_out(shown, "infeasible"),
            600U);
  EXPECT_GT(left_out(shown, "infeasible"), 0U);
  for (const char* part : {"index", "set", "goodput", "runner_up", "as_good", "stands_out"}) {
    EXPECT_EQ(all.at("best").at(part), shown.at("best").at(part)) << part;
    ASSERT_EQ(shown.at("best_by").size(), 4U);
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(all.at("best_by")[i].at(part), shown.at("best_by")[i].at(part)) << part << i;
    }
  }
  EXPECT_EQ(shown.at("best_by")[2].at("set").at("snapshots.0.every"), "31 min");
  const std::string page = sweep_page(shown);
  EXPECT_NE(page.find("id=\"left-out\">Shown: "), std::string::npos);
  EXPECT_NE(page.find("of 600 points"), std::string::npos);
  EXPECT_EQ(sweep_page(all).find("id=\"left-out\""), std::string::npos);
  const std::string text = sweep_text(few.results);
  EXPECT_NE(text.find("infeasible: 68 of 600 points"), std::string::npos) << text;
}

TEST(SweepMerge, SaysWhatIsMissing) {
  const LargeSweep sweep;
  fs::remove(sweep.folder + "/part-3.jsonl");
  const MergedSweep merged = merge_lines(sweep.folder, read_head(sweep.folder), 40);
  EXPECT_EQ(merged.finished + merged.missing.size(), 600U);
  EXPECT_EQ(merged.missing.at(0) * 5 % 7, 3);
}

TEST(SweepMerge, SaysWhichLineIsNoResult) {
  const LargeSweep sweep;
  const Json point = Json::parse(sweep.line_of(0));
  const auto error_with = [&](const Json& line) {
    std::ofstream(sweep.folder + "/part-7.jsonl") << sweep.line_of(1) << line.dump() << "\n";
    return error_of([&] { merge_lines(sweep.folder, read_head(sweep.folder)); });
  };
  EXPECT_EQ(error_with(point), "no error");
  for (const char* part : {"set", "result", "trial_goodput"}) {
    Json damaged = point;
    damaged.erase(part);
    EXPECT_NE(error_with(damaged).find("part-7.jsonl:2:1: not a result"), std::string::npos)
        << part << error_with(damaged);
  }
  Json other = point;
  other["set"]["schedule"] = "none";
  EXPECT_NE(error_with(other).find("part-7.jsonl:2:1: not a result"), std::string::npos);
}

TEST(SweepMerge, LeavesNothingHalfWritten) {
  const LargeSweep sweep;
  const SweepHead head = read_head(sweep.folder);
  fs::create_directories(sweep.folder + "/results.sqlite/x");  // blocks the database
  const std::string error = error_of([&] { merge_lines(sweep.folder, head); }, ExitCode::failed);
  EXPECT_NE(error.find("results.sqlite: cannot write"), std::string::npos) << error;
  for (const fs::directory_entry& entry : fs::directory_iterator(sweep.folder)) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
  fs::remove_all(sweep.folder + "/results.sqlite");
  // A file that cannot be opened is reported at once, with the reason.
  fs::create_directories(fmt::format("{}/results.jsonl.{}.tmp", sweep.folder, getpid()));
  const std::string reason = error_of([&] { merge_lines(sweep.folder, head); }, ExitCode::failed);
  EXPECT_NE(reason.find("results.jsonl: cannot write: Is a directory"), std::string::npos)
      << reason;
  EXPECT_FALSE(fs::exists(sweep.folder + "/results.sqlite"));
}

}  // namespace
}  // namespace windtunnel
