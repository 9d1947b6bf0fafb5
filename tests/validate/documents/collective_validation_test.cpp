#include <fmt/format.h>
#include <gtest/gtest.h>

#include "validate/documents/kind_documents.hpp"

namespace windtunnel {
namespace {

// Returns `rows` points of one family; all but the first are predicted at twice the measured time.
CollectivesReport report_of(int rows) {
  CollectivesReport out;
  for (int i = 0; i < rows; ++i) {
    ValidationRow row;
    row.id = fmt::format("/data/rows.csv:{}", i + 2);
    row.family = "M, from 1 MB";
    row.metric = "time_s";
    row.measured = 1e-3 * (i + 1);
    row.predicted = i == 0 ? 1e-3 : 2e-3 * (i + 1);
    row.low = row.predicted / 3;
    row.high = row.predicted * 3;
    row.label = "all-reduce, 8 GPUs on 1 node, 1.05 MB";
    row.note = "env | 1";
    row.baselines = {{"noise floor", row.measured * 1.05}};
    out.report.rows.push_back(row);
  }
  out.report.fitted.push_back(out.report.rows.front());
  out.report.fitted.back().family = "N, from 1 MB";
  out.report.skipped = {{"/data/rows.csv:99", "no bytes were moved"}};
  out.measured_rows = 2 * rows;
  FittedNetwork network;
  network.machine = "N";
  network.environment = "env";
  network.rows = 1;
  out.networks = {network};
  summarise_families(out.report, {});
  return out;
}

std::string collectives_text(const CollectivesReport& report, int worst) {
  return console_text(collectives_document(report, worst));
}

std::string collectives_page(const CollectivesReport& report, const std::string& command) {
  Document document = collectives_document(report, 0);
  document["command"] = command;
  return markdown_page(document);
}

TEST(CollectivesText, OneLinePerJudgedFamily) {
  const std::string text = collectives_text(report_of(3), 1);
  EXPECT_NE(text.find("M, from 1 MB       3          0    100%"), std::string::npos) << text;
  EXPECT_EQ(text.find("N, from 1 MB"), std::string::npos) << text;
  EXPECT_NE(text.find("A: MAPE of noise floor"), std::string::npos);
  EXPECT_NE(text.find("rows.csv:3"), std::string::npos);
  EXPECT_EQ(text.find("/data"), std::string::npos);
  EXPECT_NE(text.find("3 points judged, medians of 6 rows; 1 points fitted on; 1 rows not used\n"
                      "  1: no bytes were moved, first rows.csv:99\n"),
            std::string::npos)
      << text;
}

// Long names are cut in the part of the machine, not in the part that distinguishes its families.
TEST(CollectivesText, NamesKeepTheirEnds) {
  CollectivesReport report = report_of(1);
  report.report.families.clear();
  report.report.rows[0].family =
      "DeltaAI-class GH200 (4 GPU/node, /projects/benchmarking), below 1 MB, from specification";
  summarise_families(report.report, {});
  const std::string text = collectives_text(report, 0);
  EXPECT_NE(text.find("…nchmarking), below 1 MB *  "), std::string::npos) << text;
}

TEST(CollectivesPage, ListsEveryMiss) {
  const std::string page = collectives_page(report_of(201), "windtunnel validate collectives");
  EXPECT_NE(page.find("200 of 201 points."), std::string::npos);
  for (int line = 3; line <= 202; ++line) {
    EXPECT_NE(page.find(fmt::format("| rows.csv:{} |", line)), std::string::npos) << line;
  }
  EXPECT_NE(page.find("| rows.csv:99 | no bytes were moved |"), std::string::npos) << page;
  EXPECT_NE(page.find("| N | env | 1 |"), std::string::npos);
  EXPECT_EQ(page.find("/data"), std::string::npos);
}

// A name comes from a file and may contain markup of the page.
TEST(CollectivesPage, NamesOfFamiliesAreEscaped) {
  CollectivesReport report = report_of(202);
  for (ValidationRow& row : report.report.rows) row.family = "a|b <i>, from 1 MB";
  const std::string page = collectives_page(report, "windtunnel validate collectives");
  EXPECT_NE(page.find("\na\\|b &lt;i>, from 1 MB: 201 misses."), std::string::npos) << page;
}

// More than 200 misses are summed up per family with the five largest.
TEST(CollectivesPage, SumsUpManyMisses) {
  const std::string page = collectives_page(report_of(202), "windtunnel validate collectives");
  EXPECT_NE(page.find("M, from 1 MB: 201 misses."), std::string::npos);
  size_t listed = 0;
  for (size_t at = page.find("| +100% |"); at != std::string::npos;
       at = page.find("| +100% |", at + 1)) {
    ++listed;
  }
  EXPECT_EQ(listed, 5u);
}

CollectivesSummary summary() {
  CollectivesSummary summary;
  JudgedMachine fitted;
  fitted.name = "Alps";
  fitted.fitted = true;
  fitted.rows = 60;
  fitted.all = fitted.below = {30, 0.1, 0.4};
  fitted.covered = 0.9;
  fitted.gpus = 512;
  fitted.fitted_gpus = 64;
  JudgedMachine unfitted;
  unfitted.name = "Spark";
  unfitted.rows = 8;
  unfitted.all = unfitted.from = {4, 0.5, 0.3};
  unfitted.covered = 1;
  unfitted.gpus = 2;
  JudgedMachine in_view = unfitted;
  in_view.name = "Sophia";
  in_view.in_view = true;
  summary.machines = {fitted, unfitted, in_view};
  summary.beyond_below = fitted.below;
  summary.unseen = summary.unseen_from = summary.in_view_from = unfitted.from;
  return summary;
}

TEST(CollectiveSplits, MachinesAndSums) {
  const std::string text = console_text(splits_document(summary()));
  for (const char* part :
       {"Alps         30  10% (40%)   10% (40%)          -     90%          512         64",
        "Spark         4  50% (30%)           -  50% (30%)    100%            2    nothing",
        "more ranks than in the fit: 10% (40%) below 1 MB, - from 1 MB (30 and 0 points)",
        "Sophia        4  50% (30%)           -  50% (30%)    100%            2    in view",
        "machines on which nothing was fitted, neither here nor in the library: - below 1 MB, 50% "
        "(30%) from 1 MB",
        "known machines: fitted in the library, but not here: - below 1 MB, 50% (30%) from 1 MB",
        "worse than the ring: 1 of 1: Spark", "below 1 MB worse than the ring: 0 of 0",
        "hold 85 to 95 % of the points on 1 of 1 machines with 30 rows or more"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const std::string page = markdown_page(splits_document(summary()));
  EXPECT_NE(page.find("| Alps | 30 | 10% (40%) | 10% (40%) | - | 90% | 512 | 64 |"),
            std::string::npos)
      << page;
}

TEST(CollectiveSplits, NothingJudgedNothingSaid) {
  Document nothing = splits_document({});
  EXPECT_TRUE(std::get<TextTable>(nothing["machines"]).rows.empty());
  EXPECT_TRUE(std::get<TextTable>(nothing["sums"]).rows.empty());
}

}  // namespace
}  // namespace windtunnel
