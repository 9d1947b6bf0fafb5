#include "report/page/page.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "report/console/console.hpp"
#include "report/figures/figures.hpp"
#include "report/page/drawing.hpp"
#include "report/page/html.hpp"
#include "report/summary/summary.hpp"
#include "traces/perfetto/tracks.hpp"

namespace windtunnel {
namespace {

constexpr const char* kRecordFormat = "windtunnel-record-1";

Json rows_json(const std::vector<SummaryRow>& rows) {
  return list_json(rows, [](const SummaryRow& row) {
    Json json = MEMBERS_JSON(row, label, value);
    if (!row.detail.empty()) json["detail"] = row.detail;
    return json;
  });
}

Json table_json(const TextTable& table) {
  const Json columns = list_json(table.columns, [](const Column& column) -> Json {
    return {{"title", column.title}, {"right", column.align == Align::right}};
  });
  return {{"columns", columns}, {"rows", table.rows}};
}

Json values_json(const std::vector<ResolvedValue>& values) {
  const TextTable table = explain_table(values);
  return list_json(table.rows, [&](const TableRow& row) {
    Json json = Json::object();
    for (size_t i = 0; i < row.size(); ++i) json[table.columns[i].title] = row[i];
    return json;
  });
}

Json memory_json(const Record& record, const PageOptions& options) {
  Json json = memory_ranks(record);
  json["curves"] = memory_curves(record, options.max_curves);
  return json;
}

// Parallel arrays with one entry per task take a tenth of the size of one object per task.
Json track_json(const RankClass& rank_class, const std::string& label, const Track& track,
                const std::set<TaskIndex>& critical) {
  Json starts = Json::array(), durations = Json::array(), categories = Json::array(),
       names = Json::array(), on_path = Json::array();
  for (const TrackEvent& event : track.events) {
    if (critical.contains(event.task)) on_path.push_back(names.size());
    const Task& task = rank_class.tasks[event.task];
    starts.push_back(event.start_ns);
    durations.push_back(event.end_ns - event.start_ns);
    categories.push_back(static_cast<int>(main_category(task)));
    names.push_back(task.name);
  }
  return {{"rank", label},
          {"stream", rank_class.streams[track.stream].name},
          {"lane", track.lane},
          {"start_ns", starts},
          {"duration_ns", durations},
          {"category", categories},
          {"name", names},
          {"critical", on_path}};
}

Json gantt_json(const Record& record, const PageOptions& options) {
  Json tracks = Json::array();
  int left_out = 0;
  size_t spans = 0;
  if (!record.timeline.ranks.empty()) {
    const TimelineTracks timeline_tracks(record.plan, record.timeline);
    auto critical = critical_tasks(record);
    for (const int entry : rank_of_each_class(record.plan, record.timeline)) {
      const RankTimeline& rank = record.timeline.ranks[entry];
      const RankClass& rank_class = record.plan.classes[rank.rank_class];
      spans += rank_class.tasks.size();
      if (spans > static_cast<size_t>(options.max_spans)) {
        ++left_out;
        continue;
      }
      const std::string label =
          rank_class.name.empty() ? fmt::format("rank {}", rank.rank) : rank_class.name;
      for (const Track& track : timeline_tracks.tracks(entry)) {
        tracks.push_back(track_json(rank_class, label, track, critical[rank.rank_class]));
      }
    }
  }
  Json categories = Json::array();
  for (int i = 0; i < kCategories; ++i) categories.push_back(to_string(static_cast<Category>(i)));
  return {{"makespan_s", record.timeline.makespan_s},
          {"categories", categories},
          {"ranks_left_out", left_out},
          {"tracks", tracks}};
}

// A table read from a document, which may be damaged, needs at least one column.
void check_columns(const TextTable& table) {
  if (table.columns.empty()) throw Error("a table without columns");
}

// Every resolved value of a document that has them.
std::string values_html(const Json& document) {
  const auto values = document.find("values");
  if (values == document.end() || values->empty()) return "";
  TextTable table;
  for (const auto& [title, cell] : values->front().items()) table.columns.push_back({title});
  check_columns(table);
  for (const Json& value : *values) {
    table.rows.emplace_back();
    for (const Column& column : table.columns) table.rows.back().push_back(value.at(column.title));
  }
  return fmt::format(
      "<details><summary>All {} values of the job, with their origin</summary>{}"
      "</details>\n",
      values->size(), table_html(table));
}

void check_format(const Json& document, const std::string& file) {
  if (format_of(document) == kRecordFormat) return;
  throw Error(Location{file}, fmt::format("not a record of this version (format is not '{}'); run "
                                          "the scenario again with --out",
                                          kRecordFormat));
}

std::vector<SummaryRow> rows_of(const Json& array) {
  std::vector<SummaryRow> rows;
  for (const Json& row : array) {
    rows.push_back({row.at("label"), row.at("value"), row.value("detail", "")});
  }
  return rows;
}

TextTable table_of(const Json& json) {
  TextTable table;
  for (const Json& column : json.at("columns")) {
    const bool right = column.at("right");
    table.columns.push_back({column.at("title"), right ? Align::right : Align::left});
  }
  check_columns(table);
  for (const Json& row : json.at("rows")) {
    table.rows.push_back(row);
    if (table.rows.back().size() == table.columns.size()) continue;
    throw Error(fmt::format("a row of {} cells below {} columns", table.rows.back().size(),
                            table.columns.size()));
  }
  return table;
}

// Checks the data that the page's script draws.
void check_charts(const Json& document) {
  const Json& result = document.at("result");
  const Json& iteration = result.at("iteration");
  iteration.at("time_s").get<double>();
  iteration.at("critical_path_s").get_ref<const Json::object_t&>();
  result.at("origin").get_ref<const Json::object_t&>();
  const Json& memory = document.at("memory");
  memory.at("capacity_bytes").get<double>();
  for (const Json& rank : memory.at("ranks")) {
    for (const auto& [name, bytes] : rank.get_ref<const Json::object_t&>()) bytes.get<double>();
  }
  check_curves(memory.at("curves"));
  const Json& gantt = document.at("gantt");
  for (const char* key : {"makespan_s", "ranks_left_out"}) gantt.at(key).get<double>();
  const auto categories = gantt.at("categories").get<std::vector<std::string>>();
  for (const Json& track : gantt.at("tracks")) {
    for (const char* key : {"rank", "stream"}) track.at(key).get_ref<const std::string&>();
    check_parallel(track, {"start_ns", "duration_ns", "category", "name"});
    for (const Json& category : track.at("category")) {
      if (category.get<size_t>() < categories.size()) continue;
      throw Error(fmt::format("there is no category {}", category.get<size_t>()));
    }
    check_indices(track, "critical", track.at("name").size());
  }
}

}  // namespace

Json section_json(const SummarySection& section) {
  Json json = {{"title", section.title}, {"rows", rows_json(section.rows)}};
  if (!section.table.columns.empty()) json["table"] = table_json(section.table);
  return json;
}

SummarySection section_of(const Json& json) {
  SummarySection section{json.at("title"), rows_of(json.at("rows"))};
  const auto table = json.find("table");
  if (table != json.end()) section.table = table_of(*table);
  return section;
}

Json summary_json(const Answer& summary) {
  return {{"title", summary.title},
          {"subtitle", summary.subtitle},
          {"figures", rows_json(summary.figures)},
          {"sections", list_json(summary.sections, section_json)}};
}

// Sections with a table need the full width, so they come after the others.
std::string summary_html(const Answer& summary) {
  std::string html = header_html(summary.title, summary.subtitle) + figures_html(summary.figures);
  html += "<div class=\"sections\">";
  std::string wide;
  for (const SummarySection& section : summary.sections) {
    (section.table.columns.empty() ? html : wide) += section_html(section);
  }
  return fmt::format("{}</div>\n{}", html, wide);
}

Json page_document(const Record& record, const PageOptions& options) {
  Answer summary = summarise(record);
  if (auto ranks = rank_section(record, static_cast<size_t>(options.max_curves))) {
    summary.sections.push_back(std::move(*ranks));
  }
  return {{"format", kRecordFormat},
          {"summary", summary_json(summary)},
          {"source", source_json(record.source)},
          {"values", values_json(record.values)},
          {"result", run_document(record, false)},
          {"memory", memory_json(record, options)},
          {"gantt", gantt_json(record, options)}};
}

void check_page_document(const Json& document, const std::string& file) {
  check_format(document, file);
  check_drawable(file, [&] {
    html_page(document);
    check_charts(document);
  });
}

Json parse_page_document(const std::string& text, const std::string& file) {
  Json document = parse_json(text, file);
  check_page_document(document, file);
  return document;
}

MadeRecord made_record(const Json& document, const std::string& file) {
  check_format(document, file);
  try {
    return {source_of(document.at("source")), document.at("result").at("key")};
  } catch (const Json::exception& error) {
    throw Error(
        Location{file},
        fmt::format("does not contain the scenario that it was made from: {}", fault_of(error)));
  }
}

Answer summary_of(const Json& page_document) {
  const Json& json = page_document.at("summary");
  Answer summary{json.at("title"), json.at("subtitle"), rows_of(json.at("figures")), {}};
  for (const Json& section : json.at("sections")) {
    summary.sections.push_back(section_of(section));
  }
  return summary;
}

std::string html_page(const Json& page_document) {
  const Answer summary = summary_of(page_document);
  return filled_page(summary.title, summary_html(summary) + values_html(page_document),
                     page_document);
}

}  // namespace windtunnel
