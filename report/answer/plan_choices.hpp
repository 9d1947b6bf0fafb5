// What a plan tried of each question, of which it took one (layouts, spares, snapshots, and what
// happens without a spare), and what it is asked of time and money: how surely the training is done
// within them, by the interval of its days, and what the whole rental costs.
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
  std::string name;                                                // "spares"
  std::string title;                                               // of its table and its chart
  std::string column;                                              // what names its options
  std::string note;                                                // how it was chosen
  std::vector<std::pair<std::string, const PlanOption*>> options;  // of the plan
  size_t taken = 0;                                                // of the options

  // The fastest training among the others. Nothing where none of them was simulated.
  std::optional<size_t> next_best() const;
};
// Which interval of the tier on storage is taken.
std::string storage_interval_note();

// Questions that leave something to choose between are listed.
std::vector<PlanChoice> choices_of(const PlanReport& plan);

// By what a plan chooses by; such a difference is not written as a number, which would be chance.
bool is_as_good(const PlanOption& taken, const PlanOption& instead);
// It takes so many times longer than the plan that nobody would act on its days.
bool is_hopeless(const PlanOption& taken, const PlanOption& instead);

// layout_axes() is "tp 4 x pp 4 x dp 32, zero1"; layout_name() adds the schedule.
std::string layout_axes(const PlanOption& option);
std::string layout_name(const PlanOption& option);
std::string schedule_name(const PlanOption& option);

// Every option of a choice has a row.
TextTable choice_table(const PlanReport& plan, const PlanChoice& choice);
// The next best option of each choice has a row with what it costs to take it instead; that of the
// layout is the runner-up and has none.
TextTable instead_table(const PlanReport& plan);

// The chance that a value with this 95 % interval around `middle` is at most `limit`: on either
// side a logarithmic Student t of so many degrees of freedom, as the interval is drawn.
double chance_within(double limit, double low, double middle, double high, double freedom);

// How surely PlanRequest::deadline_days and budget_usd are met, and on how many nodes; no rows
// where neither is asked.
std::vector<SummaryRow> deadline_rows(const PlanReport& plan);

// {"deadline": {"days", "chance", "rental_usd", "nodes"}, "budget": {"usd", "chance", "days",
// "nodes"}}, null where not asked; "nodes" is {"nodes", "met", "days", "cost_usd", "why"} of the
// plan on as many nodes as the goal takes, or of that which comes nearest.
void place_deadline(Json& document, const PlanReport& plan);

}  // namespace windtunnel
