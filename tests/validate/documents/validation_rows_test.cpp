#include "validate/documents/validation_rows.hpp"

#include <gtest/gtest.h>

#include "report/text/json_text.hpp"

namespace windtunnel {
namespace {

TEST(ValidationRows, WorstComesFirstAndTiesKeepTheirOrder) {
  ValidationReport report;
  for (const auto& [id, predicted] :
       {std::pair{"a", 1.1}, std::pair{"b", 0.5}, std::pair{"c", 0.9}, std::pair{"d", 3.0}}) {
    ValidationRow row;
    row.id = id;
    row.measured = 1;
    row.predicted = predicted;
    report.rows.push_back(row);
  }
  report.rows[2].predicted = report.rows[0].predicted;
  std::string order;
  for (const ValidationRow* row : worst_first(report)) order += row->id;
  EXPECT_EQ(order, "dbac");
  EXPECT_EQ(worst_first(report, 0.1, 1).size(), 1U);
  EXPECT_EQ(worst_first(report, 0.5).size(), 1U);
}

TEST(ValidationRows, ReasonsAreCounted) {
  ValidationReport report;
  report.skipped = {{"r.csv:2", "no GPU"}, {"r.csv:3", "no time"}, {"r.csv:4", "no time"}};
  report.skipped[1].id = "data/r.csv:3:7";
  EXPECT_EQ(reasons_table(report).rows,
            (Lines{{"no time", "2", "r.csv:3:7"}, {"no GPU", "1", "r.csv:2"}}));
}

TEST(ValidationRows, WhatWasAssumedIsToldOncePerFamily) {
  ValidationReport report;
  report.families.resize(3);
  report.families[0].name = report.families[1].name = "DGX";
  report.families[0].assumed = report.families[1].assumed = {{"precision bf16", 3}};
  report.families[2].name = "stated in full";
  Document document = judged_document("assumed", report);
  document["rows_are"] = "points";
  EXPECT_EQ(markdown_page(document),
            "\n## What the sources do not state\n\nAssumed, in so many points:\n\n- DGX: precision "
            "bf16 (3)\n");
  report.families.clear();
  EXPECT_EQ(markdown_page(judged_document("assumed", report)), "");
}

// A family whose rows were all fitted on states no error, instead of an error of zero.
TEST(ValidationRows, WhatWasNotJudgedHasNoError) {
  constexpr const char* kColumns = "family | MAPE = mape > | coverage | best rule | tau | *";
  ValidationReport report;
  ValidationFamily& family = report.families.emplace_back();
  family.name = "DGX";
  family.fitted = 2;
  EXPECT_EQ(picked(families_table(report), kColumns).rows, (Lines{{"DGX", "-", "-", "-", "-"}}));
  family.rows = 1;
  family.mape = 0.5;
  family.coverage90 = 1;
  family.baselines = {{"a ring", 0.12}, {"noise floor", 0.01}};
  const TextTable table = picked(families_table(report), kColumns);
  EXPECT_EQ(table.rows, (Lines{{"DGX", "50%", "100%", "12% (a ring)", "-", "12%", "1.0%"}}));
  EXPECT_EQ(table.columns[1].title, "MAPE");
  EXPECT_EQ(table.columns[6].title, "noise floor");
  EXPECT_EQ(table.columns[6].brief, "B");
  const auto judged = [](const ValidationFamily& each) { return each.rows > 1; };
  EXPECT_TRUE(families_table(report, judged).rows.empty());
}

TEST(ValidationRows, CutsBetweenCharacters) {
  std::string reason;
  for (int i = 0; i < 100; ++i) reason += "µ";
  for (const std::string& text : {reason, "x" + reason}) {
    const std::string cut = shortened(text, 90);
    EXPECT_NE(cut.find("…"), std::string::npos);
    EXPECT_NO_THROW(Json(cut).dump());  // throws if not valid UTF-8
  }
}

}  // namespace
}  // namespace windtunnel
