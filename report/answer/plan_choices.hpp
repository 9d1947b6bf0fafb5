// The choices of a plan with the options tried for each (layouts, spares, snapshots, and what
// happens without a spare), and its goals of time and money: the chance that the training meets
// them, from the interval of its days, and the cost of the whole rental.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/text/answer.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {

inline constexpr const char* kLayoutChoice = "layout";
inline constexpr const char* kSnapshotsChoice = "snapshots";

struct PlanChoice {
  std::string name;  // "spares"
  // Title of the table and the chart.
  std::string title;
  // Title of the column that names the options.
  std::string column;
  std::string note;                                                // how the option was chosen
  std::vector<std::pair<std::string, const PlanOption*>> options;  // options of the plan
  size_t taken = 0;                                                // index in `options`

  // The fastest other option. Nothing if no other was simulated.
  std::optional<size_t> next_best() const;
};
// How the interval of the tier on storage was chosen.
std::string storage_interval_note();

// Returns the questions with more than one option.
std::vector<PlanChoice> choices_of(const PlanReport& plan);

// Whether the two are equal by the plan's criterion. Their difference is then due to chance and is
// not written as a number.
bool is_as_good(const PlanOption& taken, const PlanOption& instead);
// Whether the training takes so much longer than in the plan that its days do not matter.
bool is_hopeless(const PlanOption& taken, const PlanOption& instead);

// layout_axes() is "tp 4 x pp 4 x dp 32, zero1"; layout_name() adds the schedule.
std::string layout_axes(const PlanOption& option);
std::string layout_name(const PlanOption& option);
std::string schedule_name(const PlanOption& option);

// This is a row for each option of a choice.
TextTable choice_table(const PlanReport& plan, const PlanChoice& choice);
// A row for the next best option of each choice, with its extra cost. The layout has none: its next
// best is the runner-up of the plan.
TextTable instead_table(const PlanReport& plan);

// The chance that a value is at most `limit`, given its 95 % interval around `middle`. Each side is
// a logarithmic Student t with `freedom` degrees of freedom, as in the interval.
double chance_within(double limit, double low, double middle, double high, double freedom);

// The chance of meeting PlanRequest::deadline_days and budget_usd, and the nodes that would meet
// them; no rows if neither is asked.
std::vector<SummaryRow> deadline_rows(const PlanReport& plan);

// Adds {"deadline": {"days", "chance", "rental_usd", "nodes"}, "budget": {"usd", "chance", "days",
// "nodes"}}, null if not asked. "nodes" is {"nodes", "met", "days", "cost_usd", "why"} of the plan
// with as many nodes as the goal needs, or of the plan that comes nearest to the goal.
void place_deadline(Json& document, const PlanReport& plan);

}  // namespace windtunnel
