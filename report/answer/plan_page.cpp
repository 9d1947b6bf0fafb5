#include "report/answer/plan_page.hpp"

#include <fmt/format.h>

#include "report/answer/answer_page.hpp"
#include "report/answer/charts.hpp"
#include "report/answer/record_charts.hpp"
#include "report/figures/model_range.hpp"
#include "report/plan/deadline.hpp"
#include "report/plan/plan_choices.hpp"
#include "report/plan/plan_summary.hpp"

namespace windtunnel {
namespace {

const Figure& days_figure() {
  return figure("campaign.job.days");
}

// The mean over trials, in the range of all that is known of it.
Estimate days_with_error(const Record& record) {
  const double mean = number_of(days_figure().of(record));
  const FigureRange range = wider_range(days_figure(), record).value_or(FigureRange{mean, mean});
  return {.mean = mean, .low = range.low, .high = range.high};
}

Json answers_chart(const PlanReport& plan) {
  RangeChart chart{
      .title = "Time to train: the plan, and the best with another layout",
      .note = fmt::format("{} of trials and cost models together. Both rest on the same cost "
                          "models: their order is surer than either by itself.",
                          kIntervalTitle),
      .axis = {days_figure().title, Unit::days},
      .items = {{.name = layout_name(plan.best), .value = days_with_error(plan.record)}}};
  chart.items.front().best = true;
  if (plan.runner_up) {
    chart.items.push_back(
        {.name = layout_name(*plan.runner_up), .value = days_with_error(*plan.runner_up_record)});
  }
  return chart_json(chart);
}

std::string option_tip(const PlanReport& plan, const PlanOption& option) {
  return fmt::format("{} {}\n{} {}\n{}", figure("iteration.time_s").title,
                     value_text(Unit::seconds, option.step_s), figure("campaign.goodput").title,
                     estimate_text(Unit::share, *option.goodput),
                     value_text(Unit::usd, usd_of(plan.basis, option)));
}

// Of those that were simulated; marked is what the plan takes, which may be the simpler of two that
// are as good.
Json choice_chart(const PlanReport& plan, const PlanChoice& choice) {
  RangeChart chart{.title = choice.title,
                   .note = choice.note,
                   .axis = {days_figure().title, Unit::days},
                   .items = {}};
  for (size_t i = 0; i < choice.options.size(); ++i) {
    const auto& [name, option] = choice.options[i];
    if (!option->goodput) continue;
    if (is_hopeless(*choice.options[choice.taken].second, *option)) {
      chart.note += fmt::format(" Not drawn, as it takes more than ten times as long: {}.", name);
      continue;
    }
    const double days = option->days;
    const Estimate& goodput = *option->goodput;
    chart.items.push_back({.name = name,
                           .value = {.mean = days,
                                     .low = days * goodput.mean / goodput.high,
                                     .high = days * goodput.mean / goodput.low},
                           .tip = option_tip(plan, *option),
                           .best = i == choice.taken});
  }
  return chart_json(chart);
}

}  // namespace

std::string plan_page(const PlanReport& plan, const std::string& command) {
  const Summary summary = summarise_plan(plan, command, PlanDetail::full);
  AnswerPage page{summary.title, summary.subtitle, plan_figures(plan), {}, {}};
  if (std::vector<SummaryRow> rows = deadline_rows(plan); !rows.empty()) {
    page.parts.emplace_back(SummarySection{"What was asked of time and money", rows, {}});
  }
  page.parts.emplace_back(AnswerChart{answers_chart(plan)});
  SummarySection start = what_to_start(plan);
  start.rows.push_back(other_prices(plan));
  start.rows.push_back(runner_up_row(plan));
  if (std::optional<SummaryRow> row = like_measured_row(plan)) start.rows.push_back(*row);
  if (std::optional<SummaryRow> row = more_nodes_row(plan)) start.rows.push_back(*row);
  start.rows.push_back(sureness_row(plan.record));
  page.parts.emplace_back(std::move(start));
  page.parts.emplace_back(
      SummarySection{"How to go on",
                     {{"simulate it", command},
                      {"tried", counted(plan.estimated, "configuration") + " in closed form"},
                      {"cost models", cost_models_text(plan.record)}},
                     {}});
  for (const PlanChoice& choice : choices_of(plan)) {
    page.parts.emplace_back(AnswerChart{choice_chart(plan, choice), true});
  }
  for (AnswerChart& chart : record_charts(plan.record, storage_interval_note()))
    page.parts.emplace_back(std::move(chart));
  for (SummarySection& section : what_else(plan)) page.parts.emplace_back(std::move(section));
  page.parts.emplace_back(taken_section(plan));
  return answer_page(page);
}

}  // namespace windtunnel
