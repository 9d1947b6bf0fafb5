#include "report/store/sweep_results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/base/version.hpp"
#include "report/store/sweep_edges.hpp"
#include "report/store/sweep_figures.hpp"
#include "report/store/sweep_ranking.hpp"
#include "report/text/table.hpp"
#include "traces/sqlite/sqlite_file.hpp"

namespace windtunnel {
namespace {

constexpr size_t kMostRows = 20;  // the console shows up to this many rows in full
constexpr size_t kBestRows = 10;  // otherwise this many

TextTable table_of(const SweepResults& results, const SweepRanking& ranking, size_t rows) {
  TextTable table;
  std::vector<const Json*> points;
  for (size_t place = 0; place < rows; ++place) points.push_back(&ranking.at(place));
  for (const VariedKey& key : results.sweep.vary) table.columns.push_back({key.key});
  const std::vector<SweepColumn> columns = sweep_columns(points);
  for (const SweepColumn& column : columns) table.columns.push_back({column.title, Align::right});
  for (const Json* point : points) {
    std::vector<std::string> row;
    for (const VariedKey& key : results.sweep.vary) {
      row.push_back(point->at("set").at(key.key).get<std::string>());
    }
    for (const SweepColumn& column : columns) {
      const std::string text = column.text(*point);
      row.push_back(text.empty() ? "-" : text);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string best_text(const Json& best) {
  if (best.is_null()) return "";
  const Figure& goodput = figure("campaign.goodput");
  const std::string text =
      fmt::format("\nbest: {}, {} {} ({} {})\n", set_text(best.at("set")), goodput.title,
                  value_text(goodput.unit, best.at("goodput").at("mean")), kIntervalTitle,
                  range_of(goodput.unit, best.at("goodput")));
  const Json& next = best.at("runner_up");
  return next.is_null() ? text : fmt::format("{}next: {}\n", text, runner_up_text(next));
}

std::string edges_text(const Json& document, const ConsoleStyle& style) {
  std::string text;
  if (!style.notes) return text;
  for (const std::string& known : as_good_texts(document)) text += fmt::format("note: {}\n", known);
  for (const SweepEdge& edge : edges_of_best(document)) {
    text += fmt::format("note: {}\n", edge_text(edge));
  }
  return text;
}

std::string infeasible_text(const Json& document) {
  const Json& points = document.at("points");
  std::string text;
  size_t count = 0;
  for (const auto& [reason, same] : infeasible_points(points)) {
    std::vector<int> indices;
    for (const Json* point : same) indices.push_back(point->at("index").get<int>());
    text += fmt::format("  {}: {}\n", ranges_text(indices), reason);
    count += same.size();
  }
  if (count == 0) return "";
  const size_t more = left_out(document, "infeasible");
  const size_t all = points.size() + left_out(document, "ran") + more;
  if (more > 0) text += fmt::format("  and {} more\n", more);
  return fmt::format("\ninfeasible: {} of {} points\n{}", count + more, all, text);
}

}  // namespace

SweepBests bests_among(const Sweep& sweep, const std::vector<Json>& points) {
  return {offers_choices(sweep) ? best_point(sweep, points) : Json(),
          best_by_circumstance(sweep, points)};
}

SweepResults sweep_results(const Sweep& sweep, const std::map<int, std::string>& lines,
                           const std::optional<SweepBests>& bests) {
  std::vector<Json> whole;
  std::string scenario;
  for (const auto& [index, line] : lines) {
    whole.push_back(parse_json(line, fmt::format("result of point {}", index)));
    if (scenario.empty()) scenario = whole.back().value("scenario", "");
  }
  const SweepBests known = bests ? *bests : bests_among(sweep, whole);
  Json points = Json::array();
  std::vector<std::vector<std::string>> jobs;
  std::set<std::string> models, trials;
  for (Json& point : whole) {
    if (point.contains("job")) jobs.push_back(point.at("job"));
    if (point.contains("cost_models")) models.insert(point.at("cost_models").get<std::string>());
    if (has_result(point)) trials.insert(fmt::format("{}", point.at("trial_goodput").size()));
    Json entry;
    for (const char* part : {"index", "set", "iteration", "result", "reason"}) {
      if (point.contains(part)) entry[part] = std::move(point.at(part));
    }
    points.push_back(std::move(entry));
    point = nullptr;  // thousands of trials
  }
  const ScenarioText& text = sweep.scenario;
  const RecordSource source = {program_version(), program_commit(), text.file,
                               text.text,         text.set,         text.files};
  SweepResults results{sweep, {}};
  results.document = {
      {"format", kSweepFormat},      {"scenario", scenario},
      {"job", shared_facts(jobs)},   {"vary", varied_keys_json(sweep.vary)},
      {"points", std::move(points)}, {"best", known.best},
      {"best_by", known.best_by},    {"trials", fmt::format("{}", fmt::join(trials, " or "))},
      {"cost_models", models},       {"source", source_json(source)}};
  // As in the head of the cases, a missing list means that the files were not kept, not that there
  // are none.
  if (text.files.empty()) results.document["source"].erase("files");
  return results;
}

size_t left_out(const Json& document, const char* part) {
  const auto found = document.find("left_out");
  return found == document.end() ? 0 : found->value(part, size_t{0});
}

std::string sweep_text(const SweepResults& results, const ConsoleStyle& style) {
  const SweepRanking ranking(results.points());
  const size_t rows = ranking.size() <= kMostRows ? ranking.size() : kBestRows;
  std::string sizes;
  for (const VariedKey& key : results.sweep.vary) {
    sizes += fmt::format("{}{} of {}", sizes.empty() ? "" : " x ", key.values.size(), key.key);
  }
  const std::string title =
      fmt::format("{}: {} points, {}", results.document.at("scenario").get<std::string>(),
                  grid_size(results.sweep), sizes);
  std::string text = style.bold(title) + "\n\n";
  if (!results.document.at("best_by").empty()) {
    return text + table_text(best_by_table(results.document), style.width) +
           edges_text(results.document, style) + infeasible_text(results.document);
  }
  if (rows > 0) text += table_text(table_of(results, ranking, rows), style.width);
  if (rows < ranking.size()) {
    const Json& last = ranking.at(ranking.size() - 1);
    text += fmt::format("shown are the best {} of {}; the last in the ranking, {}, has {}\n", rows,
                        ranking.size() + left_out(results.document, "ran"),
                        set_text(last.at("set")), text_at(last, "campaign.goodput"));
  }
  return text + best_text(results.document.at("best")) + edges_text(results.document, style) +
         infeasible_text(results.document);
}

std::string ranges_text(const std::vector<int>& indices) {
  std::string text;
  constexpr int kMost = 100;
  int ranges = 0;
  for (size_t first = 0; first < indices.size();) {
    if (++ranges > kMost) return fmt::format("{} and {} more", text, indices.size() - first);
    size_t last = first;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", indices[first]);
    if (last > first) text += fmt::format("-{}", indices[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace windtunnel
