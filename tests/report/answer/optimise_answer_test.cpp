#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "report/answer/command_answers.hpp"
#include "sim/study/optimise.hpp"
#include "tests/report/answer/page_record.hpp"
#include "tests/report/browser.hpp"

namespace windtunnel {
namespace {

RankedConfiguration configuration(const std::string& micro, const std::string& recompute,
                                  double estimated_s, double memory_GiB) {
  return {.set = {{"batch.micro", micro}, {"recompute", recompute}, {"layout.tp", "2"}},
          .estimated_s = estimated_s,
          .memory_bytes = memory_GiB * kGibibyte};
}

Optimisation found() {
  Optimisation result;
  result.best = {configuration("4", "none", 4, 60), configuration("2", "none", 4.5, 50),
                 configuration("1", "full", 6, 20)};
  result.frontier = {result.best[2], result.best[1], result.best[0]};
  result.estimated = 12;
  result.infeasible["does not fit"] = {2, "pipeline rank 0 <needs> 90 GiB"};
  return result;
}

OptimiseAsked asked(const std::vector<std::string>& values) {
  return {.scenario = "job.yaml",
          .aim = "iteration",
          .over = "recompute batch.micro",
          .run = "windtunnel run job.yaml --set batch.micro=4",
          .varied = {{"batch.micro", values}}};
}

const SummarySection& section_titled(const Answer& answer, std::string_view start) {
  const auto section = std::ranges::find_if(
      answer.sections, [&](const SummarySection& each) { return each.title.starts_with(start); });
  if (section == answer.sections.end()) throw InternalError("no such section");
  return *section;
}

TEST(OptimiseAnswer, SaysWhereAValueOfTheScenarioIsKept) {
  Optimisation result = found();
  result.best[0].set.emplace_back("schedule", "zb-v");
  const OptimiseAsked by = asked({"1", "2", "4"});
  const Answer answer = optimise_answer(result, by);
  const TextTable& table = section_titled(answer, "The ranking").table;
  const auto column = std::ranges::find(table.columns, "schedule", &Column::title);
  ASSERT_NE(column, table.columns.end());
  const auto at = static_cast<std::size_t>(column - table.columns.begin());
  EXPECT_EQ(table.rows[0][at], "zb-v");
  EXPECT_EQ(table.rows[1][at], "as in the scenario");
}

TEST(OptimiseAnswer, HasTheRankingAndWhatMemoryCosts) {
  const Optimisation result = found();
  const OptimiseAsked by = asked({"1", "2", "4"});
  const Answer answer = optimise_answer(result, by);
  const Json charts = page_record(answer_page(answer)).at("charts");
  ASSERT_EQ(charts.size(), 2U);
  const Json& ranked = charts.at(0).at("items");
  ASSERT_EQ(ranked.size(), 3U);
  EXPECT_EQ(ranked.at(0).at("name"), "1. batch.micro 4, recompute none") << "without tp: all alike";
  EXPECT_EQ(ranked.at(0).at("mean"), 4.0);
  EXPECT_TRUE(ranked.at(0).at("best"));
  const Json& frontier = charts.at(1).at("groups").at(2);
  EXPECT_EQ(frontier.at("line").size(), 3U);
  EXPECT_EQ(frontier.at("line").at(0), Json({20 * kGibibyte, 6.0}));
  const SummarySection& ranking = section_titled(answer, "The ranking");
  ASSERT_EQ(ranking.table.rows.size(), 3U);
  EXPECT_EQ(ranking.table.rows.front().at(1), "4.00 s");
  EXPECT_EQ(ranking.rows.front().value, "layout.tp=2") << "what all set alike";
  const TextTable& memory = section_titled(answer, "What memory costs").table;
  ASSERT_EQ(memory.rows.size(), 3U);
  EXPECT_EQ(memory.rows.at(1).at(2), "10.0 GiB") << "saved";
  EXPECT_EQ(memory.rows.at(1).at(4), "50.0 ms") << "each GiB";
  EXPECT_EQ(section_titled(answer, "What does not fit").table.rows.front(),
            (std::vector<std::string>{"does not fit", "2", "pipeline rank 0 <needs> 90 GiB"}));
  EXPECT_EQ(section_titled(answer, "The best").rows.at(1).value, by.run);
}

// If a configuration could not be simulated, the answer says why and does not recommend it.
TEST(OptimiseAnswer, SaysWhyTheBestWasNotSimulated) {
  Optimisation result = found();
  result.best.front().failure = "the scenario lacks it";
  const OptimiseAsked by = asked({"1", "2", "4"});
  const Answer answer = optimise_answer(result, by);
  EXPECT_EQ(section_titled(answer, "The ranking").rows.back().value, "the scenario lacks it");
  for (const SummaryRow& row : section_titled(answer, "The best").rows) {
    EXPECT_NE(row.value, by.run);
  }
}

TEST(OptimiseAnswer, WarnsWhereTheBestLiesOnTheEdge) {
  const auto warnings = [](const Optimisation& result, const std::vector<std::string>& values) {
    return optimise_answer(result, asked(values)).warnings;
  };
  EXPECT_THAT(
      warnings(found(), {"1", "2", "4"}),
      testing::ElementsAre(
          "At the edge of the search: the best batch.micro, 4, is the largest that was tried, so "
          "there may be a better one beyond it: widen --over batch.micro to more than 4."));
  EXPECT_TRUE(warnings(found(), {"1", "2", "4", "8"}).empty());
  EXPECT_TRUE(warnings(found(), {"2", "4"}).empty()) << "each is an edge";
  Optimisation alike = found();
  alike.best[1].estimated_s = alike.best[0].estimated_s;
  EXPECT_TRUE(warnings(alike, {"1", "2", "4"}).empty()) << "no influence";
}

class OptimiseAnswerBrowser : public Browser {};

TEST_F(OptimiseAnswerBrowser, FitsEveryScreen) {
  const Optimisation result = found();
  const OptimiseAsked by = asked({"1", "2", "4"});
  expect_fits(answer_page(optimise_answer(result, by)));
}

}  // namespace
}  // namespace windtunnel
