#include "report/summary/comparison_columns.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <string>

#include "models/base/units.hpp"
#include "report/summary/summary.hpp"
#include "scenarios/language/case.hpp"
#include "sim/study/simulate.hpp"
#include "tests/report/sample_record.hpp"

namespace windtunnel {
namespace {

// Nodes exchange context over a network that is too slow to hide it.
constexpr const char* kDense =
    "name: dense\nmodel: {base: llama3-8b, layers: 8}\n"
    "cluster: {nodes: 4, node: {base: dgx-h100, nic: 10 Gb/s}}\n"
    "layout: {tp: 8, pp: 2, cp: 2}\nbatch: {global: 16, micro: 1}\n";
constexpr const char* kExperts =
    "name: experts\nmodel: {base: mixtral-8x7b, layers: 8}\n"
    "cluster: {nodes: 4, node: dgx-h100}\nlayout: {tp: 1, pp: 2, cp: 2, ep: 4}\n"
    "batch: {global: 16, micro: 1}\n";

// Parses texts such as "1.23 s" and "45.6 ms"; an empty text is 0.
double seconds_of(const std::string& text) {
  if (text.empty()) return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_EQ(error, std::errc()) << text;
  const std::string unit = text.substr(static_cast<size_t>(end - text.data()) + 1);
  if (unit == "s") return value;
  if (unit == "ms") return 1e-3 * value;
  EXPECT_EQ(unit, "us") << text;
  return 1e-6 * value;
}

// In each row the cells between the first and the last one add up to the last, to the printed
// digits.
void expect_sums(const TextTable& table) {
  ASSERT_FALSE(table.rows.empty());
  for (const auto& row : table.rows) {
    ASSERT_EQ(row.size(), table.columns.size());
    double sum_s = 0;
    for (size_t i = 1; i + 1 < row.size(); ++i) sum_s += seconds_of(row[i]);
    EXPECT_NEAR(sum_s, seconds_of(row.back()), 0.01 * seconds_of(row.back())) << row.front();
  }
}

bool has_column(const TextTable& table, const std::string& title) {
  return std::ranges::any_of(table.columns, [&](const Column& at) { return at.title == title; });
}

TEST(StepParts, AddUpToTheStepWithExpertsAndContextToo) {
  Comparison comparison;
  for (const char* text : {kDense, kExperts}) {
    for (const char* schedule : {"1f1b", "gpipe"}) {
      const Case the_case = parse_case(text, "a.yaml", {{"schedule", schedule}});
      comparison.points.push_back({{{"schedule", schedule}}, simulate(the_case), ""});
      const auto ranks = rank_section(*comparison.points.back().record, 64);
      ASSERT_TRUE(ranks.has_value());
      EXPECT_EQ(ranks->table.rows.size(), 2u);  // one per pipeline rank
      expect_sums(ranks->table);
    }
  }
  const auto parts = step_parts(comparison);
  ASSERT_TRUE(parts.has_value());
  for (const char* part : {"forward", "tp", "cp", "pp", "ep", "dp"}) {
    EXPECT_TRUE(has_column(parts->table, part)) << part;
  }
  EXPECT_EQ(parts->table.rows.size(), 4u);
  expect_sums(parts->table);
}

TEST(StepParts, RanksThatAreLeftOutAreCounted) {
  const Record record = simulate(parse_case(kDense, "a.yaml"));
  const auto ranks = rank_section(record, 1);
  ASSERT_TRUE(ranks.has_value());
  EXPECT_EQ(ranks->table.rows.size(), 1u);
  ASSERT_EQ(ranks->rows.size(), 1u);
  EXPECT_EQ(ranks->rows[0].value, "1 further ranks");
}

TEST(MfuColumns, BothCountsWhereAnyRecordHasTwo) {
  const Record same = sample_record();
  Record differs = same;
  differs.iteration.mfu_causal = 0.3;
  EXPECT_EQ(mfu_columns({&same}), std::vector{&figure("iteration.mfu")});
  EXPECT_EQ(mfu_columns({&same, &differs}),
            (std::vector{&figure("iteration.mfu"), &figure("iteration.mfu_causal")}));
  Comparison comparison;
  comparison.points.push_back({{{"pp", "1"}}, std::nullopt, "does not fit"});
  comparison.points.push_back({{{"pp", "2"}}, same, ""});
  const size_t before = iteration_columns(comparison).size();
  comparison.points.push_back({{{"pp", "4"}}, differs, ""});
  EXPECT_EQ(iteration_columns(comparison).size(), before + 1);
}

// One row has the MFU by the usual count, and the other count behind its range.
TEST(MfuRow, HasBothCountsWhereTheyDiffer) {
  const auto detail = [](const Record& record) {
    std::string text;
    int rows = 0;
    for (const SummaryRow& row : summarise(record).figures) {
      if (!row.label.starts_with("MFU")) continue;
      ++rows;
      text = row.detail;
    }
    EXPECT_EQ(rows, 1);
    return text;
  };
  Record record = sample_record();
  EXPECT_EQ(detail(record).find("causal"), std::string::npos);
  record.iteration.mfu_causal = 0.3;
  EXPECT_NE(detail(record).find("; causal attention in half: 30.0 %, "), std::string::npos)
      << detail(record);
}

}  // namespace
}  // namespace windtunnel
