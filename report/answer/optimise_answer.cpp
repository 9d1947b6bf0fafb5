#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "models/base/units.hpp"
#include "models/base/version.hpp"
#include "models/cost/memory/memory.hpp"
#include "report/answer/charts.hpp"
#include "report/answer/command_answers.hpp"
#include "report/console/console.hpp"
#include "report/figures/model_range.hpp"
#include "report/json/json.hpp"
#include "report/store/sweep_edges.hpp"
#include "report/store/sweep_figures.hpp"
#include "report/summary/comparison_columns.hpp"
#include "report/summary/summary.hpp"
#include "scenarios/language/library/facts/planning.hpp"
#include "sim/study/optimise.hpp"

namespace windtunnel {
namespace {

const Figure& step_time() {
  return figure("iteration.time_s");
}
const Figure& peak_memory() {
  return figure("iteration.memory_bytes.peak");
}

constexpr const char* kFrontierTitle =
    "What memory costs: configurations that fit and that no other beats in both step time and "
    "memory, each compared with the row above it";

// A row per place: estimate and memory, figures if it was simulated, and the values of the keys
// that differ.
TextTable ranking_table(const Optimisation& result) {
  std::vector<std::string> keys;
  for (const RankedConfiguration& at : result.best) {
    for (const auto& [key, value] : at.set) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  const bool of_cost = std::ranges::any_of(
      result.best, [](const RankedConfiguration& at) { return at.estimated_usd > 0; });
  const Figure& time = step_time();
  const Figure& memory = peak_memory();
  std::vector<const Record*> records;
  for (const RankedConfiguration& at : result.best) {
    if (at.record) records.push_back(&*at.record);
  }
  std::vector<const Figure*> simulated = mfu_columns(records);
  simulated.insert(simulated.begin(), &time);
  if (std::ranges::any_of(result.best,
                          [](const auto& at) { return at.record && at.record->campaign; })) {
    simulated.push_back(&figure("campaign.goodput"));
    if (of_cost) simulated.push_back(&figure("campaign.job.cost_usd"));
  }
  TextTable table{
      {{"rank", Align::right}, {"estimate", Align::right}, {memory.title, Align::right}}, {}};
  const Figure& cost = figure("job.cost_usd");
  if (of_cost) table.columns.push_back({cost.title, Align::right});
  for (const Figure* each : simulated) table.columns.push_back({each->title, Align::right});
  for (const std::string& key : keys) table.columns.push_back({key});
  for (size_t i = 0; i < result.best.size(); ++i) {
    const RankedConfiguration& at = result.best[i];
    std::vector<std::string> row = {std::to_string(i + 1), value_text(time.unit, at.estimated_s),
                                    value_text(memory.unit, at.memory_bytes)};
    if (of_cost) row.push_back(value_text(cost.unit, at.estimated_usd));
    for (const Figure* each : simulated) {
      const std::string text = at.record ? each->text(*at.record) : "";
      const bool failed = each == &time && !at.failure.empty();
      row.push_back(failed ? "failed" : text.empty() ? "-" : text);
    }
    for (const std::string& key : keys) {
      const auto found =
          std::ranges::find_if(at.set, [&](const auto& each) { return each.first == key; });
      row.push_back(found != at.set.end() ? found->second : "as in the scenario");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The seconds that each GiB less costs between two neighbours on the frontier.
double seconds_per_gib(const RankedConfiguration& less, const RankedConfiguration& more) {
  return (less.estimated_s - more.estimated_s) /
         ((more.memory_bytes - less.memory_bytes) / kGibibyte);
}

// Most memory first; each further row has the memory saved and the time it costs.
TextTable frontier_table(const Optimisation& result) {
  const Figure& memory = peak_memory();
  TextTable table{{{memory.title, Align::right},
                   {"estimate", Align::right},
                   {"saves", Align::right},
                   {"for", Align::right},
                   {"each GiB", Align::right},
                   {"by"}},
                  {}};
  for (size_t i = result.frontier.size(); i-- > 0;) {
    const RankedConfiguration& at = result.frontier[i];
    std::vector<std::string> row = {value_text(memory.unit, at.memory_bytes),
                                    value_text(step_time().unit, at.estimated_s),
                                    "-",
                                    "-",
                                    "-",
                                    set_text(at.set)};
    if (i + 1 < result.frontier.size()) {
      const RankedConfiguration& above = result.frontier[i + 1];
      row[2] = value_text(memory.unit, above.memory_bytes - at.memory_bytes);
      row[3] = format_seconds(at.estimated_s - above.estimated_s);
      row[4] = format_seconds(seconds_per_gib(at, above));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The values that differ among the ranked configurations.
std::string short_name(const Optimisation& result, const RankedConfiguration& at) {
  std::string name;
  for (const auto& setting : at.set) {
    const bool alike = std::ranges::all_of(result.best, [&](const RankedConfiguration& other) {
      return std::ranges::find(other.set, setting) != other.set.end();
    });
    const auto& [key, value] = setting;
    const std::string_view last =
        key.starts_with("layout.") ? std::string_view(key).substr(7) : key;
    if (!alike) name += fmt::format("{}{} {}", name.empty() ? "" : ", ", last, value);
  }
  return name.empty() ? "the only one" : name;
}

std::string configuration_tip(const RankedConfiguration& at) {
  std::string tip = fmt::format("{} {}\n{}", peak_memory().title,
                                value_text(peak_memory().unit, at.memory_bytes), set_text(at.set));
  return at.failure.empty() ? tip : tip + "\nnot simulated: " + at.failure;
}

Json ranking_chart(const Optimisation& result) {
  constexpr size_t kMost = 40;
  RangeChart chart{
      .title = "Step time of the best configurations",
      .note = fmt::format(
          "Simulated, with the cost models' {}; the diamond is the closed-form estimate by which "
          "configurations were chosen. Configurations without an interval are only estimated.",
          kIntervalTitle),
      .axis = {step_time().title, Unit::seconds},
      .items = {}};
  for (const RankedConfiguration& at : result.best) {
    if (chart.items.size() == kMost) break;
    const double time_s = at.record ? at.record->iteration.time_s : at.estimated_s;
    FigureRange range{time_s, time_s};
    if (at.record) range = model_range(step_time(), *at.record).value_or(range);
    RangeItem item{.name = fmt::format("{}. {}", chart.items.size() + 1, short_name(result, at)),
                   .value = {.mean = time_s, .low = range.low, .high = range.high},
                   .tip = configuration_tip(at),
                   .best = chart.items.empty()};
    if (at.record) item.marks["closed form"] = at.estimated_s;
    chart.items.push_back(std::move(item));
  }
  return chart_json(chart);
}

ScatterPoint place_of(const RankedConfiguration& at, const std::string& label = "") {
  return {at.memory_bytes, at.estimated_s, set_text(at.set), label};
}

// The goal in words; `aim` is the option's word.
std::string_view aim_text(std::string_view aim) {
  if (aim == "memory") return "the least memory";
  if (aim == "goodput") return "the most goodput";
  return aim == "cost" ? "the lowest cost" : "the shortest iteration";
}

// The ranked configurations. If memory is searched, also those that no other beats in both time and
// memory.
Json memory_chart(const Optimisation& result) {
  ScatterChart chart{
      .title = "Step time against memory",
      .note = "Estimated in closed form. Each point shows its configuration.",
      .x = {peak_memory().title, Unit::memory},
      .y = {step_time().title, Unit::seconds},
      .groups = {{"the best", {place_of(result.best.front(), "the best")}}, {"ranked", {}}}};
  for (size_t i = 1; i < result.best.size(); ++i) {
    chart.groups[1].points.push_back(place_of(result.best[i]));
  }
  if (result.frontier.size() > 1) {
    ScatterGroup frontier{"not beaten in both", {}, {}};
    for (const RankedConfiguration& at : result.frontier) {
      frontier.points.push_back(place_of(at));
      frontier.line.emplace_back(at.memory_bytes, at.estimated_s);
    }
    chart.groups.push_back(std::move(frontier));
    chart.note += " The curve joins configurations that fit and that no other beats in both.";
  }
  return chart_json(chart);
}

std::vector<SummaryRow> best_figures(const RankedConfiguration& best) {
  if (best.record) return summarise(*best.record).figures;
  return {{step_time().title, value_text(Unit::seconds, best.estimated_s), "in closed form"},
          {peak_memory().title, value_text(Unit::memory, best.memory_bytes), ""}};
}

// The ranking. Settings that all places share are below it, so that the table fits the page.
SummarySection ranking_section(const Optimisation& result) {
  const TextTable all = ranking_table(result);
  SummarySection section{"The ranking", {}, {}};
  std::string alike;
  std::vector<size_t> kept;
  for (size_t i = 0; i < all.columns.size(); ++i) {
    const std::string& title = all.columns[i].title;
    const bool is_key = title.find('.') != std::string::npos || title == "schedule";
    const bool same = all.rows.size() > 1 && std::ranges::all_of(all.rows, [&](const auto& row) {
                        return row[i] == all.rows.front()[i];
                      });
    if (is_key && same) {
      alike += fmt::format("{}{}={}", alike.empty() ? "" : " ", title, all.rows.front()[i]);
    } else {
      kept.push_back(i);
      section.table.columns.push_back(all.columns[i]);
    }
  }
  for (const auto& row : all.rows) {
    section.table.rows.emplace_back();
    for (const size_t i : kept) section.table.rows.back().push_back(row[i]);
  }
  if (!alike.empty()) section.rows.push_back({"all set", alike});
  for (const RankedConfiguration& at : result.best) {
    if (!at.failure.empty()) section.rows.push_back({"not simulated", at.failure});
  }
  return section;
}

SummarySection infeasible_section(const Optimisation& result) {
  SummarySection section{"What does not fit or is not possible", {}};
  section.table = titled_table("why | configurations > | example");
  for (const auto& [reason, at] : result.infeasible) {
    section.table.rows.push_back({reason, std::to_string(at.count), at.example});
  }
  return section;
}

std::vector<std::string> edge_warnings(const Optimisation& result,
                                       const std::vector<VariedKey>& varied) {
  const RankedConfiguration& best = result.best.front();
  const auto value_at = [&](const RankedConfiguration& at, const std::string& key) {
    const auto found = std::ranges::find(at.set, key, &Overrides::value_type::first);
    return found == at.set.end() ? std::string() : found->second;
  };
  Json set = Json::object();
  for (const VariedKey& key : varied) set[key.key] = value_at(best, key.key);
  // If the neighbour's value is equally fast, the key has no influence.
  const auto differs = [&](const Json& neighbour) {
    return std::ranges::none_of(result.best, [&](const RankedConfiguration& at) {
      const bool there = std::ranges::all_of(varied, [&](const VariedKey& key) {
        return neighbour.at(key.key) == value_at(at, key.key);
      });
      return there && at.estimated_s == best.estimated_s;
    });
  };
  std::vector<std::string> warnings;
  for (const SweepEdge& edge : edges_of_point(varied_keys_json(varied), set, differs)) {
    warnings.push_back(fmt::format("At the edge of the search: {}.", edge_text(edge, "--over")));
  }
  return warnings;
}

// Warns if the best leaves less memory free than a plan would; empty if it does not.
std::string headroom_warning(const RankedConfiguration& best) {
  if (!best.record) return "";
  const double usable = usable_bytes(best.record->job.cluster.node.gpu);
  const double left = 1 - best.memory_bytes / usable;
  if (left >= usual_headroom().value) return "";
  return fmt::format(
      "The best leaves {} of a GPU's memory free: it uses {} of {}. windtunnel plan keeps {:g} % "
      "free; here --headroom {:g} does the same.",
      format_percent(left), format_memory(best.memory_bytes), format_memory(usable),
      100 * usual_headroom().value, 100 * usual_headroom().value);
}

SummarySection best_section(const Optimisation& result, const OptimiseAsked& asked) {
  const RankedConfiguration& best = result.best.front();
  SummarySection section{"The best", {{"is set by", set_text(best.set)}}};
  section.with_figures = true;
  if (best.failure.empty()) section.rows.push_back({"simulate it", asked.run});
  section.rows.push_back({"estimated", counted(result.estimated, "configuration")});
  if (result.passed_over > 0) {
    section.rows.push_back(
        {"passed over", counted(result.passed_over, "configuration") + " as too slow or large"});
  }
  return section;
}

Json optimise_document(const Optimisation& result, const OptimiseAsked& asked) {
  Json document = {{"scenario", asked.scenario},    {"version", program_version()},
                   {"commit", program_commit()},    {"for", asked.aim},
                   {"estimated", result.estimated}, {"passed_over", result.passed_over}};
  document["infeasible"] = list_json(result.infeasible, [](const auto& each) {
    Json json = {{"reason", each.first}};
    PUT_MEMBERS(json, each.second, count, example);
    return json;
  });
  document["frontier"] = Json::array();
  for (size_t i = 0; i < result.frontier.size(); ++i) {
    const RankedConfiguration& at = result.frontier[i];
    const bool last = i + 1 == result.frontier.size();
    document["frontier"].push_back(
        {{"set", set_json(at.set)},
         {"estimated_s", at.estimated_s},
         {"memory_bytes", at.memory_bytes},
         {"s_per_gib", last ? Json(nullptr) : Json(seconds_per_gib(at, result.frontier[i + 1]))}});
  }
  document["best"] = list_json(result.best, [](const RankedConfiguration& at) {
    Json row = {{"set", set_json(at.set)},
                {"estimated_s", at.estimated_s},
                {"estimated_usd", at.estimated_usd > 0 ? Json(at.estimated_usd) : Json(nullptr)},
                {"memory_bytes", at.memory_bytes}};
    if (at.record) {
      row["simulated_s"] = at.record->iteration.time_s;
      PUT_MEMBERS(row, at.record->iteration, mfu, mfu_causal);
      if (at.record->campaign) {
        row["goodput"] = at.record->campaign->goodput.mean;
        row["job_cost_usd"] = at.record->campaign->job_cost_usd.mean;
      }
      row["result"] = run_document(*at.record, false);  // all figures by key
    }
    if (!at.failure.empty()) row["failure"] = at.failure;
    return row;
  });
  return document;
}

}  // namespace

Answer optimise_answer(const Optimisation& result, const OptimiseAsked& asked) {
  const RankedConfiguration& best = result.best.front();
  const bool known = best.record.has_value();
  Answer answer{
      .title = known ? best.record->scenario + ": the best configuration" : asked.scenario,
      .subtitle = fmt::format("{}searched over {} for {}",
                              known ? summarise(*best.record).subtitle + "; " : std::string(),
                              asked.over, aim_text(asked.aim)),
      .figures = best_figures(best),
      .sections = {chart_section([&result] { return ranking_chart(result); }),
                   ranking_section(result), best_section(result, asked)},
      .warnings = edge_warnings(result, asked.varied),
      .kind = "optimise",
      .document = [&] { return optimise_document(result, asked); }};
  if (result.best.size() > 1) {
    answer.sections.push_back(chart_section([&result] { return memory_chart(result); }));
  }
  if (known) {
    std::ranges::move(record_charts(*best.record), std::back_inserter(answer.sections));
  }
  if (result.frontier.size() > 1) {
    answer.sections.push_back({kFrontierTitle, {}, frontier_table(result)});
  }
  if (!result.infeasible.empty()) answer.sections.push_back(infeasible_section(result));
  if (std::string warning = headroom_warning(best); !warning.empty()) {
    answer.warnings.push_back(std::move(warning));
  }
  return answer;
}

}  // namespace windtunnel
