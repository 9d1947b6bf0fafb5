// Measured steps of data-parallel training, exchanged in many ways, against predictions: rows by
// their source (exchange_source.hpp), of each source by a law that is fitted on some of its rows
// (exchange_steps.hpp), and few-bit all-reduces inside a node (quantised_all_reduce.hpp). What is
// not predicted is listed with the reason; recalled rows are never judged against a bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/rows/compression_rows.hpp"
#include "validate/accuracy/compression/exchange_steps.hpp"
#include "validate/accuracy/compression/quantised_all_reduce.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// Files of measured rows: steps, and quantised all-reduces.
struct CompressionFiles {
  std::vector<CompressionRuns> runs;
  std::vector<CsvTable> quantised;
};

// Any number of files in any order; their headers say what they hold. Throws Error where one is
// neither.
CompressionFiles read_compression_files(const std::vector<std::string>& paths);

struct CompressionOptions {
  std::optional<RowFilter> where = {};  // judge only these rows; what is fitted stays
  // Which rows a law is fitted on where its source lets the user choose (`chosen`): rows of
  // `calibrate_on`, which are then not judged, or without it rows of the judged files. None: all
  // rows of `calibrate_on`, or without it usual_fit_rows().
  std::optional<RowFilter> fit_where = {};
  std::vector<CompressionRuns> calibrate_on = {};
  int threads = 0;  // 0: all cores
  // The sources that are known. Not null; the result points into them.
  const std::vector<ExchangeSource>* sources = &exchange_sources();
};

// The expression for the rows that a law is fitted on where the user could choose and did not.
const std::string& usual_fit_rows();

struct CompressionValidation {
  ValidationReport report;
  FittedLaws fitted;
  PairOrder order;                // of all methods
  PairOrder all_reduce_order;     // of those without servers
  std::vector<std::string> laws;  // what was fitted, a line each
  std::vector<Crossover> crossovers;
};

// Throws Error for a filter with an unknown column.
CompressionValidation validate_compression(const CompressionFiles& files,
                                           const CompressionOptions& options);

}  // namespace windtunnel
