#include "report/answer/plan_choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/results/paired_gain.hpp"
#include "models/workload/axes.hpp"
#include "report/figures/figures.hpp"

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

}  // namespace windtunnel
