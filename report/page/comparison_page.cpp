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
#include "report/figures/figures.hpp"
#include "report/figures/model_range.hpp"
#include "report/page/drawing.hpp"
#include "report/page/html.hpp"
#include "report/page/page.hpp"
#include "report/store/sweep_edges.hpp"
#include "report/store/sweep_figures.hpp"
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
    "the 95 % interval of trials and cost models together; all points use the same cost models, so "
    "their order is more certain than each value";
// The note below the table describes these figures.
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

// The common source of all points: its settings come first, and each point varies the keys after
// them.
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

// [low, high] from the cost models' error and the trials; null if it is not known.
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

// A column as the document describes it. Documents of older versions have less.
struct ShownColumn {
  std::string key, title, help, better;
};

struct ShownPoint {
  std::string name = {};
  std::string full_name = {};  // with its key, if `name` is only the value
  std::string excess = {};     // the missing memory in words; empty: it fits
  std::vector<std::string> texts = {};
  std::vector<double> values = {};  // NaN: the point has no value
  std::vector<std::optional<FigureRange>> ranges = {};
  std::vector<double> trial_goodput = {};
  Json set = {};

  bool fits() const { return excess.empty(); }
};

struct ShownComparison {
  std::vector<ShownColumn> columns = {};
  std::vector<ShownPoint> points = {};
  size_t ranked_by = 0;  // index of a column
  // Points by rank, the best first; those that do not fit come last.
  std::vector<size_t> order = {};

  const ShownPoint& best() const { return points[order.front()]; }
};

ShownPoint shown_point(const Json& json, size_t columns) {
  ShownPoint point{.name = json.at("name"),
                   .excess = json.at("excess"),
                   .trial_goodput = json.value("trial_goodput", std::vector<double>()),
                   .set = json.at("set")};
  point.full_name = point.set.size() == 1
                        ? fmt::format("{} = {}", point.set.begin().key(), point.name)
                        : point.name;
  const Json ranges = json.value("ranges", Json::array());
  for (size_t i = 0; i < columns; ++i) {
    point.texts.push_back(json.at("texts").at(i));
    const Json& value = json.at("values").at(i);
    point.values.push_back(value.is_null() ? std::nan("") : value.get<double>());
    point.ranges.emplace_back();
    if (i >= ranges.size() || ranges[i].is_null()) continue;
    const auto [low, high] = ranges[i].get<std::pair<double, double>>();
    point.ranges.back() = FigureRange{low, high};
  }
  return point;
}

ShownComparison shown_comparison(const Json& document) {
  ShownComparison shown{.ranked_by = document.value("ranked_by", size_t{0})};
  for (const Json& column : document.at("columns")) {
    shown.columns.push_back(
        {column.value("key", ""), column.at("title"), column.at("help"), column.at("better")});
  }
  std::vector<Standing> standings;
  for (const Json& point : document.at("points")) {
    const bool higher =
        document.at("columns").at(shown.ranked_by).at("better") == to_string(Better::higher);
    shown.points.push_back(shown_point(point, shown.columns.size()));
    const double value = shown.points.back().values[shown.ranked_by];
    standings.push_back(
        {shown.points.back().fits(),
         std::isnan(value) ? value : worth_of(higher ? Better::higher : Better::lower, value)});
  }
  shown.order = best_first(standings);
  return shown;
}

// Whether a point equals the best point in a column: the texts are equal, or the trials of both,
// which met the same failures, do not separate them.
bool is_level_with(const ShownComparison& shown, const ShownPoint& best, const ShownPoint& point,
                   size_t column) {
  if (best.texts[column] == point.texts[column]) return true;
  if (shown.columns[column].key != "campaign.goodput" || best.trial_goodput.empty()) return false;
  return !is_gain(paired_gain(best.trial_goodput, point.trial_goodput));
}

// [point] Whether it has the best value of a column, or an equal one. All false if every point that
// fits has it.
std::vector<bool> best_of(const ShownComparison& shown, size_t column) {
  std::vector<bool> marked(shown.points.size());
  const std::string& better = shown.columns[column].better;
  const ShownPoint* best = nullptr;
  for (const ShownPoint& point : shown.points) {
    const double value = point.values[column];
    if (!point.fits() || std::isnan(value)) continue;
    const bool ahead = best == nullptr || (better == "lower" ? value < best->values[column]
                                                             : value > best->values[column]);
    if (ahead) best = &point;
  }
  if (better.empty() || best == nullptr) return marked;
  bool any_worse = false;
  for (size_t i = 0; i < marked.size(); ++i) {
    const ShownPoint& point = shown.points[i];
    if (!point.fits()) continue;
    marked[i] = !std::isnan(point.values[column]) && is_level_with(shown, *best, point, column);
    any_worse = any_worse || !marked[i];
  }
  return any_worse ? marked : std::vector<bool>(marked.size());
}

std::string table_head(const ShownComparison& shown) {
  // If the points are named after their values, the heading is the varied key.
  const Json& set = shown.points.front().set;
  std::string html = fmt::format("<thead><tr><th scope=\"col\" class=\"name\">{}</th>",
                                 escape_html(set.size() == 1 ? set.begin().key() : "point"));
  for (const ShownColumn& column : shown.columns) {
    html += fmt::format("<th scope=\"col\" title=\"{}\">{}</th>", escape_html(column.help),
                        escape_html(column.title));
  }
  return html + "</tr></thead>\n";
}

// The value by which a click on the column's title sorts: words alphabetically, missing values
// after all numbers.
std::string sort_key(double value, const std::string& text) {
  if (!std::isnan(value)) return fmt::format(" data-value=\"{}\"", value);
  return text.empty() ? " data-value=\"Infinity\"" : "";
}

std::string range_html(const ShownComparison& shown, const ShownPoint& point, size_t column) {
  const auto known = std::ranges::find(figures(), shown.columns[column].key, &Figure::key);
  const std::optional<FigureRange>& range = point.ranges[column];
  if (!range || known == figures().end()) return "";
  return fmt::format("<small>{}</small>",
                     escape_html(range_text(known->unit, range->low, range->high)));
}

// The ranking figure and goodput have their interval below them.
std::string point_row(const ShownComparison& shown, size_t place,
                      const std::vector<std::vector<bool>>& best) {
  const ShownPoint& point = shown.points[place];
  std::string html = fmt::format(
      "<tr{}><th scope=\"row\">{}</th>",
      point.fits() ? "" : fmt::format(" class=\"excess\" title=\"{}\"", escape_html(point.excess)),
      escape_html(point.name));
  for (size_t i = 0; i < best.size(); ++i) {
    const bool ranged = i == shown.ranked_by || shown.columns[i].key == "campaign.goodput";
    html += fmt::format("<td{}{}>{}{}</td>", sort_key(point.values[i], point.texts[i]),
                        best[i][place] ? " class=\"best\"" : "", escape_html(point.texts[i]),
                        ranged ? range_html(shown, point, i) : "");
  }
  return html + "</tr>\n";
}

std::string points_table(const ShownComparison& shown) {
  if (shown.points.empty()) return "";
  std::vector<std::vector<bool>> best;
  for (size_t i = 0; i < shown.columns.size(); ++i) best.push_back(best_of(shown, i));
  std::string html = "<div class=\"scroll\"><table id=\"points\" class=\"comparison\">\n";
  html += table_head(shown) + "<tbody>\n";
  for (const size_t i : shown.order) html += point_row(shown, i, best);
  html +=
      "</tbody></table></div>\n<p class=\"note\">In each column the best is highlighted, together "
      "with points that the trials cannot distinguish from it; if the trials distinguish no point, "
      "none is highlighted.";
  for (const ShownColumn& column : shown.columns) {
    if (std::ranges::find(kExplained, column.key) == std::end(kExplained)) continue;
    html += fmt::format(" <b>{}</b>: {}.", escape_html(column.title), escape_html(column.help));
  }
  return html + "</p>\n";
}

// A list of names with a text each; `id` is the id of the section.
std::string reasons_html(const char* id, const std::string& title, const Json& list,
                         const char* name, const char* text) {
  if (list.empty()) return "";
  std::string html =
      fmt::format("<section id=\"{}\"><h2>{}</h2><table class=\"reasons\">\n", id, title);
  for (const Json& each : list) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                        escape_html(each.at(name).get<std::string>()),
                        escape_html(each.at(text).get<std::string>()));
  }
  return html + "</table></section>\n";
}

// Notes on keys whose best value is the smallest or largest compared.
std::string comparison_edges(const ShownComparison& shown, const Json& document) {
  const auto vary = document.find("vary");
  if (shown.points.empty() || vary == document.end()) return "";
  const auto differs = [&](const Json& neighbour) {
    const auto other = std::ranges::find(shown.points, neighbour, &ShownPoint::set);
    return other == shown.points.end() ||
           !is_level_with(shown, shown.best(), *other, shown.ranked_by);
  };
  std::string html;
  for (const SweepEdge& edge : edges_of_point(*vary, shown.best().set, differs)) {
    html += fmt::format("<p class=\"warning\">At the edge of the comparison: {}.</p>\n",
                        escape_html(edge_text(edge)));
  }
  return html;
}

// Documents of older versions do not have the parts of the step.
std::string parts_html(const Json& section) {
  return section.is_null() ? "" : section_html(section_of(section));
}

std::string certainty_html(const Json& rows) {
  if (rows.empty()) return "";
  SummarySection section{kCertaintyTitle, {}, {}};
  for (const Json& row : rows) section.rows.push_back({row.at(0), row.at(1)});
  return section_html(section);
}

// Names the second best, and says whether the best is better by more than chance.
std::string next_html(const ShownComparison& shown) {
  if (shown.order.size() < 2) return "";
  const ShownPoint& next = shown.points[shown.order[1]];
  const std::string text =
      is_level_with(shown, shown.best(), next, shown.ranked_by)
          ? fmt::format("{} is as good", next.full_name)
          : fmt::format("next: {}, {}", next.full_name, next.texts[shown.ranked_by]);
  return fmt::format("<small>{}</small>", escape_html(text));
}

std::string best_figures_html(const ShownComparison& shown) {
  if (shown.points.empty()) return "";
  const bool by_step_time = shown.ranked_by == 0;
  std::string html = fmt::format(
      "<dl class=\"figures\"><div class=\"wide\"><dt>{} of {} that ran</dt><dd>{}{}</dd></div>",
      by_step_time ? "fastest" : "best", shown.points.size(), escape_html(shown.best().full_name),
      next_html(shown));
  const std::span<const std::string_view> keys =
      by_step_time ? std::span<const std::string_view>(kKeyFigures) : kProtectionFigures;
  for (size_t i = 0; i < shown.columns.size(); ++i) {
    if (std::ranges::find(keys, shown.columns[i].key) == keys.end()) continue;
    html += fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>", term_html(shown.columns[i].title),
                        escape_html(shown.best().texts[i]), range_html(shown, shown.best(), i));
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
      if (const auto judged = judged_speed_up(comparison, point)) {
        points.back()["speed_up"] = {{"ratio", judged->ratio},
                                     {"low", judged->low},
                                     {"high", judged->high},
                                     {"faster", judged->faster}};
      }
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
  const ShownComparison shown = shown_comparison(document);
  const std::string title = document.at("title");
  const Json& infeasible = document.at("infeasible");
  const std::string body =
      header_html(title, document.at("subtitle").get<std::string>()) + best_figures_html(shown) +
      comparison_edges(shown, document) + points_table(shown) +
      parts_html(document.value("parts", Json())) +
      certainty_html(document.value("certainty", Json::array())) +
      reasons_html("infeasible", fmt::format("Infeasible ({})", infeasible.size()), infeasible,
                   "name", "reason") +
      reasons_html("notes", kNotesTitle, document.value("notes", Json::array()), "key", "text");
  Json data = document;
  data["order"] = shown.order;  // the script needs points by rank
  data["best"] = shown.points.empty() ? Json::array() : Json(best_of(shown, shown.ranked_by));
  return filled_page(title, body, data);
}

}  // namespace windtunnel
