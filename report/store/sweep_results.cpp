#include "report/store/sweep_results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/base/version.hpp"
#include "report/store/sweep_edges.hpp"
#include "report/store/sweep_figures.hpp"
#include "report/store/sweep_ranking.hpp"
#include "report/store/varied_keys.hpp"
#include "report/text/table.hpp"
#include "traces/sqlite/sqlite_file.hpp"

namespace windtunnel {
namespace {

constexpr size_t kMostRows = 20;  // of which the console shows all
constexpr size_t kBestRows = 10;  // else so many

const char* unit_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return "bytes";
    case Dimension::bytes_per_s:
      return "bytes/s";
    case Dimension::flops_per_s:
      return "FLOP/s";
    case Dimension::seconds:
      return "s";
    case Dimension::per_node_s:
      return "per node-s";
    case Dimension::usd_per_gpu_s:
      return "USD per gpu-s";
    case Dimension::per_s:
      return "per s";
    case Dimension::iterations:
      return "iterations";
    case Dimension::number:
    case Dimension::count:
      return "";
  }
  return "";
}

// A row of the table `figures`.
std::vector<SqlValue> description_of(const StoredColumn& column) {
  const Figure& described = figure(column.key);
  return {column.name,
          column.key,
          column.part,
          described.title,
          std::string(unit_form(described.unit).base),
          std::string(to_string(described.better)),
          described.help,
          std::string(described.origin)};
}

TextTable table_of(const SweepResults& results, const SweepRanking& ranking, size_t rows) {
  TextTable table;
  std::vector<const Json*> points;
  for (size_t place = 0; place < rows; ++place) points.push_back(&ranking.at(place));
  for (const VariedKey& key : results.plan.sweep.vary) table.columns.push_back({key.key});
  const std::vector<SweepColumn> columns = sweep_columns(points);
  for (const SweepColumn& column : columns) table.columns.push_back({column.title, Align::right});
  for (const Json* point : points) {
    std::vector<std::string> row;
    for (const VariedKey& key : results.plan.sweep.vary) {
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

std::string infeasible_text(const Json& points) {
  std::string text;
  size_t count = 0;
  for (const auto& [reason, same] : infeasible_points(points)) {
    std::vector<int> indices;
    for (const Json* point : same) indices.push_back(point->at("index").get<int>());
    text += fmt::format("  {}: {}\n", ranges_text(indices), reason);
    count += same.size();
  }
  if (count == 0) return "";
  return fmt::format("\ninfeasible: {} of {} points\n{}", count, points.size(), text);
}

}  // namespace

SweepResults sweep_results(const SweepPlan& plan, const std::map<int, std::string>& lines) {
  SweepResults results{plan, {}, {}};
  std::string scenario;
  for (const auto& [index, line] : lines) {
    results.points.push_back(parse_json(line, fmt::format("result of point {}", index)));
    if (scenario.empty()) scenario = results.points.back().value("scenario", "");
  }
  Json points = Json::array();
  std::vector<std::vector<std::string>> jobs;
  std::set<std::string> models, trials;
  for (const Json& point : results.points) {
    if (point.contains("job")) jobs.push_back(point.at("job"));
    if (point.contains("cost_models")) models.insert(point.at("cost_models").get<std::string>());
    if (has_result(point)) trials.insert(fmt::format("{}", point.at("trial_goodput").size()));
    Json entry = {{"index", point.at("index")}, {"set", point.at("set")}};
    for (const char* part : {"iteration", "result", "reason"}) {
      if (point.contains(part)) entry[part] = point.at(part);
    }
    points.push_back(std::move(entry));
  }
  const ScenarioText& text = plan.sweep.scenario;
  const RecordSource source = {program_version(), program_commit(), text.file,
                               text.text,         text.set,         text.files};
  results.document = {
      {"format", kSweepFormat},
      {"scenario", scenario},
      {"job", shared_facts(jobs)},
      {"vary", varied_keys_json(plan.sweep.vary)},
      {"points", std::move(points)},
      {"best", offers_choices(plan.sweep) ? best_point(plan.sweep, results.points) : Json()},
      {"best_by", best_by_circumstance(plan.sweep, results.points)},
      {"trials", fmt::format("{}", fmt::join(trials, " or "))},
      {"cost_models", models},
      {"source", source_json(source)}};
  // As in the head of the cases: not kept does not mean that there are none.
  if (text.files.empty()) results.document["source"].erase("files");
  return results;
}

std::string results_text(const std::map<int, std::string>& lines) {
  std::string text;
  for (const auto& [index, line] : lines) text += line;
  return text;
}

void write_results_sqlite(const std::string& path, const SweepResults& results) {
  const Sweep& sweep = results.plan.sweep;
  SqliteFile file(path);
  std::string columns = "point INTEGER PRIMARY KEY, \"key\" TEXT, reason TEXT";
  std::string marks = "?, ?, ?";
  std::vector<std::optional<KeyNumbers>> numbers;
  std::vector<std::vector<SqlValue>> varied;
  for (const VariedKey& key : sweep.vary) {
    numbers.push_back(numbers_of(key));
    columns += fmt::format(", {} {}", sql_name(key.key), numbers.back() ? "REAL" : "TEXT");
    marks += ", ?";
    varied.push_back({key.key, numbers.back()
                                   ? SqlValue(std::string(unit_of(numbers.back()->dimension)))
                                   : SqlValue()});
  }
  std::vector<std::vector<SqlValue>> described;
  for (const StoredColumn& column : stored_columns()) {
    columns += fmt::format(", {} REAL", sql_name(column.name));
    marks += ", ?";
    described.push_back(description_of(column));
  }
  std::vector<std::vector<SqlValue>> rows;
  for (const Json& point : results.points) {
    const auto index = point.at("index").get<std::int64_t>();
    std::vector<SqlValue> row = {
        index, point.at("key").get<std::string>(),
        has_result(point) ? SqlValue() : SqlValue(point.at("reason").get<std::string>())};
    const std::vector<size_t> places = places_of(sweep, static_cast<size_t>(index));
    for (size_t i = 0; i < places.size(); ++i) {
      row.push_back(numbers[i] ? SqlValue(numbers[i]->values[places[i]])
                               : SqlValue(sweep.vary[i].values[places[i]]));
    }
    for (const StoredColumn& column : stored_columns()) {
      const std::optional<double> number = number_at(point, column.key, column.part);
      row.emplace_back();
      if (number) row.back() = *number;
    }
    rows.push_back(std::move(row));
  }
  file.execute(fmt::format("CREATE TABLE points ({})", columns));
  file.execute("CREATE TABLE varied (\"key\" TEXT, unit TEXT)");
  file.execute(
      "CREATE TABLE figures (\"column\" TEXT, \"key\" TEXT, part TEXT, title TEXT, unit TEXT, "
      "better TEXT, help TEXT, origin TEXT)");
  file.insert(fmt::format("INSERT INTO points VALUES ({})", marks), rows);
  file.insert("INSERT INTO varied VALUES (?, ?)", varied);
  file.insert("INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?, ?, ?)", described);
  file.close();
}

std::string sweep_text(const SweepResults& results, const ConsoleStyle& style) {
  const SweepRanking ranking(results.points);
  const size_t rows = ranking.size() <= kMostRows ? ranking.size() : kBestRows;
  std::string sizes;
  for (const VariedKey& key : results.plan.sweep.vary) {
    sizes += fmt::format("{}{} of {}", sizes.empty() ? "" : " x ", key.values.size(), key.key);
  }
  const std::string title =
      fmt::format("{}: {} points, {}", results.document.at("scenario").get<std::string>(),
                  results.plan.cases.size(), sizes);
  std::string text = style.bold(title) + "\n\n";
  if (!results.document.at("best_by").empty()) {
    return text + table_text(best_by_table(results.document), style.width) +
           edges_text(results.document, style) + infeasible_text(results.document.at("points"));
  }
  if (rows > 0) text += table_text(table_of(results, ranking, rows), style.width);
  if (rows < ranking.size()) {
    const Json& last = ranking.at(ranking.size() - 1);
    text += fmt::format("the best {} of {}; the last, {}, has {}\n", rows, ranking.size(),
                        set_text(last.at("set")), text_at(last, "campaign.goodput"));
  }
  return text + best_text(results.document.at("best")) + edges_text(results.document, style) +
         infeasible_text(results.document.at("points"));
}

std::string ranges_text(const std::vector<int>& indices) {
  std::string text;
  for (size_t first = 0; first < indices.size();) {
    size_t last = first;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", indices[first]);
    if (last > first) text += fmt::format("-{}", indices[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace windtunnel
