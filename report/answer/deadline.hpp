// What a plan is asked of time and money: how surely the training is done within them, by the
// interval of its days, and what the whole rental costs.
#pragma once

#include <vector>

#include "report/json/json.hpp"
#include "report/summary/summary.hpp"
#include "sim/study/plan/make_plan.hpp"

namespace windtunnel {

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
