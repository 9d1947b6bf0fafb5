#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "report/page_assets.hpp"
#include "traces/tracks.hpp"

namespace windtunnel {
namespace {

constexpr const char* kFormat = "windtunnel-record-1";

Json rows_json(const std::vector<SummaryRow>& rows) {
  Json array = Json::array();
  for (const SummaryRow& row : rows) array.push_back({{"label", row.label}, {"value", row.value}});
  return array;
}

Json summary_json(const Summary& summary) {
  Json sections = Json::array();
  for (const SummarySection& section : summary.sections) {
    sections.push_back({{"title", section.title}, {"rows", rows_json(section.rows)}});
  }
  return {{"title", summary.title},
          {"subtitle", summary.subtitle},
          {"figures", rows_json(summary.figures)},
          {"sections", sections}};
}

Json memory_json(const Record& record) {
  Json ranks = Json::array();
  for (const GpuMemory& rank : record.iteration.memory) {
    ranks.push_back({{"weights", rank.weights},
                     {"gradients", rank.gradients},
                     {"optimizer", rank.optimizer},
                     {"activations", rank.activations},
                     {"buffers", rank.buffers},
                     {"framework", rank.framework + rank.fragmentation}});
  }
  return {{"capacity_bytes", record.job.cluster.node.gpu.memory_bytes.value}, {"ranks", ranks}};
}

// Parallel arrays, one entry per task: a tenth of the size of one object per task.
Json track_json(const RankClass& rank_class, const std::string& label, const Track& track) {
  Json starts = Json::array(), durations = Json::array(), categories = Json::array(),
       names = Json::array();
  for (const TrackEvent& event : track.events) {
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
          {"name", names}};
}

// Ranks of one class look alike: the first recorded one of each is drawn.
std::vector<int> drawn_entries(const Record& record) {
  std::vector<bool> seen(record.plan.classes.size(), false);
  std::vector<int> entries;
  for (size_t i = 0; i < record.timeline.ranks.size(); ++i) {
    const auto rank_class = static_cast<size_t>(record.timeline.ranks[i].rank_class);
    if (seen[rank_class]) continue;
    seen[rank_class] = true;
    entries.push_back(static_cast<int>(i));
  }
  return entries;
}

Json gantt_json(const Record& record, const PageOptions& options) {
  Json tracks = Json::array();
  int left_out = 0;
  size_t spans = 0;
  if (!record.timeline.ranks.empty()) {
    const TimelineTracks timeline_tracks(record.plan, record.timeline);
    for (const int entry : drawn_entries(record)) {
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
        tracks.push_back(track_json(rank_class, label, track));
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

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// Inside of <script type="application/json"> a "<" could open "</script>" or "<!--".
std::string script_safe_json(const Json& document) {
  std::string safe;
  for (const char c : document.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string summary_html(const Summary& summary) {
  std::string html = fmt::format("<header><h1>{}</h1><p>{}</p></header>\n<dl class=\"figures\">",
                                 escape_html(summary.title), escape_html(summary.subtitle));
  for (const SummaryRow& row : summary.figures) {
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape_html(row.label),
                        escape_html(row.value));
  }
  html += "</dl>\n<div class=\"sections\">";
  for (const SummarySection& section : summary.sections) {
    html += fmt::format("<section><h2>{}</h2><table>", escape_html(section.title));
    for (const SummaryRow& row : section.rows) {
      html += fmt::format("<tr><th>{}</th><td>{}</td></tr>", escape_html(row.label),
                          escape_html(row.value));
    }
    html += "</table></section>\n";
  }
  return html + "</div>";
}

std::vector<SummaryRow> rows_of(const Json& array) {
  std::vector<SummaryRow> rows;
  for (const Json& row : array) rows.push_back({row.at("label"), row.at("value")});
  return rows;
}

// The marks are looked for in the template only, never in what replaces them.
std::string fill(std::string_view pattern,
                 const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  std::string filled;
  while (!pattern.empty()) {
    const size_t open = pattern.find("{{");
    filled += pattern.substr(0, open);
    if (open == std::string_view::npos) break;
    const size_t close = pattern.find("}}", open);
    const std::string_view mark = pattern.substr(open + 2, close - open - 2);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& entry) { return entry.first == mark; });
    CHECK(value != values.end(), "unknown mark {{{{{}}}}} in the page's template", mark);
    filled += value->second;
    pattern.remove_prefix(close + 2);
  }
  return filled;
}

}  // namespace

Json page_document(const Record& record, const PageOptions& options) {
  return {{"format", kFormat},
          {"summary", summary_json(summarise(record))},
          {"result", run_document(record, false)},
          {"memory", memory_json(record)},
          {"gantt", gantt_json(record, options)}};
}

Json parse_page_document(const std::string& text, const std::string& file) {
  Json document = Json::parse(text, nullptr, false);
  if (!document.is_object()) throw Error(Location{file}, "not a JSON object: damaged or cut off");
  const auto format = document.find("format");
  if (format == document.end() || *format != kFormat) {
    throw Error(Location{file}, fmt::format("not a record of this version (format is not '{}'); "
                                            "run the scenario again with --out",
                                            kFormat));
  }
  try {
    summary_of(document);
    for (const char* part : {"result", "memory", "gantt"}) document.at(part);
  } catch (const Json::exception& error) {
    throw Error(Location{file}, fmt::format("damaged record: {}", error.what()));
  }
  return document;
}

Summary summary_of(const Json& page_document) {
  const Json& json = page_document.at("summary");
  Summary summary{json.at("title"), json.at("subtitle"), rows_of(json.at("figures")), {}};
  for (const Json& section : json.at("sections")) {
    summary.sections.push_back({section.at("title"), rows_of(section.at("rows"))});
  }
  return summary;
}

std::string html_page(const Json& page_document) {
  const Summary summary = summary_of(page_document);
  const std::string title = escape_html(summary.title);
  const std::string body = summary_html(summary);
  const std::string data = script_safe_json(page_document);
  return fill(page_template(),
              {{"title", title}, {"body", body}, {"data", data}, {"script", page_script()}});
}

}  // namespace windtunnel
