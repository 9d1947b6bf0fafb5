#include "report/store/sweep_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/results/campaign_report.hpp"
#include "report/figures/campaign_summary.hpp"
#include "report/store/sqlite.hpp"
#include "report/store/sweep_ranking.hpp"
#include "report/store/varied_keys.hpp"
#include "report/text/table.hpp"

namespace windtunnel {
namespace {

constexpr size_t kMostRows = 20;  // of which the console shows all
constexpr size_t kBestRows = 10;  // else so many

const char* unit_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return "B";
    case Dimension::bytes_per_s:
      return "B/s";
    case Dimension::flops_per_s:
      return "FLOP/s";
    case Dimension::seconds:
      return "s";
    case Dimension::per_node_s:
      return "per node-s";
    case Dimension::usd_per_gpu_s:
      return "USD per gpu-s";
    case Dimension::iterations:
      return "iterations";
    default:
      return "";
  }
}

// Part of an estimate; null where the document has none.
std::optional<double> number_at(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* name : path) {
    if (!at->is_object() || !at->contains(name)) return {};
    at = &at->at(name);
  }
  if (!at->is_number()) return {};
  return at->get<double>();
}

SqlValue sql_value(const std::optional<double>& number) {
  return number ? SqlValue(*number) : SqlValue();
}

const std::vector<std::string>& result_columns() {
  static const std::vector<std::string> columns = [] {
    std::vector<std::string> all = {"iteration_s",  "tokens_per_s", "goodput",     "goodput_low",
                                    "goodput_high", "goodput_p05",  "goodput_p95", "ettr"};
    for (int i = 0; i < kLosses; ++i) {
      all.push_back(fmt::format("lost_{}", to_string(static_cast<Loss>(i))));
    }
    for (const char* name : {"failures", "planned", "job_days", "cost_usd"}) all.emplace_back(name);
    return all;
  }();
  return columns;
}

// In the order of result_columns().
std::vector<SqlValue> result_values(const Json& point) {
  const Json& result = point.at("result");
  std::vector<SqlValue> row = {sql_value(number_at(point, {"iteration", "time_s"})),
                               sql_value(number_at(point, {"iteration", "tokens_per_s"}))};
  for (const char* part : {"mean", "low", "high"}) {
    row.push_back(sql_value(number_at(result, {"goodput", part})));
  }
  const Estimate quantiles = estimate(point.at("replica_goodput").get<std::vector<double>>(), 1);
  row.insert(row.end(), {quantiles.p05, quantiles.p95});
  row.push_back(sql_value(number_at(result, {"ettr", "mean"})));
  const std::optional<double> wall_s = number_at(result, {"wall_s", "mean"});
  for (int i = 0; i < kLosses; ++i) {
    const auto lost_s = number_at(result, {"lost_s", to_string(static_cast<Loss>(i)), "mean"});
    row.push_back(lost_s && wall_s ? SqlValue(*lost_s / *wall_s) : SqlValue());
  }
  row.push_back(sql_value(number_at(result, {"failures", "unexpected", "mean"})));
  row.push_back(sql_value(number_at(result, {"failures", "planned", "mean"})));
  row.push_back(sql_value(number_at(result, {"job", "days", "mean"})));
  row.push_back(sql_value(number_at(result, {"job", "cost_usd", "mean"})));
  return row;
}

std::string share_text(const std::optional<double>& share) {
  return share ? format_percent(*share) : "-";
}

std::string interval_text(const Json& estimate) {
  return fmt::format("{} .. {}", format_percent(estimate.at("low").get<double>()),
                     format_percent(estimate.at("high").get<double>()));
}

TextTable table_of(const SweepResults& results, const SweepRanking& ranking, size_t rows) {
  TextTable table;
  for (const VariedKey& key : results.plan.sweep.vary) table.columns.push_back({key.key});
  table.columns.push_back({"goodput", Align::right});
  table.columns.push_back({"95 % interval", Align::right});
  table.columns.push_back({"iteration", Align::right});
  for (int i = 0; i < kLosses; ++i) {
    table.columns.push_back({to_string(static_cast<Loss>(i)), Align::right});
  }
  table.columns.push_back({"days", Align::right});
  for (size_t place = 0; place < rows; ++place) {
    const Json& point = ranking.at(place);
    const Json& result = point.at("result");
    std::vector<std::string> row;
    for (const VariedKey& key : results.plan.sweep.vary) {
      row.push_back(point.at("set").at(key.key).get<std::string>());
    }
    row.push_back(share_text(number_at(result, {"goodput", "mean"})));
    row.push_back(interval_text(result.at("goodput")));
    row.push_back(format_seconds(point.at("iteration").at("time_s").get<double>()));
    const std::optional<double> wall_s = number_at(result, {"wall_s", "mean"});
    for (int i = 0; i < kLosses; ++i) {
      const auto lost_s = number_at(result, {"lost_s", to_string(static_cast<Loss>(i)), "mean"});
      row.push_back(lost_s && wall_s ? format_percent(*lost_s / *wall_s) : "-");
    }
    const std::optional<double> days = number_at(result, {"job", "days", "mean"});
    row.push_back(days ? fmt::format("{:.1f}", *days) : "-");
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string best_text(const Json& best) {
  if (best.is_null()) return "";
  std::string text =
      fmt::format("\nbest: {}, goodput {} (95 % interval {})\n", set_text(best.at("set")),
                  format_percent(best.at("goodput").at("mean").get<double>()),
                  interval_text(best.at("goodput")));
  const Json& next = best.at("runner_up");
  if (next.is_null()) return text;
  const Json& lead = next.at("difference");
  const bool sure = lead.at("low").get<double>() > 0;
  return text + fmt::format(
                    "next: {}, {} percentage points less with the same failures (95 % interval {} "
                    ".. {}){}\n",
                    set_text(next.at("set")), points_text(lead.at("mean")),
                    points_text(lead.at("low")), points_text(lead.at("high")),
                    sure ? "" : ": these replicas cannot tell which is better");
}

// Where a key is not for the user to choose: what to choose at each of its values.
TextTable best_by_table(const SweepResults& results) {
  TextTable table;
  const std::vector<VariedKey>& vary = results.plan.sweep.vary;
  for (const bool circumstance : {true, false}) {
    for (const VariedKey& key : vary) {
      if (is_circumstance(key.key) != circumstance) continue;
      table.columns.push_back({fmt::format("{}{}", circumstance ? "" : "best ", key.key)});
    }
  }
  for (const char* title : {"goodput", "95 % interval", "over the next (points)"}) {
    table.columns.push_back({title, Align::right});
  }
  for (const Json& best : results.document.at("best_by")) {
    std::vector<std::string> row;
    for (const bool circumstance : {true, false}) {
      for (const VariedKey& key : vary) {
        if (is_circumstance(key.key) != circumstance) continue;
        row.push_back(best.at("set").at(key.key).get<std::string>());
      }
    }
    row.push_back(format_percent(best.at("goodput").at("mean").get<double>()));
    row.push_back(interval_text(best.at("goodput")));
    const Json& next = best.at("runner_up");
    row.push_back(next.is_null()
                      ? "-"
                      : fmt::format("{} ({} .. {})", points_text(next["difference"].at("mean")),
                                    points_text(next["difference"].at("low")),
                                    points_text(next["difference"].at("high"))));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Points with the same reason are one line.
std::string infeasible_text(const std::vector<Json>& points) {
  std::vector<std::pair<std::string, std::vector<int>>> reasons;
  size_t count = 0;
  for (const Json& point : points) {
    if (has_result(point)) continue;
    ++count;
    const std::string reason = point.at("reason");
    auto same = std::ranges::find(reasons, reason, &decltype(reasons)::value_type::first);
    if (same == reasons.end()) same = reasons.insert(same, {reason, {}});
    same->second.push_back(point.at("index").get<int>());
  }
  if (count == 0) return "";
  std::string text = fmt::format("\ninfeasible: {} of {} points\n", count, points.size());
  for (const auto& [reason, indices] : reasons) {
    text += fmt::format("  {}: {}\n", ranges_text(indices), reason);
  }
  return text;
}

}  // namespace

SweepResults sweep_results(const SweepPlan& plan, const std::map<int, std::string>& lines) {
  SweepResults results{plan, {}, {}};
  std::string scenario;
  for (const auto& [index, line] : lines) {
    results.points.push_back(parse_document(line, fmt::format("result of point {}", index)));
    if (scenario.empty()) scenario = results.points.back().value("scenario", "");
  }
  Json points = Json::array();
  for (const Json& point : results.points) {
    Json entry = {{"index", point.at("index")}, {"set", point.at("set")}};
    for (const char* part : {"iteration", "result", "reason"}) {
      if (point.contains(part)) entry[part] = point.at(part);
    }
    points.push_back(std::move(entry));
  }
  results.document = {{"scenario", scenario},
                      {"vary", varied_keys_json(plan.sweep.vary)},
                      {"points", std::move(points)},
                      {"best", offers_choices(plan.sweep) ? best_point(results.points) : Json()},
                      {"best_by", best_by_circumstance(plan.sweep, results.points)}};
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
  for (const std::string& column : result_columns()) {
    columns += fmt::format(", {} REAL", sql_name(column));
    marks += ", ?";
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
    if (has_result(point)) {
      std::ranges::move(result_values(point), std::back_inserter(row));
    } else {
      row.resize(row.size() + result_columns().size());
    }
    rows.push_back(std::move(row));
  }
  file.execute(fmt::format("CREATE TABLE points ({})", columns));
  file.execute("CREATE TABLE varied (\"key\" TEXT, unit TEXT)");
  file.insert(fmt::format("INSERT INTO points VALUES ({})", marks), rows);
  file.insert("INSERT INTO varied VALUES (?, ?)", varied);
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
  std::string text = (style.colour ? "\x1b[1m" + title + "\x1b[0m" : title) + "\n\n";
  if (!results.document.at("best_by").empty()) {
    return text + table_text(best_by_table(results)) + infeasible_text(results.points);
  }
  if (rows > 0) text += table_text(table_of(results, ranking, rows));
  if (rows < ranking.size()) {
    const Json& last = ranking.at(ranking.size() - 1);
    text += fmt::format("the best {} of {}; the last, {}, has {}\n", rows, ranking.size(),
                        set_text(last.at("set")),
                        share_text(number_at(last, {"result", "goodput", "mean"})));
  }
  return text + best_text(results.document.at("best")) + infeasible_text(results.points);
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
