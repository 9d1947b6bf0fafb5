#include "validate/accuracy/compression/compression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "models/base/error.hpp"
#include "traces/text/text.hpp"
#include "validate/accuracy/compression/exchange_sparse.hpp"
#include "validate/accuracy/rows/left_out_intervals.hpp"
#include "validate/accuracy/rows/row_selection.hpp"

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

void add_quantised(const CsvTable& table, CompressionValidation& result) {
  QuantisedRows rows = validate_quantised(table);
  append(rows.judged, result.report.rows);
  append(rows.fitted, result.report.fitted);
  append(rows.skipped, result.report.skipped);
  append(rows.crossovers, result.crossovers);
  result.laws.push_back("all-reduce in one node: " + rows.law);
}

void add_sparse(const ExchangeSource& source, const std::vector<SelectedExchange>& rows,
                CompressionValidation& result) {
  const SparseExchange& rules = *source.sparse;
  double latency_s = rules.usual_latency_s;
  if (const auto law = result.fitted.find(rules.latency.of); law != result.fitted.end()) {
    const std::string* network = law->second.network_named(rules.latency.network);
    if (network != nullptr) latency_s = law->second.find("nic.latency", *network, 0)->value;
  }
  std::vector<const CompressionRun*> runs;
  for (const SelectedExchange& row : rows) runs.push_back(row.run);
  const SparseRows sparse = validate_sparse(source, runs, latency_s);
  append(sparse.judged, result.report.rows);
  append(sparse.skipped, result.report.skipped);
  append(sparse.laws, result.laws);
}

void add_steps(const ExchangeSource& source, const std::vector<SelectedExchange>& rows,
               const CompressionOptions& options, std::map<std::string, std::string>& notes,
               CompressionValidation& result) {
  const bool chosen = options.fit_where || !options.calibrate_on.empty();
  const ExchangeSteps steps = validate_steps(source, rows, chosen, options.threads, result.fitted);
  append(steps.judged, result.report.rows);
  append(steps.fitted, result.report.fitted);
  append(steps.skipped, result.report.skipped);
  append(steps.order, result.order);
  append(steps.all_reduce_order, result.all_reduce_order);
  notes.insert(steps.notes.begin(), steps.notes.end());
  if (const auto law = result.fitted.find(source.name); law != result.fitted.end()) {
    result.laws.push_back(law->second.text());
  }
}

}  // namespace

const std::string& usual_fit_rows() {
  const auto chosen = std::ranges::find_if(exchange_sources(), [](const ExchangeSource& source) {
    return source.law && source.law->chosen;
  });
  return chosen->law->fit_on.front().where;
}

CompressionFiles read_compression_files(const std::vector<std::string>& paths) {
  CompressionFiles files;
  for (const std::string& path : paths) {
    const std::string text = read_file(path);
    std::vector<CsvFault> faults;  // of rows; here only the header counts
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
    if (!source.refused.empty()) {
      for (const auto& row : rows->second) report.skipped.push_back({row.run->id, source.refused});
    } else if (source.sparse) {
      add_sparse(source, rows->second, result);
    } else {
      add_steps(source, rows->second, options, notes, result);
    }
  }
  for (const SelectedExchange& row : by_source[nullptr]) {
    report.skipped.push_back(
        {row.run->id, fmt::format("nothing is known of source '{}'", row.run->source)});
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
