#include "report/validation/compression_validation.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "models/base/units.hpp"
#include "report/text/markdown.hpp"
#include "report/text/table.hpp"
#include "report/validation/validation.hpp"
#include "report/validation/validation_rows.hpp"

namespace windtunnel {
namespace {

constexpr double kMissAbove = 0.1;

constexpr const char* kIntroduction = R"(# Exchange of gradients: predicted against measured

`{}`

Every row is predicted by the product's own model: a job of data parallelism whose GPU has the speed
of the measured step on one GPU. What the rows then tell is exchange alone.

- BSP, WFBP, MG-WFBP, ByteScheduler, -PS (parameter servers): one cluster of 8 nodes with four GPUs,
  three networks. One law per network (share of the NIC's bandwidth, latency of a step), one of
  PCIe, and what software costs: a collective, ByteScheduler's hooks. As the benchmark's scripts
  start them, servers stand on as many machines of their own as there are nodes, ByteScheduler-PS
  waits for all gradients as WFBP-PS does, and BERT's sentences have 64 tokens. Of servers: what
  they reach of the NIC and over a TCP connection, copies over PCIe, the start of an exchange.
  Fitted without the judged rows; unless --fit-where says otherwise, on
  `{}`.
  "suspect": servers on 100GbE that are as slow as on 10GbE.
  All step by SGD with momentum, though the benchmark trains BERT by transformers.AdamW (76 B a
  parameter): with that WFBP comes out at 6.3 %, MG-WFBP 4.1 %, ByteScheduler 7.6 %, and 211 of 232
  pairs in order, ByteScheduler's fewer; why is open.
- gTop-k rows: each network from what was fitted on another one: selection and software per element,
  and what of 1 Gb/s dense gradients get on so many nodes, which congest.
- DDP buckets: the step over that on one GPU, so that an error of 1 % is a point of growth. Fitted
  on ResNet-50 on V100: how far GPUs spread, what collectives cost, what they take from kernels.
  Copies into buckets are in both steps. The source prints milliseconds: a note says how far that
  alone can move a row.
- All-reduce in one node: the link from the plain all-reduce, kernels from int8.
- "inferred", "recalled": rows whose machine or evidence is not the source's own; never judged
  against a bound.

"fitted": further rows of the family that were fitted on. "in 90 %": the share of rows whose
measured value lies in the prediction's interval, which is wide enough for nine tenths of the rows
that its law was fitted on, each number of GPUs, and of links each model, left out in turn. The last
columns are the MAPE of simpler rules.

)";

std::vector<std::string> exchange_cells(const ValidationFamily& family,
                                        const std::vector<std::string>& rules) {
  const bool judged = family.rows > 0;
  const auto error = [&](double share) { return judged ? percent(share) : std::string("-"); };
  std::vector<std::string> cells = {family.name,
                                    family.metric,
                                    std::to_string(family.rows),
                                    std::to_string(family.fitted),
                                    error(family.mape),
                                    error(family.median_ape),
                                    error(family.worst.relative_error()),
                                    family.coverage90 ? percent(*family.coverage90) : "-"};
  for (const std::string& rule : rules) {
    const auto found = family.baselines.find(rule);
    cells.push_back(judged && found != family.baselines.end() ? percent(found->second) : "-");
  }
  return cells;
}

std::vector<std::string> exchange_titles(const std::vector<std::string>& rules) {
  std::vector<std::string> titles = {"family", "metric", "rows",  "fitted",
                                     "MAPE",   "median", "worst", "in 90 %"};
  titles.insert(titles.end(), rules.begin(), rules.end());
  return titles;
}

std::string bytes_text(const std::optional<double>& bytes) {
  return bytes ? format_bytes(*bytes) : "never";
}

std::vector<std::string> crossover_cells(const Crossover& crossover) {
  return {crossover.method + (crossover.fitted ? " (its kernels fitted on it)" : ""),
          bytes_text(crossover.measured_bytes), bytes_text(crossover.predicted_bytes)};
}

std::string order_text(const CompressionValidation& validation) {
  const PairOrder& order = validation.order;
  const PairOrder& own = validation.all_reduce_order;
  return fmt::format(
      "{} of {} pairs of methods that differ by more than 5 % in the right order; without servers "
      "{} of {}",
      order.right, order.pairs, own.right, own.pairs);
}

// A number without a unit where the metric is none of time.
std::string time_or_number(const ValidationRow& row, double value) {
  return row.metric.ends_with("_s") ? format_seconds(value) : fmt::format("{:.3g}", value);
}

std::vector<std::string> exchange_miss(const ValidationRow& row) {
  return {without_folder(row.id),
          row.family,
          row.label,
          time_or_number(row, row.measured),
          time_or_number(row, row.predicted),
          signed_error(row)};
}

// Columns from the third on are numbers.
TextTable text_table(const std::vector<std::string>& titles, size_t right) {
  TextTable table;
  for (size_t i = 0; i < titles.size(); ++i) {
    table.columns.push_back({titles[i], i < right ? Align::left : Align::right});
  }
  return table;
}

const std::vector<std::string> kMissTitles = {"row",      "family",    "what",
                                              "measured", "predicted", "error"};
const std::vector<std::string> kCrossoverTitles = {"all-reduce", "pays from, measured",
                                                   "predicted"};

}  // namespace

Json compression_document(const CompressionValidation& validation) {
  Json document = validation_document(validation.report);
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

std::string compression_text(const CompressionValidation& validation, int worst,
                             std::size_t width) {
  const ValidationReport& report = validation.report;
  // Rules are compared on the page; the console has no room for their names.
  TextTable families = text_table(exchange_titles({}), 2);
  for (const ValidationFamily& family : report.families) {
    families.rows.push_back(exchange_cells(family, {}));
  }
  std::string text = table_text(families, width);
  for (const ValidationFamily& family : report.families) {
    if (!family.note.empty()) text += fmt::format("{}: {}\n", family.name, family.note);
  }
  if (validation.order.pairs > 0) text += order_text(validation) + "\n";
  for (const std::string& wrong : validation.order.wrong) text += fmt::format("  {}\n", wrong);
  for (const std::string& law : validation.laws) text += fmt::format("fitted, {}\n", law);
  if (!validation.crossovers.empty()) {
    TextTable crossovers = text_table(kCrossoverTitles, 1);
    for (const Crossover& crossover : validation.crossovers) {
      crossovers.rows.push_back(crossover_cells(crossover));
    }
    text += table_text(crossovers, width);
  }
  TextTable misses = text_table(kMissTitles, 3);
  for (const ValidationRow* row : worst_first(report)) {
    if (misses.rows.size() < static_cast<size_t>(worst)) misses.rows.push_back(exchange_miss(*row));
  }
  if (!misses.rows.empty()) text += "largest errors:\n" + table_text(misses, width);
  for (const auto& [reason, rows, first] : reasons_of(report)) {
    text += fmt::format("not predicted, {} rows: {}, first {}\n", rows, reason, first);
  }
  return text;
}

std::string compression_page(const CompressionValidation& validation, const std::string& command) {
  const ValidationReport& report = validation.report;
  std::string text = fmt::format(kIntroduction, command, kLinkFitRows);
  const std::vector<std::string> rules = rules_of(report);
  text += markdown_header(exchange_titles(rules), 2);
  for (const ValidationFamily& family : report.families) {
    text += markdown_row(exchange_cells(family, rules));
  }
  text += "\n";
  for (const ValidationFamily& family : report.families) {
    if (!family.note.empty()) text += fmt::format("- {}: {}\n", family.name, family.note);
  }
  text += "\n## What was fitted\n\n";
  for (const std::string& law : validation.laws) {
    text += fmt::format("- {}\n", markdown_text(law));
  }
  text += fmt::format("\n## Order of methods\n\n{}.\n\n", order_text(validation));
  for (const std::string& wrong : validation.order.wrong) {
    text += fmt::format("- {}\n", markdown_text(wrong));
  }
  if (!validation.crossovers.empty()) {
    text += "\n## From which size few bits pay\n\n" + markdown_header(kCrossoverTitles, 1);
    for (const Crossover& crossover : validation.crossovers) {
      text += markdown_row(crossover_cells(crossover));
    }
  }
  text += fmt::format("\n## Misses above {}\n\n", percent(kMissAbove)) +
          markdown_header(kMissTitles, 3);
  for (const ValidationRow* row : worst_first(report)) {
    if (row->relative_error() > kMissAbove) text += markdown_row(exchange_miss(*row));
  }
  text += fmt::format("\n## Rows that are not predicted\n\n{} rows.\n\n", report.skipped.size()) +
          markdown_header({"reason", "rows"}, 1);
  for (const auto& [reason, rows, first] : reasons_of(report)) {
    text += markdown_row({reason, std::to_string(rows)});
  }
  return text;
}

}  // namespace windtunnel
