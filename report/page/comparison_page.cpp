#include "report/page/comparison_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "models/base/error.hpp"
#include "models/results/paired_gain.hpp"
#include "report/console/console.hpp"
#include "report/figures/model_range.hpp"
#include "report/figures/ranking.hpp"
#include "report/page/drawing.hpp"
#include "report/page/html.hpp"
#include "report/page/page.hpp"
#include "report/store/sweep_edges.hpp"
#include "report/store/varied_keys.hpp"
#include "report/summary/comparison_columns.hpp"
#include "report/summary/notes.hpp"
#include "report/summary/summary.hpp"

namespace windtunnel {
namespace {

constexpr const char* kComparisonFormat = "windtunnel-comparison-1";
constexpr std::string_view kKeyFigures[] = {"iteration.time_s", "iteration.tflops_per_gpu",
                                            "iteration.mfu", "iteration.memory_bytes.peak"};
constexpr std::string_view kProtectionFigures[] = {
    "campaign.goodput", "campaign.copy.name", "campaign.copy.saving_s",
    "campaign.snapshots.overhead", "campaign.copy.survival_7d"};
constexpr const char* kCommonError =
    "the 95 % interval of trials and cost models together; all points "
    "rest on the same cost models, so that their order is surer than each by itself";
// What the note below the table explains.
constexpr std::string_view kExplained[] = {
    "iteration.bubble.makespan_share", "iteration.bubble.longest_stage_share",
    "iteration.bubble.idle",           "campaign.copy.name",
    "campaign.snapshots.overhead",     "campaign.copy.survival_7d"};

std::vector<const Figure*> columns_of(const Comparison& comparison) {
  std::vector<const Figure*> columns = iteration_columns(comparison);
  if (varies_protection_only(comparison)) columns.resize(1);
  std::ranges::copy(further_columns(comparison), std::back_inserter(columns));
  return columns;
}

// What all points were made from: what they vary stands behind what is set at all of them.
Json shared_source(const Comparison& comparison) {
  std::optional<RecordSource> shared;
  for (const ComparedPoint& point : comparison.points) {
    if (!point.record) continue;
    const RecordSource& source = point.record->source;
    if (!shared) {
      if (source.set.size() < point.set.size()) return nullptr;  // not made by the command
      shared = source;
      shared->set.resize(source.set.size() - point.set.size());
      continue;
    }
    shared->allow_oom = shared->allow_oom || source.allow_oom;
    for (const NamedFile& file : source.files) {
      const auto known = std::ranges::find(shared->files, file.name, &NamedFile::name);
      if (known == shared->files.end()) shared->files.push_back(file);
    }
  }
  return shared ? source_json(*shared) : Json();
}

std::string comparison_subtitle(const Comparison& comparison) {
  std::vector<std::vector<std::string>> jobs;
  for (const ComparedPoint& point : comparison.points) {
    if (point.record) jobs.push_back(job_facts(point.record->job));
  }
  return shared_facts(jobs);
}

// [low, high] by the cost models' error and the trials; null where nothing is known of it.
Json range_json(const Figure& column, const Record& record) {
  if (const auto range = wider_range(column, record)) return {range->low, range->high};
  const FigureValue value = column.of(record);
  const auto* estimate = std::get_if<Estimate>(&value);
  if (estimate == nullptr || !std::isfinite(estimate->mean)) return nullptr;
  return {estimate->low, estimate->high};
}

Json point_json(const ComparedPoint& point, const std::vector<const Figure*>& columns,
                const Json& drawing, const std::string& folder) {
  Json texts = Json::array(), values = Json::array(), ranges = Json::array();
  for (const Figure* column : columns) {
    ranges.push_back(range_json(*column, *point.record));
    texts.push_back(column->text(*point.record));
    const double value = number_of(column->of(*point.record));
    values.push_back(std::isnan(value) ? Json() : Json(value));
  }
  Json json = {{"name", point_name(point.set)},
               {"set", set_json(point.set)},
               {"facts", job_facts(point.record->job)},
               {"texts", texts},
               {"values", values},
               {"ranges", ranges},
               {"excess", point.record->memory_excess},
               {"trace", folder.empty() ? "" : folder + "/trace.json"},
               {"drawing", drawing}};
  if (point.record->campaign) {
    json["trial_goodput"] = point.record->campaign->trial_goodput;
    for (const Figure* lost : figures_below("campaign.lost")) {
      const double share = number_of(lost->of(*point.record));
      if (!std::isnan(share)) json["lost"][lost->title] = share;
    }
  }
  return json;
}

// The column that points rank by: of records that do not say, the step time.
size_t ranked_by(const Json& document) {
  return document.value("ranked_by", size_t{0});
}

// The indices of the points, the best first, those that do not fit behind.
std::vector<size_t> ranking(const Json& document) {
  const Json& points = document.at("points");
  const size_t column = ranked_by(document);
  const Better better = document.at("columns").at(column).at("better") == to_string(Better::higher)
                            ? Better::higher
                            : Better::lower;
  std::vector<Standing> standings;
  for (const Json& point : points) {
    const Json& value = point.at("values").at(column);
    standings.push_back({point.at("excess").get_ref<const std::string&>().empty(),
                         value.is_null() ? std::nan("") : worth_of(better, value.get<double>())});
  }
  return best_first(standings);
}

bool fits(const Json& point) {
  return point.at("excess").get_ref<const std::string&>().empty();
}

// Whether a point has as much of a column as the best one has: it is written alike, or the trials
// of both, which met the same failures, do not tell them apart.
bool is_level_with(const Json& best, const Json& point, const Json& column, size_t i) {
  if (best.at("texts").at(i) == point.at("texts").at(i)) return true;
  const auto trials = [](const Json& of) {
    return of.value("trial_goodput", std::vector<double>());  // older programs do not say them
  };
  if (column.value("key", "") != "campaign.goodput" || trials(best).empty()) return false;
  return !is_gain(paired_gain(trials(best), trials(point)));
}

// Of each point whether it has the best of a column, or what is as good: none where all of those
// that fit have.
std::vector<bool> best_of(const Json& document, size_t column) {
  const Json& points = document.at("points");
  const Json& described = document.at("columns").at(column);
  std::vector<bool> marked(points.size());
  const std::string better = described.at("better");
  const auto value_of = [&](const Json& point) -> const Json& {
    return point.at("values").at(column);
  };
  const Json* best = nullptr;
  for (const Json& point : points) {
    if (!fits(point) || value_of(point).is_null()) continue;
    const bool ahead = best == nullptr || (better == "lower" ? value_of(point) < value_of(*best)
                                                             : value_of(point) > value_of(*best));
    if (ahead) best = &point;
  }
  if (better.empty() || best == nullptr) return marked;
  bool any_worse = false;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!fits(points[i])) continue;
    marked[i] =
        !value_of(points[i]).is_null() && is_level_with(*best, points[i], described, column);
    any_worse = any_worse || !marked[i];
  }
  return any_worse ? marked : std::vector<bool>(points.size());
}

// The key that is varied, where names of points are its values.
std::string points_title(const Json& points) {
  const Json& set = points.front().at("set");
  return set.size() == 1 ? set.begin().key() : "point";
}

std::string table_head(const Json& points, const Json& columns) {
  std::string html = fmt::format("<thead><tr><th scope=\"col\" class=\"name\">{}</th>",
                                 escape_html(points_title(points)));
  for (const Json& column : columns) {
    html += fmt::format("<th scope=\"col\" title=\"{}\">{}</th>",
                        escape_html(column.at("help").get<std::string>()),
                        escape_html(column.at("title").get<std::string>()));
  }
  return html + "</tr></thead>\n";
}

// What a click on the column's title sorts by: words by themselves, nothing behind all numbers.
std::string sort_key(const Json& value, const std::string& text) {
  if (!value.is_null()) return fmt::format(" data-value=\"{}\"", value.get<double>());
  return text.empty() ? " data-value=\"Infinity\"" : "";
}

std::string range_html(const Json& point, const Json& columns, size_t column) {
  const Json ranges = point.value("ranges", Json::array());  // older programs do not say them
  const auto known =
      std::ranges::find(figures(), columns.at(column).value("key", ""), &Figure::key);
  if (column >= ranges.size() || ranges[column].is_null() || known == figures().end()) return "";
  const auto [low, high] = ranges[column].get<std::pair<double, double>>();
  return fmt::format("<small>{}</small>", escape_html(range_text(known->unit, low, high)));
}

// The interval stands below what points rank by, and below goodput.
std::string point_row(const Json& document, size_t place,
                      const std::vector<std::vector<bool>>& best) {
  const Json& point = document.at("points").at(place);
  const Json& columns = document.at("columns");
  const std::string excess = point.at("excess");
  std::string html = fmt::format(
      "<tr{}><th scope=\"row\">{}</th>",
      excess.empty() ? "" : fmt::format(" class=\"excess\" title=\"{}\"", escape_html(excess)),
      escape_html(point.at("name").get<std::string>()));
  for (size_t i = 0; i < best.size(); ++i) {
    const Json& value = point.at("values").at(i);
    const std::string text = point.at("texts").at(i);
    const bool ranged =
        i == ranked_by(document) || columns[i].value("key", "") == "campaign.goodput";
    html += fmt::format("<td{}{}>{}{}</td>", sort_key(value, text),
                        best[i][place] ? " class=\"best\"" : "", escape_html(text),
                        ranged ? range_html(point, columns, i) : "");
  }
  return html + "</tr>\n";
}

std::string points_table(const Json& document) {
  const Json& points = document.at("points");
  const Json& columns = document.at("columns");
  if (points.empty()) return "";
  std::vector<std::vector<bool>> best;
  for (size_t i = 0; i < columns.size(); ++i) best.push_back(best_of(document, i));
  std::string html = "<div class=\"scroll\"><table id=\"points\" class=\"comparison\">\n";
  html += table_head(points, columns) + "<tbody>\n";
  for (const size_t i : ranking(document)) html += point_row(document, i, best);
  html +=
      "</tbody></table></div>\n<p class=\"note\">The best of each column stands out, with what "
      "the trials cannot tell from it; nothing does where that is all.";
  for (const Json& column : columns) {
    if (std::ranges::find(kExplained, column.value("key", "")) == std::end(kExplained)) continue;
    html += fmt::format(" <b>{}</b>: {}.", escape_html(column.at("title").get<std::string>()),
                        escape_html(column.at("help").get<std::string>()));
  }
  return html + "</p>\n";
}

std::string infeasible_section(const Json& infeasible) {
  if (infeasible.empty()) return "";
  std::string html =
      fmt::format("<section id=\"infeasible\"><h2>Infeasible ({})</h2><table class=\"reasons\">\n",
                  infeasible.size());
  for (const Json& point : infeasible) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                        escape_html(point.at("name").get<std::string>()),
                        escape_html(point.at("reason").get<std::string>()));
  }
  return html + "</table></section>\n";
}

std::string notes_section(const Json& notes) {
  if (notes.empty()) return "";
  std::string html =
      fmt::format("<section id=\"notes\"><h2>{}</h2><table class=\"reasons\">\n", kNotesTitle);
  for (const Json& note : notes) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                        escape_html(note.at("key").get<std::string>()),
                        escape_html(note.at("text").get<std::string>()));
  }
  return html + "</table></section>\n";
}

const Json* comparison_point(const Json& points, const Json& set) {
  const auto found = std::ranges::find(
      points, set, [](const Json& point) -> const Json& { return point.at("set"); });
  return found == points.end() ? nullptr : &*found;
}

// Where the best point has the smallest or the largest of the values that were compared.
std::string comparison_edges(const Json& document) {
  const Json& points = document.at("points");
  const auto vary = document.find("vary");
  if (points.empty() || vary == document.end()) return "";
  const Json& best = points[ranking(document).front()];
  const size_t column = ranked_by(document);
  const auto differs = [&](const Json& neighbour) {
    const Json* other = comparison_point(points, neighbour);
    return other == nullptr || !is_level_with(best, *other, document.at("columns")[column], column);
  };
  std::string html;
  for (const SweepEdge& edge : edges_of_point(*vary, best.at("set"), differs)) {
    html += fmt::format("<p class=\"warning\">On the edge of what was compared: {}.</p>\n",
                        escape_html(edge_text(edge)));
  }
  return html;
}

// With its key, where its name is the value alone.
std::string full_name(const Json& point) {
  const Json& set = point.at("set");
  const std::string name = point.at("name");
  return set.size() == 1 ? fmt::format("{} = {}", set.begin().key(), name) : name;
}

// Older programs do not say where the step goes.
std::string parts_html(const Json& section) {
  return section.is_null() ? "" : section_html(section_of(section));
}

std::string certainty_html(const Json& rows) {
  if (rows.empty()) return "";
  SummarySection section{kCertaintyTitle, {}, {}};
  for (const Json& row : rows) section.rows.push_back({row.at(0), row.at(1)});
  return section_html(section);
}

// The second best, and whether the best is more than chance.
std::string next_html(const Json& document) {
  const std::vector<size_t> order = ranking(document);
  if (order.size() < 2) return "";
  const size_t column = ranked_by(document);
  const Json& points = document.at("points");
  const Json &best = points[order[0]], &next = points[order[1]];
  const Json& described = document.at("columns")[column];
  const std::string name = full_name(next);
  const std::string text =
      is_level_with(best, next, described, column)
          ? fmt::format("{} is as good", name)
          : fmt::format("next: {}, {}", name, next.at("texts").at(column).get<std::string>());
  return fmt::format("<small>{}</small>", escape_html(text));
}

std::string best_figures_html(const Json& document) {
  const Json& points = document.at("points");
  if (points.empty()) return "";
  const Json& best = points[ranking(document).front()];
  const Json& columns = document.at("columns");
  const bool by_step_time = ranked_by(document) == 0;
  std::string html = fmt::format(
      "<dl class=\"figures\"><div class=\"wide\"><dt>{} of {} that ran</dt><dd>{}{}</dd></div>",
      by_step_time ? "fastest" : "best", points.size(), escape_html(full_name(best)),
      next_html(document));
  const std::span<const std::string_view> shown =
      by_step_time ? std::span<const std::string_view>(kKeyFigures) : kProtectionFigures;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (std::ranges::find(shown, columns[i].value("key", "")) == shown.end()) continue;
    const std::string title = columns[i].at("title");
    html += fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>", term_html(title),
                        escape_html(best.at("texts").at(i).get<std::string>()),
                        range_html(best, columns, i));
  }
  return html + "</dl>\n";
}

}  // namespace

size_t spans_per_point(size_t points, const ComparisonPageOptions& options) {
  return options.max_spans / std::max<size_t>(1, points);
}

std::string point_name(const Overrides& set) {
  return set.size() == 1 ? set.front().second : set_text(set);
}

std::vector<std::string> point_folders(const std::vector<Overrides>& points) {
  std::vector<std::string> folders;
  std::set<std::string> used;
  for (const Overrides& set : points) {
    std::string folder;
    for (const char c : point_name(set)) {
      const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
      if (folder.empty() && !letter) continue;
      folder += letter || c == '_' || c == '=' || c == '.' ? c : '-';
    }
    if (folder.empty()) folder = "point";
    constexpr size_t kLongest = 100;
    folder.resize(std::min(folder.size(), kLongest));
    const std::string base = folder;
    for (int i = 2; !used.insert(folder).second; ++i) folder = fmt::format("{}-{}", base, i);
    folders.push_back(folder);
  }
  return folders;
}

Json comparison_document(const Comparison& comparison, const std::vector<Json>& drawings,
                         const std::vector<std::string>& folders) {
  CHECK(drawings.size() == comparison.points.size(), "{} drawings of {} points", drawings.size(),
        comparison.points.size());
  const std::vector<const Figure*> kinds = columns_of(comparison);
  Json columns = Json::array();
  for (const Figure* kind : kinds) columns.push_back(figure_json(*kind));
  const auto ranked = std::ranges::find(kinds, &ranking_figure(comparison)) - kinds.begin();
  Json points = Json::array(), infeasible = Json::array();
  std::string title;
  for (size_t i = 0; i < comparison.points.size(); ++i) {
    const ComparedPoint& point = comparison.points[i];
    if (point.record) {
      title = point.record->scenario;
      points.push_back(point_json(point, kinds, drawings[i], folders.empty() ? "" : folders[i]));
    } else {
      infeasible.push_back({{"name", point_name(point.set)}, {"reason", point.reason}});
    }
  }
  const std::optional<SummarySection> parts = step_parts(comparison);
  Json certainty = Json::array();
  for (const SummaryRow& row : certainty_rows(comparison, "intervals")) {
    certainty.push_back({row.label, row.value});
  }
  if (!certainty.empty()) certainty.push_back({"below figures", kCommonError});
  return {{"format", kComparisonFormat},
          {"title", title},
          {"source", shared_source(comparison)},
          {"subtitle", comparison_subtitle(comparison)},
          {"kinds", drawn_kinds()},
          {"columns", columns},
          {"ranked_by", ranked},
          {"points", points},
          {"infeasible", infeasible},
          {"parts", parts ? section_json(*parts) : Json()},
          {"certainty", certainty},
          {"notes", notes_json(notes_of(comparison))},
          {"vary", varied_keys_json(comparison.vary)}};
}

bool is_comparison_document(const Json& document) {
  return format_of(document).starts_with("windtunnel-comparison-");
}

void check_comparison_document(const Json& document, const std::string& file) {
  if (format_of(document) != kComparisonFormat) {
    throw Error(Location{file}, fmt::format("not a record of this version (format is not '{}'); "
                                            "run the comparison again with --out",
                                            kComparisonFormat));
  }
  check_drawable(file, [&] {
    comparison_page(document);
    for (const Json& point : document.at("points")) {
      if (!point.at("drawing").is_null()) check_drawing(point.at("drawing"));
    }
  });
}

std::string comparison_page(const Json& document) {
  const std::string title = document.at("title");
  std::string body = fmt::format("<header><h1>{}</h1><p>{}</p></header>\n", escape_html(title),
                                 escape_html(document.at("subtitle").get<std::string>()));
  body += best_figures_html(document) + comparison_edges(document) + points_table(document) +
          parts_html(document.value("parts", Json())) +
          certainty_html(document.value("certainty", Json::array())) +
          infeasible_section(document.at("infeasible")) +
          notes_section(document.value("notes", Json::array()));
  Json data = document;
  data["order"] = ranking(document);  // for the script: the best first, and what stands out
  data["best"] =
      document.at("points").empty() ? Json::array() : Json(best_of(document, ranked_by(document)));
  return filled_page(title, body, data);
}

}  // namespace windtunnel
