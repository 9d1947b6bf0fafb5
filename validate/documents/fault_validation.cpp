#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/documents/kind_documents.hpp"
#include "validate/documents/validation.hpp"
#include "validate/documents/validation_rows.hpp"

namespace windtunnel {
namespace {

// From this width on, a range of a share tells little.
constexpr double kWide = 0.2;
// Within this share of its width from an end, a value is inside by chance.
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

// Returns the metrics in the order of their first row.
std::vector<std::string> metrics_of(const FaultValidation& validation) {
  std::vector<std::string> metrics;
  for (const FaultPrediction& row : validation.predictions) {
    if (std::ranges::find(metrics, row.metric) == metrics.end()) metrics.push_back(row.metric);
  }
  return metrics;
}

std::string measured_text(const FaultPrediction& row) {
  return fmt::format("{}{}{}", row.at_least ? ">" : "", number(row.measured),
                     row.unit.empty() ? "" : " " + row.unit);
}

const std::vector<Shown<FaultPrediction>>& prediction_columns() {
  static const std::vector<Shown<FaultPrediction>> columns = {
      {{"row"}, &FaultPrediction::name},
      {{"measured"}, measured_text},
      {{"predicted"}, [](const auto& row) { return number(row.predicted); }},
      {{"range"}, [](const auto& row) { return range_text(row.low, row.high); }},
      {{"width"}, [](const auto& row) { return number(row.width()); }},
      {{"verdict"}, verdict},
      {{"formula"}, [](const auto& row) { return rule_text(row.formula); }},
      {{"baseline"}, [](const auto& row) { return rule_text(row.baseline); }}};
  return columns;
}

// Makes a document for each metric, with its rows.
std::vector<Document> metric_documents(const FaultValidation& validation) {
  std::vector<Document> documents;
  for (const std::string& metric : metrics_of(validation)) {
    std::vector<const FaultPrediction*> rows;
    for (const FaultPrediction& row : validation.predictions) {
      if (row.metric == metric) rows.push_back(&row);
    }
    documents.push_back(
        {{}, {{"metric", metric}, {"table", table_of(rows, prediction_columns())}}});
  }
  return documents;
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

// Remarks that a reader needs about a row.
std::vector<std::string> remarks_of(const FaultPrediction& row) {
  std::vector<std::string> remarks;
  if (!row.note.empty()) remarks.push_back(row.note);
  if (row.unrestricted) {
    remarks.push_back(fmt::format("over the whole ranges: {}",
                                  range_text(row.unrestricted->low, row.unrestricted->high)));
  }
  if (!row.inside()) remarks.emplace_back("the measured value is outside");
  const double margin = std::min(row.measured - row.low, row.high - row.measured);
  if (row.inside() && row.tolerance == 0 && !row.at_least && margin < kEdge * row.width()) {
    remarks.emplace_back("inside, but at the edge of the range");
  }
  if (row.unit.empty() && row.width() > kWide && row.largest() != nullptr) {
    remarks.push_back(fmt::format(
        "the range is wide, so it says little: {} is not known well enough", row.largest()->name));
  }
  return remarks;
}

TextTable inputs_table(const std::vector<FaultPrediction>& predictions) {
  TextTable inputs = titled_table("row | input | range | moves the result by | why");
  for (const FaultPrediction& row : predictions) {
    for (const FaultInput& input : row.unpublished) {
      inputs.rows.push_back(
          {row.name, input.name, input_range(input), swing_text(row, input), source_text(input)});
    }
  }
  return inputs;
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

Json faults_json(const FaultValidation& validation) {
  Json document = validation_json(validation.report);
  Json unpublished = Json::array();
  // The report skips rows that are not finite; the others keep their order.
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

Document faults_document(const FaultValidation& validation) {
  Document document = judged_document("faults", validation.report);
  document["metrics"] = metric_documents(validation);
  document["inputs"] = inputs_table(validation.predictions);
  std::vector<Document> rows;
  TextTable remarks = titled_table("row | remark");
  for (const FaultPrediction& row : validation.predictions) {
    if (!row.unpublished.empty()) {
      rows.push_back({{}, {{"row", row.name}, {"inputs", inputs_table({row})}}});
    }
    for (const std::string& remark : remarks_of(row)) remarks.rows.push_back({row.name, remark});
  }
  document["rows"] = std::move(rows);
  document["remarks"] = std::move(remarks);
  TextTable rates = titled_table("rate | value | rows");
  for (const FaultRate& rate : validation.rates) {
    rates.rows.push_back(
        {rate.name, fmt::format("{} {}", number(rate.value), rate.unit), rate.rows});
  }
  document["rates"] = std::move(rates);
  document["predicted"] = std::to_string(validation.predictions.size());
  document["inside"] = std::to_string(
      std::ranges::count_if(validation.predictions, [](const auto& row) { return row.inside(); }));
  return document;
}

std::vector<SummarySection> fault_sections(const FaultValidation& validation) {
  Document document = faults_document(validation);
  const auto table = [&](const char* name) { return std::get<TextTable>(document[name]); };
  std::vector<SummarySection> sections;
  for (Document& metric : std::get<std::vector<Document>>(document["metrics"])) {
    sections.push_back(
        {std::get<std::string>(metric["metric"]), {}, std::get<TextTable>(metric["table"])});
  }
  sections.push_back({"Inputs that the sources do not publish", {}, table("inputs")});
  if (sections.back().table.rows.empty()) sections.pop_back();
  SummarySection remarks{"Notes on these rows", {}, {}};
  for (const auto& cells : table("remarks").rows) remarks.rows.push_back({cells[0], cells[1]});
  for (const auto& cells : table("rates").rows) {
    remarks.add(cells[0], "{}, {}", cells[1], cells[2]);
  }
  if (!remarks.rows.empty()) sections.push_back(std::move(remarks));
  return sections;
}

}  // namespace windtunnel
