#include <fmt/format.h>

#include "cli/optimise/optimise_parts.hpp"
#include "cli/program/load_scenario.hpp"
#include "cli/program/output.hpp"
#include "cli/program/override_options.hpp"
#include "models/base/version.hpp"
#include "report/answer/answer_page.hpp"
#include "report/answer/charts.hpp"
#include "report/json/json.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

constexpr const char* kColumns[] = {"rollout.period_s", "rollout.samples_per_s",
                                    "rollout.actors_idle", "rollout.learner_idle",
                                    "rollout.usd_per_sample"};

// Of a loop without its iteration: its figures alone.
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

std::string run_line(const RolloutCommand& command, const Overrides& found) {
  std::string line = fmt::format("windtunnel run {}", shell_word(command.scenario));
  for (const std::string& set : command.set) line += fmt::format(" --set {}", shell_word(set));
  for (const auto& [key, value] : found) {
    line += fmt::format(" --set {}", shell_word(fmt::format("{}={}", key, value)));
  }
  return line;
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

std::string text_of(const RolloutCommand& command, const SplitSearch& found) {
  std::string text = table_text(splits_table(found), human_style(command.json).width);
  text += fmt::format("\n{} splits estimated", found.estimated);
  text += found.infeasible > 0
              ? fmt::format(", {} infeasible, as: {}\n", found.infeasible, found.example)
              : "\n";
  for (const RankedSplit& split : found.best) {
    if (!split.failure.empty()) text += fmt::format("not simulated: {}\n", split.failure);
  }
  const RankedSplit& best = found.best.front();
  if (found.even) {
    text += fmt::format("{:.2f} times the samples/s of the even split\n",
                        best.best_known().samples_per_s / found.even->best_known().samples_per_s);
  }
  return text + "\nbest: " + run_line(command, best.set) + "\n";
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
  Json document = {{"scenario", command.scenario},
                   {"version", program_version()},
                   {"commit", program_commit()},
                   {"estimated", found.estimated},
                   {"infeasible", found.infeasible},
                   {"best", Json::array()},
                   {"even", found.even ? split_json(*found.even) : Json(nullptr)}};
  for (const RankedSplit& split : found.best) document["best"].push_back(split_json(split));
  return document;
}

std::string page_of(const RolloutCommand& command, const SplitSearch& found) {
  const Figure& rate = figure("rollout.samples_per_s");
  RangeChart chart{.title = "Samples per second by split of the nodes",
                   .note = "The diamond is the closed form by which they were found.",
                   .axis = {rate.title, Unit::count},
                   .items = {}};
  const auto add = [&](const RankedSplit& split, const std::string& rank) {
    const double samples_per_s = split.best_known().samples_per_s;
    RangeItem item{.name = fmt::format("{} {} learn, {} write with engines of {}", rank,
                                       counted(split.learner_nodes, "node"), split.engine_nodes,
                                       counted(split.engine_gpus, "GPU")),
                   .value = {samples_per_s, samples_per_s, samples_per_s},
                   .best = chart.items.empty()};
    if (split.record) item.marks["closed form"] = split.estimate.samples_per_s;
    chart.items.push_back(std::move(item));
  };
  for (size_t i = 0; i < found.best.size(); ++i) add(found.best[i], fmt::format("{}.", i + 1));
  if (found.even) add(*found.even, "even:");
  const RankedSplit& best = found.best.front();
  AnswerPage page{
      fmt::format("Who learns and who writes: {}", command.scenario),
      fmt::format("{} estimated, {} infeasible", counted(found.estimated, "split"),
                  found.infeasible),
      {{rate.title, rate.text(record_of(best.best_known())), "of the best split"},
       {"learner nodes", std::to_string(best.learner_nodes), ""},
       {"engine nodes", std::to_string(best.engine_nodes), ""},
       {"GPUs per engine", std::to_string(best.engine_gpus), ""}},
      {},
      {AnswerChart{chart_json(chart)}, SummarySection{"The ranking", {}, splits_table(found)},
       SummarySection{"How to go on", {{"simulate it", run_line(command, best.set)}}, {}}}};
  return answer_page(page);
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
  if (!command.page.empty()) write_file(command.page, page_of(command, found));
  if (command.json) print_document("optimise-rollout", document_of(command, found));
  print_human(text_of(command, found), command.json);
  return ExitCode::ok;
}

}  // namespace windtunnel
