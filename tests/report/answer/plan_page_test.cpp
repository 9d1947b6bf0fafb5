#include "report/answer/plan_page.hpp"

#include <gtest/gtest.h>

#include "report/answer/answer_page.hpp"
#include "report/page/html.hpp"
#include "report/plan/plan_choices.hpp"
#include "report/plan/plan_summary.hpp"
#include "tests/report/answer/page_record.hpp"
#include "tests/report/browser.hpp"

namespace windtunnel {
namespace {

const PlanReport& small_plan() {
  static const PlanReport plan = make_plan({.model = "llama3-8b",
                                            .nodes = 4,
                                            .node = "dgx-h100",
                                            .tokens = 100e9,
                                            .framework = "deepspeed"});
  return plan;
}

std::string small_page() {
  return plan_page(small_plan(), "windtunnel run best.yaml");
}

// Each row of the text for the console is on the page, too, and readable without scripts.
TEST(PlanPage, SaysAllThatTheConsoleSays) {
  const std::string page = small_page();
  const Summary summary =
      summarise_plan(small_plan(), "windtunnel run best.yaml", PlanDetail::full);
  EXPECT_GE(summary.sections.size(), 5U);
  for (const SummarySection& section : summary.sections) {
    for (const SummaryRow& row : section.rows) {
      const std::string value = row.value.substr(0, row.value.find("  ("));
      EXPECT_NE(page.find(escape_html(value)), std::string::npos) << row.label << ": " << value;
    }
    for (const auto& row : section.table.rows) {
      for (const std::string& cell : row) {
        EXPECT_NE(page.find(escape_html(cell)), std::string::npos) << cell;
      }
    }
  }
}

// The answer's range is the one of the figure; what the plan takes is marked in each chart.
TEST(PlanPage, ChartsHoldTheFigures) {
  const PlanReport& plan = small_plan();
  const std::string page = small_page();
  const Json record = page_record(page);
  const Json& answer = record.at("charts").at(0).at("items").at(0);
  EXPECT_DOUBLE_EQ(answer.at("mean"), plan.record.campaign->job_days.mean);
  EXPECT_LT(answer.at("low"), answer.at("mean"));
  EXPECT_EQ(record.at("charts").at(0).at("items").size(), plan.runner_up ? 2U : 1U);
  size_t choices = 0;
  for (const Json& chart : record.at("charts")) {
    if (chart.at("kind") != "ranges" || chart == record.at("charts").at(0)) continue;
    const Json& items = chart.at("items");
    const auto marked =
        std::ranges::count_if(items, [](const Json& item) { return item.at("best"); });
    EXPECT_EQ(marked, 1) << chart.at("title");
    const PlanChoice choice = choices_of(plan).at(choices);
    for (const Json& item : items) {
      const bool taken = item.at("name") == choice.options.at(choice.taken).first;
      EXPECT_EQ(item.at("best"), taken) << choice.title << ": " << item.at("name");
    }
    ++choices;
  }
  EXPECT_EQ(choices, choices_of(plan).size());
}

class PlanPageBrowser : public Browser {};

TEST_F(PlanPageBrowser, FitsEveryScreen) {
  expect_fits(small_page());
}

TEST_F(PlanPageBrowser, PartsWithoutACampaignOrChoicesAreLeftOut) {
  const std::string page =
      answer_page({"title <b>", "subtitle", {{"step time", "1 s"}}, {"beware"}, {}});
  EXPECT_NE(page.find("title &lt;b&gt;"), std::string::npos);
  EXPECT_NE(page.find("<p class=\"warning\">beware</p>"), std::string::npos);
  ready_dom(page);
}

}  // namespace
}  // namespace windtunnel
