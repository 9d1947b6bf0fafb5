#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/optimise/optimise_parts.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/version.hpp"
#include "models/results/paired_gain.hpp"
#include "report/answer/charts.hpp"
#include "report/json/json.hpp"
#include "report/summary/campaign_summary.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

// Whether the search changes any tier.
bool changes(const IntervalSearch& found) {
  return !std::ranges::all_of(found.tiers, &IntervalSearch::Tier::as_given);
}

// Describes which tiers keep their interval, and which have an interval that storage cannot
// sustain.
std::string words_of(const IntervalSearch& found) {
  std::vector<std::string> words;
  const bool any_needed = std::ranges::any_of(found.tiers, &IntervalSearch::Tier::is_needed);
  if (!changes(found) && any_needed) {
    words.push_back(
        fmt::format("Keep the stated intervals: the best ones gain {}.", no_gain_text()));
  }
  for (const IntervalSearch::Tier& tier : found.tiers) {
    if (!tier.storage_allows_given) {
      words.push_back(fmt::format(
          "With the stated {}, snapshots would take {} of the storage's bandwidth, but only {} is "
          "allowed (cluster.storage.share); the best is chosen among intervals within that limit.",
          tier.key, value_text(Unit::share, found.storage_share * tier.storage_s / tier.given_s),
          value_text(Unit::share, found.storage_share)));
    }
    if (!tier.is_needed) {
      words.push_back(fmt::format(
          "No trial restored from {} ({}): it protects against failures that the scenario does not "
          "contain, so these campaigns cannot show how often to save to it.",
          tier.name, tier.key));
    }
    if (!tier.as_given || !tier.is_needed) continue;
    if (changes(found)) {
      words.push_back(fmt::format("Keep the stated interval of {}, {}: the best one gains {}.",
                                  tier.key, tier.value, no_gain_text()));
    }
    if (tier.shortest == tier.longest) continue;
    words.push_back(
        fmt::format("{} does not matter {}.", tier.key, as_good_text(tier.shortest, tier.longest)));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

Overrides changed_intervals(const IntervalSearch& found) {
  Overrides changed;
  for (const IntervalSearch::Tier& tier : found.tiers) {
    if (!tier.as_given) changed.emplace_back(tier.key, tier.value);
  }
  return changed;
}

// Wraps the campaign in a Record without an iteration, because figures are read from records.
Record record_of(const CampaignReport& report) {
  Record record;
  record.campaign = report;
  return record;
}

std::vector<std::string> row_of(const std::string& name, const CampaignReport& report) {
  const auto text = [record = record_of(report)](std::string_view key) {
    const std::string known = figure(key).text(record);
    return known.empty() ? "-" : known;
  };
  return {name, estimate_text(Unit::share, report.goodput), text("campaign.job.days"),
          text("campaign.job.cost_usd")};
}

TextTable tiers_table(const IntervalSearch& found) {
  if (!changes(found)) {  // the best values are due to chance
    TextTable table{{{"tier"}, {"place"}, {"as good", Align::right}}, {}};
    for (const IntervalSearch::Tier& tier : found.tiers) {
      table.rows.push_back(
          {tier.key, tier.name, fmt::format("{} .. {}", tier.shortest, tier.longest)});
    }
    return table;
  }
  TextTable table{{{"tier"},
                   {"place"},
                   {"best", Align::right},
                   {"in time", Align::right},
                   {"as good", Align::right}},
                  {}};
  for (const IntervalSearch::Tier& tier : found.tiers) {
    table.rows.push_back({tier.key, tier.name, tier.value, value_text(Unit::seconds, tier.every_s),
                          fmt::format("{} .. {}", tier.shortest, tier.longest)});
  }
  return table;
}

TextTable goodput_table(const IntervalSearch& found) {
  return {{{"intervals"},
           {fmt::format("{} ({})", figure("campaign.goodput").title, kIntervalTitle), Align::right},
           {figure("campaign.job.days").title, Align::right},
           {figure("campaign.job.cost_usd").title, Align::right}},
          {row_of("best", found.best), row_of("as given", found.given)}};
}

Json result_json(const CampaignReport& report) {
  const Json campaign = campaign_json(record_of(report));
  return {{"goodput", campaign.at("goodput")},
          {"job_days", campaign.at("job").at("days")},
          {"job_cost_usd", campaign.at("job").at("cost_usd")},
          {"campaign", campaign}};  // all figures by key
}

Json document_of(const IntervalCommand& command, const IntervalSearch& found) {
  Json document = {{"scenario", command.scenario},
                   {"version", program_version()},
                   {"commit", program_commit()},
                   {"for", command.options.aim == Aim::cost ? "cost" : "goodput"},
                   {"set", set_json(changed_intervals(found))},
                   {"intervals", list_json(found.tiers, [](const IntervalSearch::Tier& tier) {
                      Json entry = {{"key", tier.key}, {"tier", tier.name}};
                      PUT_MEMBERS(entry, tier, value, every_s, storage_s, as_given, is_needed,
                                  storage_allows_given);
                      entry["as_good"] = {{"from", tier.shortest}, {"to", tier.longest}};
                      return entry;
                    })}};
  document["best"] = result_json(found.best);
  document["given"] = result_json(found.given);
  document["gain"] = estimate_json(found.gain);
  document["gain_is_chance"] = !is_gain(found.gain);
  document["theory"] = nullptr;
  if (const auto& theory = found.theory) {
    document["theory"] = {{"tier", theory->tier},
                          {"young_s", theory->young_s},
                          {"daly_s", theory->daly_s},
                          {"exact_s", theory->exact_s}};
  }
  document["campaigns"] = found.campaigns;
  return document;
}

Json goodput_chart(const IntervalSearch& found) {
  return chart_json(
      RangeChart{.title = "Goodput with these intervals between snapshots",
                 .note = fmt::format("Mean and {} over {} trials with the same failures.",
                                     kIntervalTitle, found.given.trials),
                 .axis = {figure("campaign.goodput").title, Unit::share},
                 .items = {{.name = "best", .value = found.best.goodput, .best = changes(found)},
                           {.name = "as given", .value = found.given.goodput}}});
}

SummarySection intervals_section(const IntervalCommand& command, const IntervalSearch& found) {
  SummarySection section{changes(found) ? "The best intervals" : "Intervals without a certain gain",
                         {},
                         tiers_table(found)};
  for (const IntervalSearch::Tier& tier : found.tiers) {
    if (tier.storage_s <= 0) continue;
    section.rows.push_back(
        {tier.key, fmt::format("snapshots take at most {} of the storage's bandwidth "
                               "(cluster.storage.share) at intervals of {} or more",
                               value_text(Unit::share, found.storage_share),
                               value_text(Unit::seconds, tier.storage_s))});
  }
  section.rows.push_back(
      {"simulate it", run_line(command.scenario, command.set, changed_intervals(found))});
  return section;
}

Answer answer_of(const IntervalCommand& command, const IntervalSearch& found) {
  const Figure& goodput = figure("campaign.goodput");
  SummarySection gain{"What it brings", {}, goodput_table(found)};
  gain.with_figures = true;
  Answer answer{
      .title = fmt::format("How often {} should save", command.scenario),
      .subtitle = fmt::format("{} campaigns of {} trials", found.campaigns, found.given.trials),
      .figures = {{goodput.title, value_text(Unit::share, found.best.goodput.mean), "the best"},
                  {"gain", value_text(Unit::points, found.gain.mean) + " points",
                   fmt::format("{}, {} with the same failures",
                               range_text(Unit::points, found.gain.low, found.gain.high),
                               kIntervalTitle)}},
      .sections = {chart_section([&] { return goodput_chart(found); }),
                   intervals_section(command, found), std::move(gain)},
      .kind = "optimise-intervals",
      .document = [&] { return document_of(command, found); }};
  for (const IntervalSearch::Tier& tier : found.tiers) {
    if (!tier.as_given) answer.figures.push_back({tier.name, tier.value, "between snapshots"});
  }
  if (const auto& theory = found.theory) {
    answer.sections.push_back(
        {fmt::format("Formulas for {} alone", theory->tier),
         {{"Young", value_text(Unit::seconds, theory->young_s)},
          {"Daly", value_text(Unit::seconds, theory->daly_s)},
          {"exact exponential", value_text(Unit::seconds, theory->exact_s)}}});
  }
  if (std::string words = words_of(found); !words.empty()) {
    answer.warnings.push_back(std::move(words));
  }
  return answer;
}

}  // namespace

ExitCode optimise_intervals(IntervalCommand command) {
  const ScenarioText scenario = load_scenario(command.scenario, parse_overrides(command.set)).text;
  IntervalSearch found;
  {
    Progress progress;
    command.options.progress = [&](const std::string& step) { progress.show(step); };
    found = search_intervals(scenario, command.options);
  }
  hand_out(answer_of(command, found), command.output);
  return ExitCode::ok;
}

}  // namespace windtunnel
