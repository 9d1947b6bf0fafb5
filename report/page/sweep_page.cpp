#include "report/page/sweep_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "models/base/error.hpp"
#include "models/results/paired_gain.hpp"
#include "report/page/html.hpp"
#include "report/store/sweep_edges.hpp"
#include "report/store/sweep_figures.hpp"
#include "report/store/sweep_ranking.hpp"
#include "report/store/sweep_results.hpp"

namespace windtunnel {
namespace {

// Returns the points sorted by rank, the best first.
std::vector<const Json*> ranked_points(const Json& document) {
  const SweepRanking ranking(document.at("points").get_ref<const Json::array_t&>());
  std::vector<const Json*> points;
  for (size_t place = 0; place < ranking.size(); ++place) points.push_back(&ranking.at(place));
  return points;
}

std::string sweep_row(const Json& point, const Json& vary,
                      const std::vector<SweepColumn>& columns) {
  std::string html = "<tr>";
  for (const Json& key : vary) {
    const std::string value = point.at("set").at(key.at("key").get<std::string>());
    html += fmt::format("<th scope=\"row\">{}</th>", escape_html(value));
  }
  for (const SweepColumn& column : columns) {
    const std::optional<double> number = number_at(point, column.key);
    html += fmt::format("<td data-value=\"{}\">{}</td>",
                        number ? fmt::format("{}", *number) : "Infinity", column.text(point));
  }
  return html + "</tr>\n";
}

// The note for a sweep that is too large for its document.
std::string left_out_html(const Json& document) {
  const size_t ran = left_out(document, "ran"), infeasible = left_out(document, "infeasible");
  if (ran + infeasible == 0) return "";
  const size_t circumstances = left_out(document, "circumstances");
  return fmt::format(
      "<p class=\"note\" id=\"left-out\">Shown: {} of {} points: the best, those that differ from "
      "the best in one key, and examples of infeasible points{}. All points are in results.sqlite "
      "and results.jsonl.</p>\n",
      document.at("points").size(), document.at("points").size() + ran + infeasible,
      circumstances == 0
          ? ""
          : fmt::format("; {} combinations of failures are left out of the table of the best",
                        circumstances));
}

std::string sweep_table(const Json& document, const SweepPageOptions& options) {
  const std::vector<const Json*> points = ranked_points(document);
  if (points.empty()) return "";
  const std::vector<SweepColumn> columns = sweep_columns(points);
  const size_t rows = std::min(points.size(), options.max_rows);
  const size_t all = points.size() + left_out(document, "ran");
  std::string html =
      fmt::format("<section id=\"table\"><h2>{}</h2>",
                  rows < all ? fmt::format("The best {} of {} points", rows, all) : "Points");
  html += "<div class=\"scroll tall\"><table id=\"points\" class=\"comparison\">\n<thead><tr>";
  for (const Json& key : document.at("vary")) {
    html += fmt::format("<th scope=\"col\">{}</th>", escape_html(key.at("key").get<std::string>()));
  }
  for (const SweepColumn& column : columns) {
    html += fmt::format("<th scope=\"col\" title=\"{}\">{}</th>",
                        escape_html(figure(column.key).help), escape_html(column.title));
  }
  html += "</tr></thead>\n<tbody>";
  for (size_t i = 0; i < rows; ++i) {
    html += sweep_row(*points[i], document.at("vary"), columns);
  }
  return html + "</tbody></table></div></section>\n";
}

std::string infeasible_reasons(const Json& document) {
  std::string rows;
  size_t points = 0;
  for (const auto& [reason, same] : infeasible_points(document.at("points"))) {
    const std::string first = escape_html(set_text(same.front()->at("set")));
    const std::string more =
        same.size() > 1 ? fmt::format(" and {} more", same.size() - 1) : std::string();
    rows += fmt::format("<tr><th scope=\"row\">{}{}</th><td>{}</td></tr>\n", first, more,
                        escape_html(reason));
    points += same.size();
  }
  points += left_out(document, "infeasible");
  if (points == 0) return "";
  return fmt::format(
      "<section id=\"infeasible\"><h2>Infeasible ({})</h2><div class=\"scroll tall\">"
      "<table class=\"reasons\">\n{}</table></div></section>\n",
      points, rows);
}

const Json& point_of(const Json& document, const Json& index) {
  const Json& points = document.at("points");
  const auto found =
      std::ranges::find_if(points, [&](const Json& point) { return point.at("index") == index; });
  if (found == points.end()) throw Error("its best point is none of its points");
  return *found;
}

std::string best_html(const Json& document) {
  const auto best = document.find("best");
  if (best == document.end() || !best->is_object()) return "";
  const Json& point = point_of(document, best->at("index"));
  std::string html = fmt::format(
      "<dl class=\"figures\"><div class=\"wide\"><dt>best of {} that ran</dt><dd class=\"words\">",
      ranked_points(document).size() + left_out(document, "ran"));
  for (const auto& [key, value] : point.at("set").items()) {
    html +=
        fmt::format("<div>{} = {}</div>", escape_html(key), escape_html(value.get<std::string>()));
  }
  html += "</dd></div>";
  const auto add = [&](std::string_view title, const std::string& text) {
    if (!text.empty())
      html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", term_html(title), text);
  };
  add(figure("campaign.goodput").title, text_at(point, "campaign.goodput"));
  add(kIntervalTitle, range_at(point, "campaign.goodput"));
  for (const char* key : {"campaign.ettr", "campaign.job.days", "campaign.job.cost_usd"}) {
    add(figure(key).title, text_at(point, key));
  }
  html += "</dl>\n";
  const auto runner_up = best->find("runner_up");
  if (runner_up != best->end() && runner_up->is_object()) {
    html += fmt::format("<p class=\"note\" id=\"best\">Next: {}.</p>\n",
                        escape_html(runner_up_text(*runner_up)));
  }
  return html;
}

std::string edges_html(const Json& document) {
  std::string html;
  for (const SweepEdge& edge : edges_of_best(document)) {
    html += fmt::format("<p class=\"warning\">At the edge of the grid: {}.</p>\n",
                        escape_html(edge_text(edge)));
  }
  for (const std::string& known : as_good_texts(document)) {
    html += fmt::format("<p>{}.</p>\n", escape_html(known));
  }
  return html;
}

// Says that every choice is equally good, if that is so.
std::string alike_html(const Json& document) {
  const auto is_alike = [](const Json& best) {
    return best.is_object() && !best.value("stands_out", true);
  };
  std::string where;
  for (const Json& best : document.value("best_by", Json::array())) {
    if (!is_alike(best)) continue;
    Json met = Json::object();
    for (const auto& [key, value] : best.at("set").items()) {
      if (is_circumstance(key)) met[key] = value;
    }
    where += fmt::format("{}{}", where.empty() ? "under " : ", ", set_text(met));
  }
  if (where.empty() && !is_alike(document.value("best", Json()))) return "";
  return fmt::format(
      "<p class=\"warning\">No choice is clearly the best{}{}: the gain of the best is {}.</p>\n",
      where.empty() ? "" : " ", escape_html(where), no_gain_text());
}

std::string sweep_certainty(const Json& document) {
  SummarySection section{kCertaintyTitle, {}, {}};
  const std::string trials =
      document.value("trials", "");  // documents of older versions do not have it
  if (!trials.empty()) {
    section.add("intervals",
                "{} of the mean over {} trials; all points are simulated under the same "
                "failures, so differences are more certain than each value",
                kIntervalTitle, trials);
  }
  for (const Json& models : document.value("cost_models", Json::array())) {
    section.rows.push_back({"cost models", models.get<std::string>() +
                                               "; days and costs share this error, which is "
                                               "not in the intervals"});
  }
  if (section.rows.empty()) return "";
  return fmt::format("<div id=\"certainty\">{}</div>\n", section_html(section));
}

// The table shows the best choice at each value of the failures that the sweep varies.
std::string best_by_html(const Json& document) {
  const auto all = document.find("best_by");
  if (all == document.end() || all->empty()) return "";
  return fmt::format(
      "<section id=\"best-by\"><h2>What is best under which failures</h2>{}</section>\n",
      table_html(best_by_table(document)));
}

// Returns "20 x 20 points over failures.*.rate, snapshots.0.every".
std::string sweep_subtitle(const Json& document) {
  std::string sizes, keys;
  for (const Json& key : document.at("vary")) {
    sizes += fmt::format("{}{}", sizes.empty() ? "" : " x ", key.at("values").size());
    keys += fmt::format("{}{}", keys.empty() ? "" : ", ", key.at("key").get<std::string>());
  }
  return fmt::format("{} points over {}", sizes, keys);
}

}  // namespace

void check_sweep_document(const Json& document, const std::string& file) {
  const std::string format = format_of(document);
  if (!format.empty() && format != kSweepFormat) {  // older versions do not write it
    throw Error(Location{file}, fmt::format("not a sweep of this version (format is not '{}'); run "
                                            "`windtunnel sweep merge` again",
                                            kSweepFormat));
  }
  check_drawable(file, [&] {
    sweep_page(document);
    for (const Json& point : document.at("points")) {
      for (const Json& key : document.at("vary")) {
        const std::string name = key.at("key");
        point.at("set").at(name);
      }
    }
  });
}

std::string sweep_page(const Json& document, const SweepPageOptions& options) {
  const std::string title = document.at("scenario");
  std::string body = fmt::format("<header><h1>{}</h1><p>{}</p></header>\n", escape_html(title),
                                 escape_html(sweep_subtitle(document)));
  const std::string job = document.value("job", "");
  if (!job.empty()) body += fmt::format("<p>{}</p>\n", escape_html(job));
  const std::string best_by = best_by_html(document);
  body += best_by.empty() ? best_html(document) : best_by;
  body += alike_html(document) + edges_html(document) + sweep_certainty(document);
  body += left_out_html(document) + sweep_table(document, options) + infeasible_reasons(document);
  Json data = document;
  data["format"] = kSweepFormat;  // tells the script which kind of document it is
  data["metrics"] = sweep_keys();
  return filled_page(title, body, data);
}

}  // namespace windtunnel
