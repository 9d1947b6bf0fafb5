#include <fmt/format.h>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/calibration/prediction_error.hpp"
#include "models/results/campaign_report.hpp"
#include "report/answer/plan_choices.hpp"
#include "report/figures/figures.hpp"
#include "report/figures/model_range.hpp"

namespace windtunnel {
namespace {

double usd_per_day(const PlanReport& plan) {
  PlanOption day = plan.best;
  day.days = 1;
  return usd_of(plan.basis, day);
}

// Weights each trial equally: a single training has one trial's failures, not their mean.
double chance_in_days(const PlanReport& plan, double days) {
  const Figure& whole = figure("campaign.job.days");
  const std::optional<FigureRange> held = model_range(whole, plan.record);
  const std::optional<FigureRange> law = model_range(whole, plan.record, FastEnd::by_the_law);
  const std::optional<FigureRange> range = wider_range(whole, plan.record, FastEnd::by_the_law);
  const double middle = plan.best.days;
  if (!held || !law || !range || !std::isfinite(middle) || !plan.record.campaign) return 0;
  // No training is faster than its GPUs' peak, although the error's law or the interval of the mean
  // over trials may reach further.
  const double least = held->low > law->low ? held->low : 0;
  const double freedom = freedom_of(plan.record.iteration.error);
  const CampaignReport& campaign = *plan.record.campaign;
  double chance = 0;
  for (const double goodput : campaign.trial_goodput) {
    const double limit = days * goodput / campaign.goodput.mean;
    if (limit < least) continue;
    chance += chance_within(limit, range->low, middle, range->high, freedom);
  }
  return chance / static_cast<double>(campaign.trial_goodput.size());
}

double budget_days(const PlanReport& plan, double usd) {
  return usd / usd_per_day(plan);
}

std::string chance_text(double chance) {
  constexpr double kNearlySure = 0.99;
  if (chance >= kNearlySure) return "more than 99 %";
  if (chance <= 1 - kNearlySure) return "less than 1 %";
  return fmt::format("{:.0f} %", 100 * chance);
}

// "24.4 d (15.4 d .. 41.0 d), 1.07 M USD"
std::string days_and_cost(const PlanReport& plan) {
  const std::optional<FigureRange> range = wider_range(figure("campaign.job.days"), plan.record);
  std::string text = value_text(Unit::days, plan.best.days);
  if (range) text += fmt::format(" ({})", range_text(Unit::days, range->low, range->high));
  return text + ", " + value_text(Unit::usd, usd_of(plan.basis, plan.best));
}

// Describes the number of nodes for a goal; `days_of` converts the goal to days of a plan.
std::string nodes_value(const NodesForGoal& found, const char* which,
                        double (*days_of)(const PlanReport& plan, double goal), double goal) {
  if (found.plan == nullptr) return "no number of nodes meets it";
  const PlanReport& plan = *found.plan;
  const int number = plan.basis.request.nodes;
  const std::string nodes = fmt::format("{} ({} GPUs)", counted(number, "node"),
                                        with_separators(number * plan.basis.node.gpus));
  const std::string what = days_and_cost(plan);
  if (found.met) {
    return fmt::format("{} {}, judged by the mean of the trials: {}, done with a chance of {}",
                       which, nodes, what, chance_text(chance_in_days(plan, days_of(plan, goal))));
  }
  return fmt::format("no number of nodes meets it; the closest is {}: {}{}{}", nodes, what,
                     found.why.empty() ? "" : "; ", found.why);
}

double deadline_days(const PlanReport& /*plan*/, double days) {
  return days;
}

Json nodes_json(const NodesForGoal& found) {
  if (found.plan == nullptr) return nullptr;
  return {{"nodes", found.plan->basis.request.nodes},
          {"met", found.met},
          {"days", found.plan->best.days},
          {"cost_usd", usd_of(found.plan->basis, found.plan->best)},
          {"why", found.why}};
}

}  // namespace

double chance_within(double limit, double low, double middle, double high, double freedom) {
  const boost::math::students_t distribution(freedom);
  const double end = boost::math::quantile(distribution, (1 + kReportedShare) / 2);
  if (limit <= 0) return 0;
  const double width = limit < middle ? std::log(middle / low) : std::log(high / middle);
  const double off = std::log(limit / middle);
  if (width <= 0) return off >= 0 ? 1 : 0;
  return boost::math::cdf(distribution, off / width * end);
}

std::vector<SummaryRow> deadline_rows(const PlanReport& plan) {
  const PlanRequest& asked = plan.basis.request;
  const int gpus = asked.nodes * plan.basis.node.gpus;
  std::vector<SummaryRow> rows;
  if (asked.deadline_days) {
    const double days = *asked.deadline_days;
    rows.push_back(
        {"in " + (days < 1 ? value_text(Unit::days, days) : fmt::format("{:g} d", days)),
         fmt::format("done with a chance of {}; renting all {} GPUs for that time costs {}",
                     chance_text(chance_in_days(plan, days)), with_separators(gpus),
                     value_text(Unit::usd, days * usd_per_day(plan)))});
    if (plan.for_days) {
      rows.push_back(
          {"nodes for that time", nodes_value(*plan.for_days, "at least", deadline_days, days)});
    }
  }
  if (asked.budget_usd) {
    const double days = budget_days(plan, *asked.budget_usd);
    rows.push_back({"for " + value_text(Unit::usd, *asked.budget_usd),
                    fmt::format("done with a chance of {}; it rents all {} GPUs for {}",
                                chance_text(chance_in_days(plan, days)), with_separators(gpus),
                                value_text(Unit::days, days))});
    if (plan.for_budget) {
      rows.push_back({"nodes for that money",
                      nodes_value(*plan.for_budget, "at most", budget_days, *asked.budget_usd)});
    }
  }
  return rows;
}

void place_deadline(Json& document, const PlanReport& plan) {
  const PlanRequest& asked = plan.basis.request;
  document["deadline"] = nullptr;
  document["budget"] = nullptr;
  if (asked.deadline_days) {
    document["deadline"] = {{"days", *asked.deadline_days},
                            {"chance", chance_in_days(plan, *asked.deadline_days)},
                            {"rental_usd", *asked.deadline_days * usd_per_day(plan)},
                            {"nodes", plan.for_days ? nodes_json(*plan.for_days) : nullptr}};
  }
  if (asked.budget_usd) {
    const double days = budget_days(plan, *asked.budget_usd);
    document["budget"] = {{"usd", *asked.budget_usd},
                          {"chance", chance_in_days(plan, days)},
                          {"days", days},
                          {"nodes", plan.for_budget ? nodes_json(*plan.for_budget) : nullptr}};
  }
}

}  // namespace windtunnel
