#include "cli/optimise/optimise_intervals.hpp"

#include <fmt/format.h>

#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/units.hpp"
#include "report/figures/summary.hpp"
#include "report/json/json.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

std::string run_line(const IntervalCommand& command, const IntervalSearch& found) {
  std::string line = fmt::format("windtunnel run {}", shell_word(command.scenario));
  for (const std::string& set : command.set) line += fmt::format(" --set {}", shell_word(set));
  for (const IntervalSearch::Tier& tier : found.tiers) {
    line += fmt::format(" --set {}", shell_word(fmt::format("{}={}", tier.key, tier.value)));
  }
  return line;
}

std::string goodput_text(const Estimate& goodput) {
  return fmt::format("{} ({} .. {})", format_percent(goodput.mean), format_percent(goodput.low),
                     format_percent(goodput.high));
}

std::vector<std::string> row_of(const std::string& name, const CampaignReport& report) {
  return {name, goodput_text(report.goodput),
          is_known(report.job_days) ? fmt::format("{:.1f}", report.job_days.mean) : "-",
          is_known(report.job_cost_usd) ? format_count(report.job_cost_usd.mean) : "-"};
}

std::string text_of(const IntervalCommand& command, const IntervalSearch& found) {
  TextTable tiers{{{"tier"}, {"place"}, {"best", Align::right}, {"in time", Align::right}}, {}};
  for (const IntervalSearch::Tier& tier : found.tiers) {
    tiers.rows.push_back({tier.key, tier.name, tier.value, format_seconds(tier.every_s)});
  }
  TextTable goodput{{{"intervals"},
                     {"goodput (95 % interval)", Align::right},
                     {"days", Align::right},
                     {"USD", Align::right}},
                    {row_of("best", found.best), row_of("as given", found.given)}};
  std::string text = table_text(tiers) + "\n" + table_text(goodput);
  text += fmt::format(
      "gain with the same failures: {:.2f} percentage points (95 % interval {:.2f} .. {:.2f})\n",
      100 * found.gain.mean, 100 * found.gain.low, 100 * found.gain.high);
  if (const auto& theory = found.theory) {
    text += fmt::format("formulas for {} alone: Young {}, Daly {}, exact exponential {}\n",
                        theory->tier, format_seconds(theory->young_s),
                        format_seconds(theory->daly_s), format_seconds(theory->exact_s));
  }
  return text + fmt::format("{} campaigns of {} replicas\n\nbest: {}\n", found.campaigns,
                            found.given.replicas, run_line(command, found));
}

Json estimate_json(const Estimate& estimate) {
  return {{"mean", estimate.mean}, {"low", estimate.low}, {"high", estimate.high}};
}

Json result_json(const CampaignReport& report) {
  const auto known = [](const Estimate& estimate) {
    return is_known(estimate) ? estimate_json(estimate) : Json(nullptr);
  };
  return {{"goodput", estimate_json(report.goodput)},
          {"job_days", known(report.job_days)},
          {"job_cost_usd", known(report.job_cost_usd)}};
}

Json document_of(const IntervalCommand& command, const IntervalSearch& found) {
  Json document = {{"scenario", command.scenario},
                   {"for", command.options.aim == Aim::cost ? "cost" : "goodput"},
                   {"set", Json::object()},
                   {"intervals", Json::array()}};
  for (const IntervalSearch::Tier& tier : found.tiers) {
    document["set"][tier.key] = tier.value;
    document["intervals"].push_back(
        {{"key", tier.key}, {"tier", tier.name}, {"value", tier.value}, {"every_s", tier.every_s}});
  }
  document["best"] = result_json(found.best);
  document["given"] = result_json(found.given);
  document["gain"] = estimate_json(found.gain);
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

}  // namespace

ExitCode optimise_intervals(IntervalCommand command) {
  IntervalSearch found;
  {
    Progress progress;
    command.options.progress = [&](const std::string& step) { progress.show(step); };
    found = search_intervals(command.scenario, parse_overrides(command.set), command.options);
  }
  if (command.json) print_result(json_text(document_of(command, found)));
  print_human(text_of(command, found), command.json);
  return ExitCode::ok;
}

}  // namespace windtunnel
