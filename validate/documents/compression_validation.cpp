#include <fmt/format.h>

#include <optional>
#include <vector>

#include "models/base/units.hpp"
#include "validate/documents/kind_documents.hpp"
#include "validate/documents/validation.hpp"
#include "validate/documents/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr double kMissAbove = 0.1;

// A time, or a plain number if the metric is not a time.
std::string time_or_number(const ValidationRow& row, double value) {
  return row.metric.ends_with("_s") ? format_seconds(value) : fmt::format("{:.3g}", value);
}

std::string bytes_or_never(const std::optional<double>& bytes) {
  return bytes ? format_bytes(*bytes) : "never";
}

const std::vector<Shown<Crossover>>& crossover_columns() {
  static const std::vector<Shown<Crossover>> columns = {
      {{"all-reduce"},
       [](const auto& of) {
         return of.method + (of.fitted ? " (with kernels fitted on it)" : "");
       }},
      {{"pays from, measured", Align::right},
       [](const auto& of) { return bytes_or_never(of.measured_bytes); }},
      {{"predicted", Align::right},
       [](const auto& of) { return bytes_or_never(of.predicted_bytes); }}};
  return columns;
}

TextTable texts_table(const char* title, const std::vector<std::string>& texts) {
  TextTable table = titled_table(title);
  for (const std::string& text : texts) table.rows.push_back({text});
  return table;
}

}  // namespace

Json compression_json(const CompressionValidation& validation) {
  Json document = validation_json(validation.report);
  document["laws"] = validation.laws;
  document["order"] = {{"pairs", validation.order.pairs},
                       {"right", validation.order.right},
                       {"all_reduce_pairs", validation.all_reduce_order.pairs},
                       {"all_reduce_right", validation.all_reduce_order.right},
                       {"wrong", validation.order.wrong}};
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json(nullptr);
  };
  document["crossovers"] = Json::array();
  for (const Crossover& crossover : validation.crossovers) {
    document["crossovers"].push_back({{"method", crossover.method},
                                      {"fitted", crossover.fitted},
                                      {"measured_bytes", number(crossover.measured_bytes)},
                                      {"predicted_bytes", number(crossover.predicted_bytes)}});
  }
  return document;
}

Document compression_document(const CompressionValidation& validation, int worst) {
  const ValidationReport& report = validation.report;
  Document document = judged_document("compression", report);
  document["pairs"] = std::to_string(validation.order.pairs);
  document["right"] = std::to_string(validation.order.right);
  document["own_pairs"] = std::to_string(validation.all_reduce_order.pairs);
  document["own_right"] = std::to_string(validation.all_reduce_order.right);
  document["wrong"] = texts_table("pair", validation.order.wrong);
  document["laws"] = texts_table("law", validation.laws);
  document["crossovers"] = table_of(validation.crossovers, crossover_columns());
  document["worst"] =
      rows_table(worst_first(report, -1, static_cast<std::size_t>(worst)), time_or_number);
  add_misses(document, rows_table(worst_first(report, kMissAbove), time_or_number), kMissAbove);
  document["fit_where"] = usual_fit_rows();
  return document;
}

}  // namespace windtunnel
