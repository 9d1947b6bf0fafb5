#include "report/validation/fault_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/text/markdown.hpp"
#include "report/text/table.hpp"
#include "report/validation/validation.hpp"
#include "report/validation/validation_rows.hpp"

namespace windtunnel {
namespace {

// From here on a range of a share says little.
constexpr double kWide = 0.2;
// So near to an end of the range, in widths, a value is inside by luck.
constexpr double kEdge = 0.05;

std::string number(double value) {
  return fmt::format("{:.4g}", value);
}

std::string range_text(double low, double high) {
  return low == high ? number(low) : fmt::format("{} .. {}", number(low), number(high));
}

std::string rule_text(const std::optional<FaultRule>& rule) {
  return rule ? fmt::format("{} ({})", number(rule->value), rule->name) : "-";
}

std::string verdict(const FaultPrediction& row) {
  if (row.tolerance == 0) return row.inside() ? "inside" : "OUTSIDE";
  const double error = std::abs(row.predicted - row.measured) / std::abs(row.measured);
  return fmt::format("{} ({:.1f} % off, {:g} % allowed)", row.inside() ? "inside" : "OUTSIDE",
                     100 * error, 100 * row.tolerance);
}

// The kinds of value, in the order of their first row.
std::vector<std::string> metrics_of(const FaultValidation& validation) {
  std::vector<std::string> metrics;
  for (const FaultPrediction& row : validation.predictions) {
    if (std::ranges::find(metrics, row.metric) == metrics.end()) metrics.push_back(row.metric);
  }
  return metrics;
}

std::vector<std::string> titles() {
  return {"row", "measured", "predicted", "range", "width", "verdict", "formula", "baseline"};
}

std::vector<std::string> cells_of(const FaultPrediction& row) {
  return {row.name,
          fmt::format("{}{}{}", row.at_least ? ">" : "", number(row.measured),
                      row.unit.empty() ? "" : " " + row.unit),
          number(row.predicted),
          range_text(row.low, row.high),
          number(row.width()),
          verdict(row),
          rule_text(row.formula),
          rule_text(row.baseline)};
}

TextTable metric_table(const FaultValidation& validation, const std::string& metric) {
  TextTable table;
  for (const std::string& title : titles()) table.columns.push_back({title});
  for (const FaultPrediction& row : validation.predictions) {
    if (row.metric == metric) table.rows.push_back(cells_of(row));
  }
  return table;
}

std::string input_range(const FaultInput& input) {
  return fmt::format("{} .. {}{}", number(input.low), number(input.high),
                     input.unit.empty() ? "" : " " + input.unit);
}

std::string swing_text(const FaultPrediction& row, const FaultInput& input) {
  return fmt::format("{}{}", number(input.swing), &input == row.largest() ? " (most)" : "");
}

std::string source_text(const FaultInput& input) {
  return fmt::format("{}: {}", input.stated ? "stated range" : to_string(input.origin), input.why);
}

// What a reader must know of a row.
std::vector<std::string> remarks_of(const FaultPrediction& row) {
  std::vector<std::string> remarks;
  if (!row.note.empty()) remarks.push_back(row.note);
  if (row.unrestricted) {
    remarks.push_back(fmt::format("over the whole ranges: {}",
                                  range_text(row.unrestricted->low, row.unrestricted->high)));
  }
  if (!row.inside()) remarks.emplace_back("the measured value lies outside");
  const double margin = std::min(row.measured - row.low, row.high - row.measured);
  if (row.inside() && row.tolerance == 0 && !row.at_least && margin < kEdge * row.width()) {
    remarks.emplace_back("inside, but at the edge of the range");
  }
  if (row.unit.empty() && row.width() > kWide && row.largest() != nullptr) {
    remarks.push_back(
        fmt::format("wide, so it says little: {} is not known well enough", row.largest()->name));
  }
  return remarks;
}

int count_outside(const FaultValidation& validation) {
  return static_cast<int>(
      std::ranges::count_if(validation.predictions, [](const auto& row) { return !row.inside(); }));
}

std::string parameter_text(const FaultRate& rate) {
  return fmt::format("{}: {} {}, {}", rate.name, number(rate.value), rate.unit, rate.rows);
}

std::string summary(const FaultValidation& validation) {
  const int rows = static_cast<int>(validation.predictions.size());
  return fmt::format("{} of {} predicted values are inside; {} rows are not predicted",
                     rows - count_outside(validation), rows, validation.report.skipped.size());
}

Json rule_json(const std::optional<FaultRule>& rule) {
  if (!rule) return nullptr;
  return {{"name", rule->name}, {"value", rule->value}};
}

void add_to_row(Json& row, const FaultPrediction& prediction) {
  row["name"] = prediction.name;
  row["system"] = prediction.system;
  row["unit"] = prediction.unit;
  row["at_least"] = prediction.at_least;
  row["inside"] = prediction.inside();
  row["tolerance"] = prediction.tolerance;
  row["formula"] = rule_json(prediction.formula);
  row["baseline"] = rule_json(prediction.baseline);
  row["unrestricted"] = nullptr;
  if (prediction.unrestricted) {
    row["unrestricted"] = {{"low", prediction.unrestricted->low},
                           {"high", prediction.unrestricted->high}};
  }
  row["note"] = prediction.note;
}

Json input_json(const FaultPrediction& row, const FaultInput& input) {
  return {{"id", row.id},
          {"name", row.name},
          {"input", input.name},
          {"unit", input.unit},
          {"low", input.low},
          {"high", input.high},
          {"why", input.why},
          {"origin", to_string(input.origin)},
          {"stated", input.stated},
          {"swing", input.swing},
          {"moves_most", &input == row.largest()}};
}

}  // namespace

Json faults_document(const FaultValidation& validation) {
  Json document = validation_document(validation.report);
  Json unpublished = Json::array();
  // Rows that are not finite are skipped in the report; the others keep their order.
  size_t at = 0;
  for (const FaultPrediction& prediction : validation.predictions) {
    Json& rows = document["rows"];
    if (at < rows.size()) add_to_row(rows[at++], prediction);
    for (const FaultInput& input : prediction.unpublished) {
      unpublished.push_back(input_json(prediction, input));
    }
  }
  document["unpublished"] = unpublished;
  Json parameters = Json::array();
  for (const FaultRate& rate : validation.rates) {
    parameters.push_back(
        {{"name", rate.name}, {"value", rate.value}, {"unit", rate.unit}, {"rows", rate.rows}});
  }
  document["parameters"] = parameters;
  return document;
}

std::vector<SummarySection> fault_sections(const FaultValidation& validation) {
  std::vector<SummarySection> sections;
  for (const std::string& metric : metrics_of(validation)) {
    sections.push_back({metric, {}, metric_table(validation, metric)});
  }
  SummarySection inputs{"Inputs that the sources do not publish", {}, {}};
  inputs.table.columns = {{"row"}, {"input"}, {"range"}, {"moves the result by"}, {"why"}};
  SummarySection remarks{"What to know of these rows", {}, {}};
  for (const FaultPrediction& row : validation.predictions) {
    for (const FaultInput& input : row.unpublished) {
      inputs.table.rows.push_back(
          {row.name, input.name, input_range(input), swing_text(row, input), source_text(input)});
    }
    for (const std::string& remark : remarks_of(row)) remarks.rows.push_back({row.name, remark});
  }
  for (const FaultRate& rate : validation.rates) {
    remarks.rows.push_back(
        {rate.name, fmt::format("{} {}, {}", number(rate.value), rate.unit, rate.rows)});
  }
  if (!inputs.table.rows.empty()) sections.push_back(std::move(inputs));
  if (!remarks.rows.empty()) sections.push_back(std::move(remarks));
  return sections;
}

std::string faults_text(const FaultValidation& validation, std::size_t width) {
  std::string text;
  for (const std::string& metric : metrics_of(validation)) {
    text += fmt::format("{}\n{}\n", metric, table_text(metric_table(validation, metric), width));
  }
  if (std::ranges::any_of(validation.predictions,
                          [](const FaultPrediction& row) { return !row.unpublished.empty(); })) {
    text += "Inputs that the sources do not publish, and what they are taken to be:\n";
  }
  for (const FaultPrediction& row : validation.predictions) {
    if (row.unpublished.empty()) continue;
    text += fmt::format("  {}\n", row.name);
    for (const FaultInput& input : row.unpublished) {
      text += fmt::format("    {}: {}, moves the result by {}; {}\n", input.name,
                          input_range(input), swing_text(row, input), source_text(input));
    }
  }
  for (const FaultPrediction& row : validation.predictions) {
    for (const std::string& remark : remarks_of(row)) {
      text += fmt::format("{}: {}\n", row.name, remark);
    }
  }
  for (const FaultRate& rate : validation.rates) text += parameter_text(rate) + "\n";
  text += summary(validation) + "\n";
  for (const SkippedRow& row : validation.report.skipped) {
    text += fmt::format("  {}: {}\n", without_folder(row.id), row.reason);
  }
  return text;
}

namespace {

std::string page_inputs(const FaultValidation& validation) {
  std::string lines;
  for (const FaultPrediction& row : validation.predictions) {
    for (const FaultInput& input : row.unpublished) {
      lines += markdown_row(
          {row.name, input.name, input_range(input), swing_text(row, input), source_text(input)});
    }
  }
  if (lines.empty()) return "None.\n";
  return markdown_header({"row", "input", "range", "moves the result by", "why"}, 5) + lines;
}

std::string page_remarks(const FaultValidation& validation) {
  std::string lines;
  for (const FaultPrediction& row : validation.predictions) {
    for (const std::string& remark : remarks_of(row)) {
      lines += fmt::format("- {}: {}.\n", row.name, remark);
    }
  }
  return lines.empty() ? "None.\n" : lines;
}

std::string page_skipped_faults(const FaultValidation& validation) {
  std::string text;
  for (const SkippedRow& row : validation.report.skipped) text += "- " + row.reason + ".\n";
  return text.empty() ? "None.\n" : text;
}

}  // namespace

std::string faults_page(const FaultValidation& validation, const std::string& command) {
  std::string text = fmt::format(
      "# Predicted against published: training under failures\n\nMade by `{}`; not written by "
      "hand.\n\n"
      "Every row is predicted from what its source states. An input that the source leaves out is "
      "a "
      "range,\nchosen from other systems before anything was predicted and the same for all rows; "
      "the prediction is\nthe range of results over these. Shares of time are simulated campaigns; "
      "the published formula and a\nsimple rule stand beside them. A value is inside when the "
      "range "
      "holds it, when a bound stands below the\nrange's upper end, or, where nothing is left open, "
      "within the tolerance shown. Metrics are not mixed:\neffective training time, expected ETTR "
      "and useful compute / elapsed are defined differently.\n\n"
      "Of every simulated job it is assumed that its restart time contains detection and loading, "
      "and that\nanother node is there at once, unless the row lists spare nodes. Where the "
      "published value was itself made\nby a formula, gaps between failures are exponential as in "
      "that formula.\n\n{}.\n",
      command, summary(validation));
  for (const std::string& metric : metrics_of(validation)) {
    text += fmt::format("\n## {}\n\n{}", metric, markdown_header(titles(), titles().size()));
    for (const FaultPrediction& row : validation.predictions) {
      if (row.metric == metric) text += markdown_row(cells_of(row));
    }
  }
  text += "\n## Inputs that the sources do not publish\n\n" + page_inputs(validation);
  text += "\n## Remarks\n\n" + page_remarks(validation);
  text += "\n## Rates that rows share; those fitted on are not blind\n\n";
  for (const FaultRate& rate : validation.rates) text += "- " + parameter_text(rate) + ".\n";
  return text + "\n## Rows that are not predicted\n\n" + page_skipped_faults(validation);
}

}  // namespace windtunnel
