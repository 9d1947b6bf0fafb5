#include "report/answer/plan_choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/calibration/prediction_error.hpp"
#include "models/results/campaign_report.hpp"
#include "models/results/paired_gain.hpp"
#include "models/workload/axes.hpp"
#include "report/figures/figures.hpp"
#include "report/figures/model_range.hpp"

namespace windtunnel {
namespace {

constexpr const char* kRoomChoice = "memory";

// Returns "62 nodes + 2 spares".
std::string nodes_of(const PlanOption& option) {
  return fmt::format("{} + {}", counted(option.point.nodes, "node"),
                     counted(option.point.spares, "spare"));
}

// Returns "70.8 GiB, 23 % risk of not fitting".
std::string memory_of(const PlanOption& option) {
  return fmt::format("{}, {:.0f} % risk of not fitting", format_memory(option.memory_bytes),
                     100 * option.too_big);
}

std::string precision_of(const PlanOption& option) {
  const std::string precision = option.point.found_at("precision");
  return precision.empty() ? "bf16 (assumed)" : fmt::format("{0} (--set precision={0})", precision);
}

bool same_job(const PlanOption& a, const PlanOption& b) {
  return a.point.found == b.point.found && a.point.nodes == b.point.nodes;
}

// Adds a choice with these options, unless there is none but the plan's own.
void add_choice(PlanChoice choice, const std::vector<PlanOption>& options,
                std::string (*name)(const PlanOption&), const auto& is_taken,
                std::vector<PlanChoice>& choices) {
  if (options.size() < 2) return;
  for (const PlanOption& each : options) choice.options.emplace_back(name(each), &each);
  const auto taken = std::ranges::find_if(options, is_taken);
  CHECK(taken != options.end(), "no option of '{}' is the plan's own", choice.name);
  choice.taken = static_cast<size_t>(taken - options.begin());
  choices.push_back(std::move(choice));
}

// What the plan leaves to its reader: more memory free, another precision, more nodes.
void add_open_choices(const PlanReport& plan, std::vector<PlanChoice>& choices) {
  add_choice(
      {.name = kRoomChoice,
       .title = "With more memory free",
       .column = "fullest GPU",
       .note = fmt::format(
           "The fastest training that leaves {} of a GPU's memory free (--headroom {:.0f}). It "
           "fits with a chance of 95 %, judged by the errors of earlier predictions of memory.",
           format_percent(plan.roomy), 100 * plan.roomy),
       .options = {}},
      plan.room, memory_of, [&](const PlanOption& at) { return same_job(at, plan.best); }, choices);
  add_choice(
      {.name = "precision",
       .title = "In another precision",
       .column = "precision",
       .note = "The plan keeps bf16, unless --set precision=fp8 is given: whether a model trains "
               "as well in fp8 is not simulated.",
       .options = {}},
      plan.precisions, precision_of,
      [&](const PlanOption& at) { return at.point.found_at("precision").empty(); }, choices);
  add_choice(
      {.name = "more nodes",
       .title = "With a few more nodes than requested",
       .column = "training + spare",
       .note = "The same training with extra spares, which are paid for, too.",
       .options = {}},
      plan.more_nodes, nodes_of,
      [&](const PlanOption& at) { return at.point.spares == plan.best.point.spares; }, choices);
}

}  // namespace

bool is_as_good(const PlanOption& taken, const PlanOption& instead) {
  const double ratio = instead.progress_tokens_per_s() / taken.progress_tokens_per_s();
  return std::abs(ratio - 1) <= kPlanAsGood;
}

bool is_hopeless(const PlanOption& taken, const PlanOption& instead) {
  constexpr double kTimes = 10;
  return instead.days > kTimes * taken.days;
}

std::optional<size_t> PlanChoice::next_best() const {
  std::optional<size_t> best;
  for (size_t i = 0; i < options.size(); ++i) {
    const PlanOption& option = *options[i].second;
    if (i == taken || !option.goodput) continue;
    const bool better =
        !best || option.progress_tokens_per_s() > options[*best].second->progress_tokens_per_s();
    if (better) best = i;
  }
  return best;
}

std::string schedule_name(const PlanOption& option) {
  const std::string schedule = option.point.found_at("schedule");
  return schedule.empty() ? "1f1b" : schedule;
}

std::string layout_axes(const PlanOption& option) {
  std::string text;
  const auto add = [&](const Axis& axis) {
    const std::string value = option.point.found_at(std::string(axis.key));
    if (value.empty() || value == "1") return;
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis.name, value);
  };
  // dp replicates all other axes, so it is written last.
  const auto is_replicas = [](const Axis& axis) { return axis.size == &Layout::dp; };
  for (const Axis& axis : kAxes) {
    if (!is_replicas(axis)) add(axis);
  }
  add(*std::ranges::find_if(kAxes, is_replicas));
  const std::string sharding = option.point.found_at("layout.sharding");
  return sharding.empty() || sharding == "none" ? text : text + ", " + sharding;
}

std::string layout_name(const PlanOption& option) {
  return fmt::format("{}, {}", layout_axes(option), schedule_name(option));
}

std::string storage_interval_note() {
  return fmt::format(
      "The interval on storage, searched from {} to {}, is the longest that is as good ({}), "
      "because it loads the storage least.",
      format_quantity(kPlanShortestInterval_s, Dimension::seconds),
      format_quantity(kPlanLongestInterval_s, Dimension::seconds), as_good_loss_text());
}

std::vector<PlanChoice> choices_of(const PlanReport& plan) {
  const std::string within = fmt::format("within {:g} % of the best", kPlanAsGood * 100);
  std::vector<PlanChoice> choices;
  add_choice(
      {.name = kLayoutChoice,
       .title = "Layouts, with copies only on storage",
       .column = "layout",
       .note = "The fastest training is taken. The columns goodput and days are simulated under "
               "other random failures than the choice, so that luck does not count. The other rows "
               "are the best by the closed form, and the best of two other layouts.",
       .options = {}},
      plan.layouts, layout_name, [&](const PlanOption& at) { return same_job(at, plan.best); },
      choices);
  add_choice(
      {.name = "spares",
       .title = "How many spares, with copies only on storage",
       .column = "training + spare",
       .note =
           "The fastest training is taken, because spares cost as much as nodes that train. The "
           "columns goodput and days are simulated under other random failures than the choice.",
       .options = {}},
      plan.spares, nodes_of,
      [&](const PlanOption& at) { return at.point.spares == plan.best.point.spares; }, choices);
  add_choice(
      {.name = kSnapshotsChoice,
       .title = "Which snapshots",
       .column = "copies",
       .note = fmt::format("The simplest choice {} is taken. {}", within, storage_interval_note()),
       .options = {}},
      plan.snapshots, [](const PlanOption& at) { return at.point.snapshots.name; },
      [&](const PlanOption& at) {
        return at.point.snapshots.name == plan.best.point.snapshots.name;
      },
      choices);
  add_choice(
      {.name = "without a spare",
       .title = "When no spare is left",
       .column = "then",
       .note = "Shrink: go on with fewer replicas. Wait: wait for a repair.",
       .options = {}},
      plan.without_spare, [](const PlanOption& at) { return at.point.when_no_spare; },
      [&](const PlanOption& at) { return at.point.when_no_spare == plan.best.point.when_no_spare; },
      choices);
  add_open_choices(plan, choices);
  return choices;
}

TextTable choice_table(const PlanReport& plan, const PlanChoice& choice) {
  TextTable table{{{choice.column},
                   {"batch", Align::right},
                   {figure("iteration.time_s").title, Align::right},
                   {"memory", Align::right},
                   {figure("campaign.goodput").title, Align::right},
                   {"days", Align::right},
                   {"cost", Align::right}},
                  {}};
  for (size_t i = 0; i < choice.options.size(); ++i) {
    const PlanOption& each = *choice.options[i].second;
    const std::string name = choice.options[i].first + (i == choice.taken ? " (taken)" : "");
    const std::string batch = with_separators(each.point.batch);
    if (!each.goodput) {
      table.rows.push_back(
          {name, batch, format_seconds(each.step_s), "", "only estimated", "", ""});
      continue;
    }
    table.rows.push_back(
        {name, batch, format_seconds(each.step_s), format_memory(each.memory_bytes),
         estimate_text(Unit::share, *each.goodput), value_text(Unit::days, each.days),
         value_text(Unit::usd, usd_of(plan.basis, each))});
  }
  return table;
}

TextTable instead_table(const PlanReport& plan) {
  TextTable table{{{"choice"},
                   {"taken"},
                   {"next best"},
                   {figure("campaign.goodput").title, Align::right},
                   {"longer by", Align::right},
                   {"dearer by", Align::right}},
                  {}};
  for (const PlanChoice& choice : choices_of(plan)) {
    const std::optional<size_t> next = choice.next_best();
    const bool told_elsewhere = choice.name == kLayoutChoice || choice.name == kRoomChoice;
    if (told_elsewhere || !next) continue;
    const auto& [taken_name, taken] = choice.options[choice.taken];
    const auto& [name, instead] = choice.options[*next];
    const bool alike = is_as_good(*taken, *instead);
    const double usd = usd_of(plan.basis, *instead) - usd_of(plan.basis, *taken);
    std::string longer = value_text(Unit::days, instead->days - taken->days);
    std::string dearer = value_text(Unit::usd, usd);
    const bool same_nodes =
        taken->point.nodes + taken->point.spares == instead->point.nodes + instead->point.spares;
    if (alike) longer = "as good";
    if (alike && same_nodes) dearer = longer;
    if (is_hopeless(*taken, *instead)) longer = dearer = "hopeless";
    table.rows.push_back({choice.name, taken_name, name,
                          value_text(Unit::share, instead->goodput->mean), longer, dearer});
  }
  return table;
}

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

Json nodes_json(const std::optional<NodesForGoal>& found) {
  if (!found || found->plan == nullptr) return nullptr;
  return {{"nodes", found->plan->basis.request.nodes},
          {"met", found->met},
          {"days", found->plan->best.days},
          {"cost_usd", usd_of(found->plan->basis, found->plan->best)},
          {"why", found->why}};
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
                            {"nodes", nodes_json(plan.for_days)}};
  }
  if (asked.budget_usd) {
    const double days = budget_days(plan, *asked.budget_usd);
    document["budget"] = {{"usd", *asked.budget_usd},
                          {"chance", chance_in_days(plan, days)},
                          {"days", days},
                          {"nodes", nodes_json(plan.for_budget)}};
  }
}

}  // namespace windtunnel
