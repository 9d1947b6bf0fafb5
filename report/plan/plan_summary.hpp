// A plan as the one screen that answers: what it takes, what to start, what else was tried and what
// was taken for granted; and as the document of --json.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {

// What was tried of one question, of which the plan took the best: layouts, spares, snapshots.
struct PlanChoice {
  std::string title;
  std::string column;                                              // what names its options
  std::vector<std::pair<std::string, const PlanOption*>> options;  // of the plan
};
// Those with something to choose between.
std::vector<PlanChoice> choices_of(const PlanReport& plan);

// "tp 4 x pp 4 x dp 32, zero1, interleaved-1f1b"
std::string layout_name(const PlanOption& option);

// Parts of the answer: what the training costs at other prices; nodes, layout and what else one
// starts it with; a table per choice; and what was taken for granted.
SummaryRow other_prices(const PlanReport& plan);
SummarySection what_to_start(const PlanReport& plan);
std::vector<SummarySection> what_else(const PlanReport& plan);
SummarySection taken_section(const PlanReport& plan);

// `command`: what simulates the plan again, for its last line.
Summary summarise_plan(const PlanReport& plan, const std::string& command);

Json plan_document(const PlanReport& plan);

}  // namespace windtunnel
