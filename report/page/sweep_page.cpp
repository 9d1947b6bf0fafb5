#include "report/page/sweep_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "models/base/units.hpp"
#include "models/results/campaign_report.hpp"
#include "report/figures/campaign_summary.hpp"
#include "report/page/html.hpp"
#include "report/store/sweep_ranking.hpp"

namespace windtunnel {
namespace {

// What the page's script tells kinds of records apart by.
constexpr const char* kPageFormat = "windtunnel-sweep-1";

// Null in the document: no replica gives a finite value.
std::optional<double> mean_of(const Json& result, std::string_view part) {
  const auto estimate = result.find(part);
  if (estimate == result.end() || !estimate->is_object()) return {};
  return estimate->at("mean").get<double>();
}

double goodput_of(const Json& point) {
  return mean_of(point.at("result"), "goodput").value_or(0);
}

// Training done per time: what points rank by where their iterations differ, too.
double progress_of(const Json& point) {
  const Json iteration = point.value("iteration", Json::object());
  return goodput_of(point) * iteration.value("tokens_per_s", 1.0);
}

std::string interval_text(const Json& estimate) {
  return fmt::format("{:.1f} .. {}", 100 * estimate.at("low").get<double>(),
                     format_percent(estimate.at("high")));
}

struct Cell {
  std::string text;
  std::optional<double> value{};  // sorts
};

struct TableColumn {
  std::string title;
  Cell (*cell)(const Json& result, const std::string& part);
  std::string part{};
};

Cell share_cell(const Json& result, const std::string& part) {
  const std::optional<double> mean = mean_of(result, part);
  return mean ? Cell{format_percent(*mean), mean} : Cell{};
}

Cell interval_cell(const Json& result, const std::string& part) {
  const std::optional<double> mean = mean_of(result, part);
  return mean ? Cell{interval_text(result.at(part)), mean} : Cell{};
}

Cell lost_cell(const Json& result, const std::string& cause) {
  const std::optional<double> wall_s = mean_of(result, "wall_s");
  const std::optional<double> lost_s = mean_of(result.at("lost_s"), cause);
  if (!wall_s || !lost_s) return {};
  return {format_percent(*lost_s / *wall_s), *lost_s / *wall_s};
}

Cell days_cell(const Json& result, const std::string& part) {
  const std::optional<double> mean = mean_of(result.at("job"), part);
  return mean ? Cell{fmt::format("{:.1f}", *mean), mean} : Cell{};
}

Cell cost_cell(const Json& result, const std::string& part) {
  const std::optional<double> mean = mean_of(result.at("job"), part);
  return mean ? Cell{format_count(*mean), mean} : Cell{};
}

// Columns in which every point is empty or 0 are left out.
std::vector<TableColumn> table_columns(const std::vector<const Json*>& points) {
  std::vector<TableColumn> columns = {{"goodput", share_cell, "goodput"},
                                      {"95 % interval", interval_cell, "goodput"},
                                      {"ETTR", share_cell, "ettr"}};
  for (int i = 0; i < kLosses; ++i) {
    const std::string cause = to_string(static_cast<Loss>(i));
    if (points.front()->at("result").value("lost_s", Json::object()).contains(cause)) {
      columns.push_back({cause, lost_cell, cause});
    }
  }
  if (points.front()->at("result").contains("job")) {
    columns.push_back({"days", days_cell, "days"});
    columns.push_back({"USD", cost_cell, "cost_usd"});
  }
  std::erase_if(columns, [&](const TableColumn& column) {
    return std::ranges::all_of(points, [&](const Json* point) {
      return column.cell(point->at("result"), column.part).value.value_or(0) == 0;
    });
  });
  return columns;
}

// The best first.
std::vector<const Json*> ranked_points(const Json& document) {
  std::vector<const Json*> points;
  for (const Json& point : document.at("points")) {
    if (has_result(point)) points.push_back(&point);
  }
  std::ranges::stable_sort(points, std::ranges::greater{},
                           [](const Json* point) { return progress_of(*point); });
  return points;
}

std::string table_row(const Json& point, const Json& vary,
                      const std::vector<TableColumn>& columns) {
  std::string html = "<tr>";
  for (const Json& key : vary) {
    const std::string value = point.at("set").at(key.at("key").get<std::string>());
    html += fmt::format("<th scope=\"row\">{}</th>", escape_html(value));
  }
  for (const TableColumn& column : columns) {
    const Cell cell = column.cell(point.at("result"), column.part);
    const std::string sorts = cell.value ? fmt::format("{}", *cell.value) : "Infinity";
    html += fmt::format("<td data-value=\"{}\">{}</td>", sorts, cell.text);
  }
  return html + "</tr>\n";
}

std::string table_html(const Json& document, const SweepPageOptions& options) {
  const std::vector<const Json*> points = ranked_points(document);
  if (points.empty()) return "";
  const std::vector<TableColumn> columns = table_columns(points);
  const size_t rows = std::min(points.size(), options.max_rows);
  std::string html = fmt::format("<section id=\"table\"><h2>{}</h2>",
                                 rows < points.size()
                                     ? fmt::format("The best {} of {} points", rows, points.size())
                                     : "Points");
  html += "<div class=\"scroll tall\"><table id=\"points\" class=\"comparison\">\n<thead><tr>";
  for (const Json& key : document.at("vary")) {
    html += fmt::format("<th scope=\"col\">{}</th>", escape_html(key.at("key").get<std::string>()));
  }
  for (const TableColumn& column : columns) {
    html += fmt::format("<th scope=\"col\">{}</th>", column.title);
  }
  html += "</tr></thead>\n<tbody>";
  for (size_t i = 0; i < rows; ++i) {
    html += table_row(*points[i], document.at("vary"), columns);
  }
  return html + "</tbody></table></div></section>\n";
}

// Points with the same reason are one line: most of a grid often fails for one.
std::string infeasible_html(const Json& document) {
  std::vector<std::pair<std::string, std::vector<const Json*>>> reasons;
  size_t points = 0;
  for (const Json& point : document.at("points")) {
    if (has_result(point)) continue;
    ++points;
    const std::string reason = point.at("reason");
    auto same = std::ranges::find(reasons, reason, &decltype(reasons)::value_type::first);
    if (same == reasons.end()) same = reasons.insert(same, {reason, {}});
    same->second.push_back(&point);
  }
  if (points == 0) return "";
  std::string html = fmt::format(
      "<section id=\"infeasible\"><h2>Infeasible ({})</h2><div class=\"scroll tall\">"
      "<table class=\"reasons\">\n",
      points);
  for (const auto& [reason, same] : reasons) {
    const std::string first = escape_html(set_text(same.front()->at("set")));
    const std::string more =
        same.size() > 1 ? fmt::format(" and {} more", same.size() - 1) : std::string();
    html += fmt::format("<tr><th scope=\"row\">{}{}</th><td>{}</td></tr>\n", first, more,
                        escape_html(reason));
  }
  return html + "</table></div></section>\n";
}

const Json& point_of(const Json& document, const Json& index) {
  const Json& points = document.at("points");
  const auto found =
      std::ranges::find_if(points, [&](const Json& point) { return point.at("index") == index; });
  if (found == points.end()) throw Error("its best point is none of its points");
  return *found;
}

std::string figure(std::string_view label, std::string_view value) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", label, value);
}

// The paired difference over the same failures tells two points apart whose intervals overlap.
std::string runner_up_html(const Json& document, const Json& runner_up) {
  const Json& difference = runner_up.at("difference");
  const std::string next = set_text(point_of(document, runner_up.at("index")).at("set"));
  const bool apart = difference.at("low").get<double>() > 0;
  return fmt::format(
      "<p class=\"note\" id=\"best\">Next: {}, with {} points less goodput under the same failures "
      "(95 % interval {} .. {}){}.</p>\n",
      escape_html(next), points_text(difference.at("mean")), points_text(difference.at("low")),
      points_text(difference.at("high")),
      apart ? "" : ": these replicas cannot tell which of the two is better");
}

std::string best_html(const Json& document) {
  const auto best = document.find("best");
  if (best == document.end() || !best->is_object()) return "";
  const Json& point = point_of(document, best->at("index"));
  const Json& result = point.at("result");
  std::string html = fmt::format(
      "<dl class=\"figures\"><div class=\"wide\"><dt>best of {} that ran</dt><dd class=\"words\">",
      ranked_points(document).size());
  for (const auto& [key, value] : point.at("set").items()) {
    html +=
        fmt::format("<div>{} = {}</div>", escape_html(key), escape_html(value.get<std::string>()));
  }
  html += "</dd></div>";
  html += figure("goodput", format_percent(goodput_of(point)));
  html += figure("its 95 % interval", interval_text(result.at("goodput")));
  if (const auto ettr = mean_of(result, "ettr")) html += figure("ETTR", format_percent(*ettr));
  if (result.contains("job")) {
    const auto days = mean_of(result.at("job"), "days");
    if (days) html += figure("days to train", fmt::format("{:.1f}", *days));
    const auto cost = mean_of(result.at("job"), "cost_usd");
    if (cost) html += figure("USD", format_count(*cost));
  }
  html += "</dl>\n";
  const auto runner_up = best->find("runner_up");
  if (runner_up != best->end() && runner_up->is_object()) {
    html += runner_up_html(document, *runner_up);
  }
  return html;
}

// What to choose at each value of the keys that are not for the user to choose, which come first.
std::string best_by_html(const Json& document) {
  const auto all = document.find("best_by");
  if (all == document.end() || all->empty()) return "";
  std::vector<std::string> keys;
  for (const Json& key : document.at("vary")) keys.push_back(key.at("key"));
  std::stable_partition(keys.begin(), keys.end(),
                        [](const std::string& key) { return is_circumstance(key); });
  std::string html =
      "<section><h2>What is best under which failures</h2><div class=\"scroll\">"
      "<table class=\"comparison\" id=\"best-by\"><thead><tr>";
  for (const std::string& key : keys) {
    html += fmt::format("<th scope=\"col\">{}{}</th>", is_circumstance(key) ? "" : "best ",
                        escape_html(key));
  }
  html += "<th scope=\"col\">goodput</th><th scope=\"col\">95 % interval</th></tr></thead>\n";
  for (const Json& best : *all) {
    html += "<tr>";
    for (const std::string& key : keys) {
      html += fmt::format("<th scope=\"row\">{}</th>",
                          escape_html(best.at("set").at(key).get<std::string>()));
    }
    const Json& goodput = best.at("goodput");
    html += fmt::format("<td>{}</td><td>{}</td></tr>\n",
                        format_percent(goodput.at("mean").get<double>()), interval_text(goodput));
  }
  return html + "</table></div></section>\n";
}

// "20 x 20 points over failures.*.rate, snapshots.0.every"
std::string subtitle_of(const Json& document) {
  std::string sizes, keys;
  for (const Json& key : document.at("vary")) {
    sizes += fmt::format("{}{}", sizes.empty() ? "" : " x ", key.at("values").size());
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", key.at("key").get<std::string>());
  }
  return fmt::format("{} points over {}", sizes, keys);
}

}  // namespace

bool is_sweep_document(const Json& document) {
  return document.contains("vary") && document.contains("points");
}

void check_sweep_document(const Json& document, const std::string& file) {
  try {
    sweep_page(document);
    for (const Json& point : document.at("points")) {
      for (const Json& key : document.at("vary")) {
        const std::string name = key.at("key");
        point.at("set").at(name);
      }
    }
  } catch (const Json::exception& error) {
    throw Error(Location{file}, fmt::format("damaged record: {}", error.what()));
  } catch (const Error& error) {
    throw Error(Location{file}, fmt::format("damaged record: {}", error.what()));
  }
}

std::string sweep_page(const Json& document, const SweepPageOptions& options) {
  const std::string title = document.at("scenario");
  std::string body = fmt::format("<header><h1>{}</h1><p>{}</p></header>\n", escape_html(title),
                                 escape_html(subtitle_of(document)));
  const std::string best_by = best_by_html(document);
  body += best_by.empty() ? best_html(document) : best_by;
  body += table_html(document, options) + infeasible_html(document);
  Json data = document;
  data["format"] = kPageFormat;
  return filled_page(title, body, data);
}

}  // namespace windtunnel
