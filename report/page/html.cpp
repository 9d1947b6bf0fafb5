#include "report/page/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/base/error.hpp"
#include "report/figures/figures.hpp"
#include "report/page/page_assets.hpp"

namespace windtunnel {
namespace {

// Escapes "<", which could open "</script>" or "<!--" inside <script type="application/json">.
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

// Looks for marks only in the template, never in the text that replaces them.
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

// The meaning of a word in docs/reference/glossary.md; empty if it has none or several.
std::string meaning_of(std::string_view word) {
  std::string meaning;
  for (const PageWord& each : page_glossary()) {
    if (each.word != word) continue;
    if (!meaning.empty()) return "";
    meaning = each.meaning;
  }
  return meaning;
}

}  // namespace

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

std::string term_html(std::string_view title, std::string_view group) {
  std::vector<const Figure*> named;
  for (const Figure* each : figures_below(group)) {
    if (each->title == title) named.push_back(each);
  }
  const bool of_group = !named.empty();
  for (const Figure& each : figures()) {
    // A column "measured" does not mean the share of measured inputs, although the titles are
    // equal.
    const bool anywhere = !each.key.starts_with("origin.");
    if (!of_group && anywhere && each.title == title) named.push_back(&each);
  }
  // If several figures match and their help differs, none is shown.
  const bool sure = !named.empty() && std::ranges::all_of(named, [&](const Figure* each) {
    return each->help == named.front()->help;
  });
  const std::string help = sure ? named.front()->help : meaning_of(title);
  if (help.empty()) return escape_html(title);
  return fmt::format("<span class=\"term\" tabindex=\"0\" title=\"{}\">{}</span>",
                     escape_html(help), escape_html(title));
}

std::string table_html(const TextTable& table) {
  std::string html = "<div class=\"scroll\"><table class=\"comparison\"><thead><tr>";
  for (const Column& column : table.columns) {
    html +=
        fmt::format("<th scope=\"col\"{}>{}</th>",
                    column.align == Align::left ? " class=\"left\"" : "", term_html(column.title));
  }
  html += "</tr></thead><tbody>";
  for (const std::vector<std::string>& row : table.rows) {
    CHECK(row.size() == table.columns.size(), "a row of {} cells below {} columns", row.size(),
          table.columns.size());
    CHECK(!row.empty(), "a table without columns");
    const std::string name =
        meaning_of(row.front()).empty() ? escape_html(row.front()) : term_html(row.front());
    html += fmt::format("<tr><th scope=\"row\">{}</th>", name);
    for (size_t i = 1; i < row.size(); ++i) {
      const bool left = table.columns[i].align == Align::left;
      html += fmt::format("<td{}>{}</td>", left ? " class=\"left\"" : "", escape_html(row[i]));
    }
    html += "</tr>";
  }
  return html + "</tbody></table></div>";
}

std::string header_html(std::string_view title, std::string_view subtitle) {
  return fmt::format("<header><h1>{}</h1><p>{}</p></header>\n", escape_html(title),
                     escape_html(subtitle));
}

std::string figures_html(const std::vector<SummaryRow>& figures) {
  if (figures.empty()) return "";
  std::string html = "<dl class=\"figures\">";
  for (const SummaryRow& row : figures) {
    const std::string detail =
        row.detail.empty() ? "" : fmt::format("<small>{}</small>", escape_html(row.detail));
    html += fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>", term_html(row.label),
                        escape_html(row.value), detail);
  }
  return html + "</dl>\n";
}

std::string section_html(const SummarySection& section) {
  std::string html = fmt::format("<section><h2>{}</h2>", escape_html(section.title));
  if (!section.table.columns.empty()) html += table_html(section.table);
  const auto shown = std::ranges::find(figure_groups(), section.title, &FigureGroup::title);
  const std::string_view group = shown == figure_groups().end() ? "" : shown->key;
  html += "<table>";
  for (const SummaryRow& row : section.rows) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
                        term_html(row.label, group), escape_html(row.value));
  }
  return html + "</table></section>\n";
}

void check_drawable(const std::string& file, const std::function<void()>& draw) {
  const auto fail = [&](std::string_view what) {
    throw Error(Location{file}, fmt::format("damaged record: {}; make it again with --out", what));
  };
  try {
    draw();
  } catch (const Json::exception& error) {
    fail(fault_of(error));
  } catch (const Error& error) {
    fail(error.what());
  }
}

std::string filled_page(std::string_view title, std::string_view body, const Json& data,
                        PageReach reach) {
  const std::string escaped_title = escape_html(title);
  const std::string safe_data = script_safe_json(data);
  Json described = presentation_json();
  for (const PageWord& each : page_glossary()) {
    const std::string meaning = meaning_of(each.word);
    if (!meaning.empty()) described["words"][std::string(each.word)] = meaning;
  }
  const std::string presentation = script_safe_json(described);
  return fill(page_template(), {{"title", escaped_title},
                                {"body", body},
                                {"connect", reach == PageReach::its_server ? "'self'" : "'none'"},
                                {"presentation", presentation},
                                {"data", safe_data},
                                {"script", page_script()}});
}

}  // namespace windtunnel
