#include "validate/accuracy/compression/compression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/rows/row_selection.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {
namespace {

template <typename Item>
void append(const std::vector<Item>& items, std::vector<Item>& to) {
  to.insert(to.end(), items.begin(), items.end());
}

void append(const PairOrder& order, PairOrder& to) {
  to.pairs += order.pairs;
  to.right += order.right;
  append(order.wrong, to.wrong);
}

void append(const JudgedExchanges& rows, CompressionValidation& to) {
  append(rows.judged, to.report.rows);
  append(rows.fitted, to.report.fitted);
  append(rows.skipped, to.report.skipped);
  append(rows.laws, to.laws);
  append(rows.order, to.order);
  append(rows.all_reduce_order, to.all_reduce_order);
}

void add_quantised(const CsvTable& table, CompressionValidation& result) {
  QuantisedRows rows = validate_quantised(table);
  append(rows.judged, result.report.rows);
  append(rows.fitted, result.report.fitted);
  append(rows.skipped, result.report.skipped);
  append(rows.crossovers, result.crossovers);
  result.laws.push_back("all-reduce in one node: " + rows.law);
}

JudgedExchanges validate_source(const ExchangeSource& source,
                                const std::vector<SelectedExchange>& rows,
                                const CompressionOptions& options, FittedLaws& laws) {
  JudgedExchanges judged;
  if (!source.refused.empty()) {
    for (const SelectedExchange& row : rows)
      judged.skipped.push_back({row.run->id, source.refused});
  } else if (source.sparse) {
    judged = validate_sparse(source, rows, laws);
  } else {
    const bool chosen = options.fit_where || !options.calibrate_on.empty();
    judged = validate_steps(source, rows, chosen, options.threads, laws);
  }
  return judged;
}

}  // namespace

const std::string& usual_fit_rows() {
  const auto is_chosen = [](const ExchangeSource& source) {
    return source.law && source.law->chosen;
  };
  const std::vector<ExchangeSource>& sources = exchange_sources();
  const auto chosen = std::ranges::find_if(sources, is_chosen);
  CHECK(std::ranges::count_if(sources, is_chosen) == 1 && !chosen->law->fit_on.empty(),
        "not just one source of the library lets the user choose the rows to fit on");
  return chosen->law->fit_on.front().where;
}

CompressionFiles read_compression_files(const std::vector<std::string>& paths) {
  CompressionFiles files;
  for (const std::string& path : paths) {
    const std::string text = read_file(path);
    std::vector<CsvFault> faults;  // faults of rows; only the header matters here
    if (holds_quantised(CsvTable::parse(text, path, &faults))) {
      files.quantised.push_back(CsvTable::parse(text, path));
    } else {
      files.runs.push_back(parse_compression_runs(text, path));
    }
  }
  return files;
}

CompressionValidation validate_compression(const CompressionFiles& files,
                                           const CompressionOptions& options) {
  CompressionValidation result;
  ValidationReport& report = result.report;
  std::vector<SkippedRow> unusable;
  std::map<const ExchangeSource*, std::vector<SelectedExchange>> by_source;
  std::set<std::string> not_judged;
  std::map<std::string, std::string> notes;
  for (const auto& row : select_rows(files.runs,
                                     {.where = options.where,
                                     .fit_where = options.fit_where,
                                     .calibrate_on = options.calibrate_on,
                                     .all = true},
                                     unusable)) {
    if (!row.judged) not_judged.insert(row.run->id);
    const ExchangeSource* source = source_of(*options.sources, *row.run);
    by_source[source].push_back({&row.file->table, row.run, row.fit});
  }
  for (const ExchangeSource& source : *options.sources) {
    const auto rows = by_source.find(&source);
    if (rows == by_source.end()) continue;
    const JudgedExchanges judged = validate_source(source, rows->second, options, result.fitted);
    append(judged, result);
    notes.insert(judged.notes.begin(), judged.notes.end());
  }
  for (const SelectedExchange& row : by_source[nullptr]) {
    report.skipped.push_back({row.run->id, fmt::format("source '{}' is unknown", row.run->source)});
  }
  append(unusable, report.skipped);
  const auto unwanted = [&](const auto& row) { return not_judged.contains(row.id); };
  std::erase_if(report.rows, unwanted);
  std::erase_if(report.skipped, unwanted);
  for (const CsvTable& table : files.quantised) add_quantised(table, result);
  add_left_out_intervals(report);
  summarise_families(report, notes);
  return result;
}

}  // namespace windtunnel
