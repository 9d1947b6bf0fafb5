#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "validate/documents/validation.hpp"

namespace windtunnel {
namespace {

ValidationRow row(const std::string& id, const std::string& metric, double measured,
                  double predicted) {
  ValidationRow made;
  made.id = "/some/folder/" + id;
  made.family = "A paper with quite a long name, container 26.08.01, second edition / GB300";
  made.metric = metric;
  made.measured = measured;
  made.predicted = predicted;
  made.low = predicted * 0.9;
  made.high = predicted * 1.1;
  made.label = "GPT 181B, 384 GPUs, tp 8 pp 12 dp 4, batch 2 of 2048, seq 2048";
  made.note = "note with a | in it";
  made.baselines["6ND at the MFU of these rows"] = measured * 1.3;
  return made;
}

ValidationReport sample_runs() {
  ValidationReport report;
  report.rows = {row("runs.csv:2", "step_s", 10, 9), row("runs.csv:3", "step_s", 20, 30),
                 row("runs.csv:2", "memory_bytes", 40e9, 41e9)};
  report.rows[0].group = report.rows[1].group = "job";
  report.rows[1].configuration = "other";
  report.fitted = {row("runs.csv:5", "step_s", 1, 1)};
  report.labels = {{"runs.csv:2", report.rows[0].family, true, true},
                   {"runs.csv:6", report.rows[0].family, true, false}};
  for (int i = 0; i < 20; ++i) {
    report.skipped.push_back({"/some/folder/runs.csv:" + std::to_string(7 + i),
                              i < 5 ? "unknown model 'x'" : "reason " + std::to_string(i)});
  }
  summarise_families(report, {});
  report.families[0].assumed["vocab 50257"] = 2;
  return report;
}

std::string runs_text(const ValidationReport& report, int worst) {
  return console_text(runs_document(report, worst));
}

std::string runs_page(const ValidationReport& report, const std::string& command,
                      double miss_above = 0.2) {
  Document document = runs_document(report, 0, miss_above);
  document["command"] = command;
  return markdown_page(document);
}

TEST(RunsText, FitsInAHundredColumns) {
  const std::string text = runs_text(sample_runs(), 2);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto width = std::count_if(line.begin(), line.end(),
                                     [](unsigned char byte) { return (byte & 0xC0) != 0x80; });
    EXPECT_LE(width, 100) << line;
  }
  for (const char* part :
       {"30%", "1 of 2 right (50%)", "1 (50%) missed", "layouts of 1 jobs", "+50%", "runs.csv:3",
        "1 values are of rows that were fitted on",
        "3 values and 2 memory labels predicted, 20 rows not", "  5: unknown model 'x'",
        "and 4 more reasons", "A: MAPE of a simpler rule, 6ND"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin:\n" << text;
  }
  EXPECT_EQ(text.find("/some/folder"), std::string::npos);
  EXPECT_EQ(runs_text(sample_runs(), 0).find("worst rows"), std::string::npos);
}

TEST(RunsPage, ListsEveryMissAndEverySkippedRowWithoutFolders) {
  const std::string page = runs_page(sample_runs(), "windtunnel validate runs runs.csv");
  for (const char* part :
       {"windtunnel validate runs runs.csv", "1 of 3 rows.", "| runs.csv:3 |", "+50%",
        "note with a \\| in it", "20 rows.", "| runs.csv:26 | reason 19 |", "vocab 50257 (2)",
        "## Out of memory or not", "## Ranking the layouts of one job"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\nin:\n" << page;
  }
  EXPECT_EQ(page.find("/some/folder"), std::string::npos);
  EXPECT_NE(runs_page(sample_runs(), "", 0.6).find("0 of 3 rows."), std::string::npos);
}

TEST(RunsPage, NothingPredictedIsAPageToo) {
  const std::string page = runs_page({}, "windtunnel");
  EXPECT_NE(page.find("0 of 0 rows."), std::string::npos);
  EXPECT_NE(runs_text({}, 3).find("0 values"), std::string::npos);
}

TEST(RunsDocument, SaysWhatWasFittedLabelledAndRanked) {
  const Json document = validation_json(sample_runs());
  const Json& steps = document["families"][0];
  EXPECT_EQ(steps["fitted"], 1);
  EXPECT_EQ(steps["groups"], 1);
  EXPECT_EQ(steps["group_kendall_tau"], 1);
  EXPECT_EQ(steps["layout_regret"]["worst"], 0);
  EXPECT_EQ(steps["assumed"]["vocab 50257"], 2);
  EXPECT_TRUE(steps["oom"].is_null());
  const Json& memory = document["families"][1];
  EXPECT_EQ(memory["oom"], (Json{{"right", 1}, {"missed", 1}, {"false", 0}}));
  EXPECT_TRUE(memory["layout_regret"].is_null());
  EXPECT_EQ(document["fitted"].size(), 1U);
  EXPECT_EQ(document["labels"][1]["predicted"], "fits");
  EXPECT_EQ(document["rows"][0]["family"], steps["name"]);
}

}  // namespace
}  // namespace windtunnel
