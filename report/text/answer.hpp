// What a command answers, once: its printers make text for a console (report/console), a page
// (report/answer/answer_page.hpp) and a document for programs of the same value.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/text/table.hpp"

namespace windtunnel {

using Json = nlohmann::ordered_json;
// Called by the printer that shows it: what it captures has to live until then.
using MakesJson = std::function<Json()>;

// Where a part stands that not every printer shows: an answer may be brief on the console and
// complete on its page.
enum class ShownOn { everywhere, console, page };

struct SummaryRow {
  std::string label;
  std::string value;
  std::string detail{};  // of a figure: its interval, or what it is of
  ShownOn where = ShownOn::everywhere;
};

// "24.4 d  (15.4 d .. 41.0 d)".
inline std::string with_detail(const SummaryRow& row) {
  return row.detail.empty() ? row.value : row.value + "  (" + row.detail + ")";
}

// A titled part has a table, and rows below it. One with a chart is drawn, and has nothing else.
struct SummarySection {
  std::string title;
  std::vector<SummaryRow> rows;
  TextTable table{};  // stands above the rows; without columns: none
  ShownOn where = ShownOn::everywhere;
  bool with_figures = false;  // on the console the answer's figures are its first rows
  MakesJson chart{};          // of report/answer/charts.hpp; empty: none
  bool half = false;          // a chart beside the next or the previous one where there is room
};

inline SummarySection chart_section(MakesJson chart, bool half = false) {
  return {.title = {}, .rows = {}, .chart = std::move(chart), .half = half};
}

struct Answer {
  std::string title;
  std::string subtitle;             // what decides: model, machine, layout and the like
  std::vector<SummaryRow> figures;  // the numbers that matter most
  std::vector<SummarySection> sections;
  std::vector<std::string> warnings = {};  // sentences
  std::vector<std::string> plain = {};     // units that charts write as plain numbers
  std::string kind = {};                   // of its document: "plan" is windtunnel/plan/1
  MakesJson document = {};
  std::string drawing = {};  // in characters, below all on a console, whose lines are not broken
};

// What a terminal can show beside plain text.

inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kPlain = "\x1b[0m";

struct ConsoleStyle {
  bool colour = false;  // ANSI bold for titles; only for a terminal
  size_t width = 0;     // characters of a line, which tables fit; 0: as wide as they are
  bool notes = true;    // what is said beside the answer

  std::string bold(const std::string& text) const {
    return colour ? std::string(kBold).append(text).append(kPlain) : text;
  }
};

}  // namespace windtunnel
