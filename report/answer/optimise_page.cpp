#include "report/answer/optimise_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "report/answer/answer_page.hpp"
#include "report/answer/charts.hpp"
#include "report/answer/record_charts.hpp"
#include "report/console/console.hpp"
#include "report/figures/model_range.hpp"
#include "report/plan/optimise_tables.hpp"
#include "report/store/sweep_edges.hpp"
#include "report/store/varied_keys.hpp"

namespace windtunnel {
namespace {

const Figure& step_time() {
  return figure("iteration.time_s");
}
const Figure& peak_memory() {
  return figure("iteration.memory_bytes.peak");
}

// What differs among the ranked ones; the rest all have alike.
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

AnswerChart ranking_chart(const Optimisation& result) {
  constexpr size_t kMost = 40;
  RangeChart chart{.title = "Step time of the best configurations",
                   .note = fmt::format("Simulated, with the cost models' {}; the diamond is the "
                                       "closed form by which they were found. Those without an "
                                       "interval are estimated only.",
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
  return {chart_json(chart)};
}

ScatterPoint place_of(const RankedConfiguration& at, const std::string& label = "") {
  return {at.memory_bytes, at.estimated_s, set_text(at.set), label};
}

// What is sought, by the word of the command line.
std::string_view aim_text(std::string_view aim) {
  if (aim == "memory") return "the least memory";
  if (aim == "goodput") return "the most goodput";
  return aim == "cost" ? "the lowest cost" : "the shortest iteration";
}

// The ranked ones; where memory is searched also those that no other beats in both.
AnswerChart memory_chart(const Optimisation& result) {
  ScatterChart chart{
      .title = "Step time against memory",
      .note = "In closed form. A point says its configuration.",
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
    chart.note += " On the curve: of all that fit, those that no other one beats in both.";
  }
  return {chart_json(chart)};
}

std::vector<SummaryRow> best_figures(const RankedConfiguration& best) {
  if (best.record) return summarise(*best.record).figures;
  return {{step_time().title, value_text(Unit::seconds, best.estimated_s), "in closed form"},
          {peak_memory().title, value_text(Unit::memory, best.memory_bytes), ""}};
}

// The ranking; what all of it sets alike stands below, so that the rest fits the page.
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
  return section;
}

SummarySection infeasible_section(const Optimisation& result) {
  SummarySection section{"What does not fit or cannot be", {}, {}};
  section.table.columns = {{"why"}, {"configurations", Align::right}, {"as"}};
  for (const auto& [reason, at] : result.infeasible) {
    section.table.rows.push_back({reason, std::to_string(at.count), at.example});
  }
  return section;
}

}  // namespace

std::vector<std::string> edge_warnings(const Optimisation& result,
                                       const std::vector<VariedKey>& varied) {
  const RankedConfiguration& best = result.best.front();
  const auto value_at = [&](const RankedConfiguration& at, const std::string& key) {
    const auto found = std::ranges::find(at.set, key, &Overrides::value_type::first);
    return found == at.set.end() ? std::string() : found->second;
  };
  Json set = Json::object();
  for (const VariedKey& key : varied) set[key.key] = value_at(best, key.key);
  // A ranked neighbour that is as fast says that the key has no influence.
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
    warnings.push_back(
        fmt::format("On the edge of what was searched: {}.", edge_text(edge, "--over")));
  }
  return warnings;
}

std::string optimise_page(const Optimisation& result, const OptimiseAnswer& asked) {
  const RankedConfiguration& best = result.best.front();
  const bool known = best.record.has_value();
  AnswerPage page{known ? best.record->scenario + ": the best configuration" : asked.scenario,
                  fmt::format("{}searched over {} for {}",
                              known ? summarise(*best.record).subtitle + "; " : std::string(),
                              asked.over, aim_text(asked.aim)),
                  best_figures(best),
                  edge_warnings(result, asked.varied),
                  {}};
  page.parts.emplace_back(ranking_chart(result));
  SummarySection of_best{"The best",
                         {{"is set by", set_text(best.set)},
                          {"simulate it", asked.run},
                          {"estimated", counted(result.estimated, "configuration")}},
                         {}};
  if (result.passed_over > 0) {
    of_best.rows.push_back(
        {"passed over", counted(result.passed_over, "layout") + " as too slow or large"});
  }
  page.parts.emplace_back(std::move(of_best));
  if (result.best.size() > 1) page.parts.emplace_back(memory_chart(result));
  page.parts.emplace_back(ranking_section(result));
  if (known) {
    for (AnswerChart& chart : record_charts(*best.record))
      page.parts.emplace_back(std::move(chart));
  }
  if (result.frontier.size() > 1) {
    page.parts.emplace_back(SummarySection{kFrontierTitle, {}, frontier_table(result)});
  }
  if (!result.infeasible.empty()) page.parts.emplace_back(infeasible_section(result));
  return answer_page(page);
}

}  // namespace windtunnel
