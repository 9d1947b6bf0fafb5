#include "report/answer/optimise_page.hpp"

#include <gtest/gtest.h>

#include "report/page/html.hpp"
#include "report/plan/optimise_tables.hpp"
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

OptimiseAnswer asked(const std::vector<std::string>& values) {
  return {.scenario = "job.yaml",
          .aim = "iteration",
          .over = "recompute batch.micro",
          .run = "windtunnel run job.yaml --set batch.micro=4",
          .varied = {{"batch.micro", values}}};
}

TEST(OptimisePage, HasTheRankingAndWhatMemoryCosts) {
  const std::string page = optimise_page(found(), asked({"1", "2", "4"}));
  const Json charts = page_record(page).at("charts");
  ASSERT_EQ(charts.size(), 2U);
  const Json& ranked = charts.at(0).at("items");
  ASSERT_EQ(ranked.size(), 3U);
  EXPECT_EQ(ranked.at(0).at("name"), "1. batch.micro 4, recompute none") << "without tp: all alike";
  EXPECT_EQ(ranked.at(0).at("mean"), 4.0);
  EXPECT_TRUE(ranked.at(0).at("best"));
  const Json& frontier = charts.at(1).at("groups").at(2);
  EXPECT_EQ(frontier.at("line").size(), 3U);
  EXPECT_EQ(frontier.at("line").at(0), Json({20 * kGibibyte, 6.0}));
  for (const auto& table : {ranking_table(found()), frontier_table(found())}) {
    for (const auto& row : table.rows) {
      for (const std::string& cell : row)
        EXPECT_NE(page.find(escape_html(cell)), std::string::npos);
    }
  }
  EXPECT_NE(page.find("pipeline rank 0 &lt;needs&gt; 90 GiB"), std::string::npos);
}

TEST(OptimisePage, WarnsWhereTheBestLiesOnTheEdge) {
  const auto warnings = edge_warnings(found(), asked({"1", "2", "4"}).varied);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings.front(),
            "On the edge of what was searched: the best batch.micro, 4, is the largest of those "
            "tried, so that a better one may lie beyond: widen --over batch.micro to more than 4.");
  EXPECT_NE(optimise_page(found(), asked({"1", "2", "4"})).find(warnings.front()),
            std::string::npos);
  EXPECT_TRUE(edge_warnings(found(), asked({"1", "2", "4", "8"}).varied).empty());
  EXPECT_TRUE(edge_warnings(found(), asked({"2", "4"}).varied).empty()) << "each is an edge";
  Optimisation alike = found();
  alike.best[1].estimated_s = alike.best[0].estimated_s;
  EXPECT_TRUE(edge_warnings(alike, asked({"1", "2", "4"}).varied).empty()) << "no influence";
}

class OptimisePageBrowser : public Browser {};

TEST_F(OptimisePageBrowser, FitsEveryScreen) {
  expect_fits(optimise_page(found(), asked({"1", "2", "4"})));
}

}  // namespace
}  // namespace windtunnel
