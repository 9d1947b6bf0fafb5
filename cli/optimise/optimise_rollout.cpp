#include <fmt/format.h>

#include "cli/optimise/optimise_parts.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/version.hpp"
#include "report/answer/charts.hpp"
#include "report/json/json.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

constexpr const char* kColumns[] = {"rollout.period_s", "rollout.samples_per_s",
                                    "rollout.actors_idle", "rollout.learner_idle",
                                    "rollout.usd_per_sample"};

// Wraps the loop in a Record without an iteration, because figures are read from records.
Record record_of(const RolloutReport& report) {
  Record record;
  record.studies.set(report);
  return record;
}

std::vector<std::string> row_of(const std::string& rank, const RankedSplit& split) {
  const Record record = record_of(split.best_known());
  const char* how = split.record ? "simulated" : split.failure.empty() ? "estimated" : "failed";
  std::vector<std::string> row = {rank, fmt::format("{}", split.learner_nodes),
                                  fmt::format("{}", split.engine_nodes),
                                  fmt::format("{}", split.engine_gpus), how};
  for (const char* key : kColumns) {
    const std::string text = figure(key).text(record);
    row.push_back(text.empty() ? "-" : text);
  }
  return row;
}

TextTable splits_table(const SplitSearch& found) {
  TextTable table{{{"rank", Align::right},
                   {"learner nodes", Align::right},
                   {"engine nodes", Align::right},
                   {"GPUs per engine", Align::right},
                   {"how"}},
                  {}};
  for (const char* key : kColumns) table.columns.push_back({figure(key).title, Align::right});
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    table.rows.push_back(row_of(std::to_string(i + 1), found.best[i]));
  }
  if (found.even) table.rows.push_back(row_of("even", *found.even));
  return table;
}

Json split_json(const RankedSplit& split) {
  Json row = {{"set", set_json(split.set)},
              {"learner_nodes", split.learner_nodes},
              {"engine_nodes", split.engine_nodes},
              {"engine_gpus", split.engine_gpus}};
  place_studies(row, record_of(split.estimate), StudyRole::leading);
  if (split.record) row["result"] = run_document(*split.record, false);
  if (!split.failure.empty()) row["failure"] = split.failure;
  return row;
}

Json document_of(const RolloutCommand& command, const SplitSearch& found) {
  return {{"scenario", command.scenario},
          {"version", program_version()},
          {"commit", program_commit()},
          {"estimated", found.estimated},
          {"infeasible", found.infeasible},
          {"best", list_json(found.best, split_json)},
          {"even", found.even ? split_json(*found.even) : Json(nullptr)}};
}

Json splits_chart(const SplitSearch& found) {
  RangeChart chart{.title = "Samples per second by split of the nodes",
                   .note = "The diamond is the closed-form estimate by which splits were chosen.",
                   .axis = {figure("rollout.samples_per_s").title, Unit::count},
                   .items = {}};
  const auto add = [&](const RankedSplit& split, const std::string& rank) {
    const double samples_per_s = split.best_known().samples_per_s;
    RangeItem item{.name = fmt::format("{} {} learn, {} generate with engines of {}", rank,
                                       counted(split.learner_nodes, "node"), split.engine_nodes,
                                       counted(split.engine_gpus, "GPU")),
                   .value = {samples_per_s, samples_per_s, samples_per_s},
                   .best = chart.items.empty()};
    if (split.record) item.marks["closed form"] = split.estimate.samples_per_s;
    chart.items.push_back(std::move(item));
  };
  for (size_t i = 0; i < found.best.size(); ++i) add(found.best[i], fmt::format("{}.", i + 1));
  if (found.even) add(*found.even, "even:");
  return chart_json(chart);
}

SummarySection best_split(const RolloutCommand& command, const SplitSearch& found) {
  const RankedSplit& best = found.best.front();
  SummarySection section{"The best", {}};
  section.with_figures = true;
  if (found.even) {
    const double times = best.best_known().samples_per_s / found.even->best_known().samples_per_s;
    section.rows.push_back(
        {"gain", fmt::format("{:.2f} times the samples/s of the even split", times)});
  }
  if (!found.example.empty()) section.rows.push_back({"infeasible", "as: " + found.example});
  for (const RankedSplit& split : found.best) {
    if (!split.failure.empty()) section.rows.push_back({"not simulated", split.failure});
  }
  section.rows.push_back({"simulate it", run_line(command.scenario, command.set, best.set)});
  return section;
}

Answer answer_of(const RolloutCommand& command, const SplitSearch& found) {
  const Figure& rate = figure("rollout.samples_per_s");
  const RankedSplit& best = found.best.front();
  return {.title = fmt::format("Which nodes learn and which generate: {}", command.scenario),
          .subtitle = fmt::format("{} estimated, {} infeasible", counted(found.estimated, "split"),
                                  found.infeasible),
          .figures = {{rate.title, rate.text(record_of(best.best_known())), "of the best split"},
                      {"learner nodes", std::to_string(best.learner_nodes)},
                      {"engine nodes", std::to_string(best.engine_nodes)},
                      {"GPUs per engine", std::to_string(best.engine_gpus)}},
          .sections = {chart_section([&] { return splits_chart(found); }),
                       {"The ranking", {}, splits_table(found)},
                       best_split(command, found)},
          .kind = "optimise-rollout",
          .document = [&] { return document_of(command, found); }};
}

}  // namespace

ExitCode optimise_rollout(RolloutCommand command) {
  const ScenarioText scenario = load_scenario(command.scenario, parse_overrides(command.set)).text;
  SplitSearch found;
  {
    Progress progress;
    command.options.progress = [&](const std::string& step) { progress.show(step); };
    found = search_splits(scenario, command.options);
  }
  hand_out(answer_of(command, found), command.output);
  return ExitCode::ok;
}

}  // namespace windtunnel
