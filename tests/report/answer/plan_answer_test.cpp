#include <gtest/gtest.h>

#include <algorithm>

#include "report/answer/command_answers.hpp"
#include "report/answer/plan_choices.hpp"
#include "report/figures/figures.hpp"
#include "report/page/html.hpp"
#include "sim/study/plan/make_plan.hpp"
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

Answer small_answer(PlanDetail detail) {
  return plan_answer(small_plan(), "windtunnel run best.yaml", detail);
}

std::string small_page() {
  return answer_page(small_answer(PlanDetail::brief));
}

bool on(const SummarySection& section, ShownOn medium) {
  return section.where == ShownOn::everywhere || section.where == medium;
}

// The page has all sections of the complete text; the brief text leaves some to the page.
TEST(PlanAnswer, ItsPageIsCompleteAndItsTextIsAsLongAsAsked) {
  const auto titles = [](const Answer& answer, ShownOn medium) {
    std::vector<std::string> found;
    for (const SummarySection& section : answer.sections) {
      if (!section.chart && on(section, medium)) found.push_back(section.title);
    }
    return found;
  };
  const Answer brief = small_answer(PlanDetail::brief), full = small_answer(PlanDetail::full);
  EXPECT_EQ(titles(brief, ShownOn::page), titles(full, ShownOn::page));
  EXPECT_EQ(titles(full, ShownOn::console), titles(full, ShownOn::page));
  EXPECT_GT(titles(full, ShownOn::console).size(), titles(brief, ShownOn::console).size());
  EXPECT_EQ(brief.figures.front().label, figure("campaign.job.days").title);
  for (const Answer& answer : {brief, full}) {
    const SummarySection& next = answer.sections.back();
    EXPECT_EQ(next.rows.front().value, "windtunnel run best.yaml");
  }
}

// Every cell of the complete text is also on the page of a brief answer.
TEST(PlanAnswer, ItsPageHasTheCellsOfTheCompleteText) {
  const std::string page = small_page();
  size_t cells = 0;
  for (const SummarySection& section : small_answer(PlanDetail::full).sections) {
    if (section.chart || !on(section, ShownOn::page)) continue;
    for (const std::vector<std::string>& row : section.table.rows) {
      for (const std::string& cell : row) {
        EXPECT_NE(page.find(escape_html(cell)), std::string::npos) << section.title << cell;
        ++cells;
      }
    }
  }
  EXPECT_GT(cells, 20U);
}

// Choices that decide the layout are named beside it.
TEST(PlanAnswer, WhatToStartNamesGradientsAndNetwork) {
  const PlanReport plan = make_plan({.model = "llama3-8b",
                                     .nodes = 2,
                                     .node = "dgx-h100",
                                     .tokens = 100e9,
                                     .framework = "megatron"});
  const Answer answer = plan_answer(plan, "windtunnel run best.yaml", PlanDetail::brief);
  const auto value_of = [&](const char* title, const char* label) -> std::string {
    const auto section = std::ranges::find(answer.sections, title, &SummarySection::title);
    if (section == answer.sections.end()) return "";
    const auto row = std::ranges::find(section->rows, label, &SummaryRow::label);
    return row == section->rows.end() ? "" : row->value;
  };
  EXPECT_EQ(value_of("What to start", "gradients"),
            "kept and reduced in bf16 (assumed); --set software.gradients=... --set "
            "software.reductions=...");
  EXPECT_NE(value_of("What to start", "nodes")
                .find("; 8 NICs per node, 400 Gb/s each way; fabric: every NIC reaches every other "
                      "one at full rate (assumed)"),
            std::string::npos);
  EXPECT_EQ(value_of("Assumed, because nothing was stated", "gradients"), "");
}

// No training is faster than its GPUs' peak, however wide the error is. A later deadline keeps the
// probability that the law of the error gives.
TEST(PlanAnswer, NoChanceIsLeftBeyondThePeak) {
  PlanReport plan = small_plan();
  plan.record.iteration.error = {0.3, 0.3, 0.3, Origin::measured, "test"};
  plan.record.campaign->goodput_by_model = {.if_faster = plan.record.campaign->goodput.mean,
                                            .if_slower = plan.record.campaign->goodput.mean};
  // If all trials are equal, no unlucky trial needs steps that are faster than the others and
  // perhaps beyond the peak.
  std::ranges::fill(plan.record.campaign->trial_goodput, plan.record.campaign->goodput.mean);
  const auto chance = [&](double share_of_days, double hfu_causal) {
    plan.record.iteration.hfu_causal = hfu_causal;
    plan.basis.request.deadline_days = share_of_days * plan.best.days;
    Json document;
    place_deadline(document, plan);
    return document.at("deadline").at("chance").get<double>();
  };
  EXPECT_GT(chance(0.8, 0.4), 0.1);
  EXPECT_EQ(chance(0.8, 0.95), 0);
  EXPECT_NEAR(chance(1.2, 0.95), chance(1.2, 0.4), 1e-9);
  // The chance also stays 0 if the interval of the mean over trials contains the deadline.
  plan.record.campaign->job_days.low = 0.5 * plan.best.days;
  EXPECT_EQ(chance(0.8, 0.95), 0);
}

// The answer's range equals the figure's, and each chart marks what the plan has chosen.
TEST(PlanAnswer, ChartsHoldTheFigures) {
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

class PlanAnswerBrowser : public Browser {};

TEST_F(PlanAnswerBrowser, FitsEveryScreen) {
  expect_fits(small_page());
}

TEST_F(PlanAnswerBrowser, AnAnswerWithoutChartsIsAPage) {
  ready_dom(answer_page({"title", "subtitle", {{"step time", "1 s"}}, {}}));
}

}  // namespace
}  // namespace windtunnel
