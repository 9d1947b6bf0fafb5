// The answer of a command, made once. Printers turn it into text for a console (report/console), a
// page (report/answer/command_answers.hpp) and a document for programs.
#pragma once

#include <fmt/format.h>

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
// The printer that shows the part calls it. Captured values must live until then.
using MakesJson = std::function<Json()>;

// Where a part is shown: an answer may be brief on the console and complete on its page.
enum class ShownOn { everywhere, console, page };

struct SummaryRow {
  std::string label;
  std::string value;
  std::string detail{};  // of a figure: its interval, or what it refers to
  ShownOn where = ShownOn::everywhere;
};

// "24.4 d  (15.4 d .. 41.0 d)".
inline std::string with_detail(const SummaryRow& row) {
  return row.detail.empty() ? row.value : row.value + "  (" + row.detail + ")";
}

// A titled part with a table above rows. A part with a chart has only the chart.
struct SummarySection {
  std::string title;
  std::vector<SummaryRow> rows;
  TextTable table{};  // above the rows; no columns: no table
  ShownOn where = ShownOn::everywhere;
  bool with_figures = false;  // on the console, its rows begin with the answer's figures
  MakesJson chart{};          // of report/answer/charts.hpp; empty: none
  bool half = false;          // a chart that shares the width with its neighbour if there is room

  // Adds a row whose value is formatted as by fmt::format().
  template <class... Args>
  void add(std::string label, fmt::format_string<Args...> value, Args&&... args) {
    rows.push_back({std::move(label), fmt::format(value, std::forward<Args>(args)...)});
  }
};

inline SummarySection chart_section(MakesJson chart, bool half = false) {
  return {.title = {}, .rows = {}, .chart = std::move(chart), .half = half};
}

struct Answer {
  std::string title;
  std::string subtitle;             // the main inputs: model, machine, layout and the like
  std::vector<SummaryRow> figures;  // the numbers that matter most
  std::vector<SummarySection> sections;
  std::vector<std::string> warnings = {};  // sentences
  std::vector<std::string> plain = {};     // units whose values charts write without a unit
  std::string kind = {};                   // kind of document: "plan" gives windtunnel/plan/1
  MakesJson document = {};
  // A drawing of characters, last on the console; its lines are not wrapped.
  std::string drawing = {};
};

// These are the abilities and width of a terminal.

inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kPlain = "\x1b[0m";

struct ConsoleStyle {
  bool colour = false;  // ANSI bold for titles; only for a terminal
  size_t width = 0;     // of a line, in characters; tables fit into it; 0: unlimited
  bool notes = true;    // prints notes and warnings besides the answer

  std::string bold(const std::string& text) const {
    return colour ? std::string(kBold).append(text).append(kPlain) : text;
  }
};

}  // namespace windtunnel
