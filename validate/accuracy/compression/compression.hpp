// Compares measured steps of data-parallel training, with many ways to exchange gradients, with
// predictions. Each source (exchange_source.hpp) has a law that is fitted on some of its rows
// (exchange_steps.hpp); all-reduces of few bits within a node have a law of their own. Rows that
// are not predicted are listed with the reason; recalled rows are never judged against a bound.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/rows/compression_rows.hpp"
#include "traces/text/csv.hpp"
#include "validate/accuracy/compression/exchange_steps.hpp"
#include "validate/accuracy/rows/row_filter.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

// The message size from which a quantised all-reduce is faster than the plain one.
struct Crossover {
  std::string method;                    // "int4"
  bool fitted = false;                   // the kernels' constants were fitted on its times
  std::optional<double> measured_bytes;  // interpolated between rows; none: never in the table
  std::optional<double> predicted_bytes;
};

struct QuantisedRows {
  std::vector<ValidationRow> judged;  // times
  std::vector<ValidationRow> fitted;
  std::vector<SkippedRow> skipped;
  std::vector<Crossover> crossovers;
  std::string law;
};

// Whether the table has the header of such rows.
bool holds_quantised(const CsvTable& table);

// Compares a quantised all-reduce inside one node with the plain one. Columns: gpu gpus bytes_fp16
// baseline_us qr_int8_us qr_int6_us qr_int4_us. Fits the link's law on the plain all-reduce and the
// kernels' law on int8; both are then frozen. Skips rows with an unreadable cell. Throws Error if
// fewer than two rows remain or they are from several machines.
QuantisedRows validate_quantised(const CsvTable& table);

// Files of measured rows: steps, and quantised all-reduces.
struct CompressionFiles {
  std::vector<CompressionRuns> runs;
  std::vector<CsvTable> quantised;
};

// Reads any number of files in any order; their headers tell the kind. Throws Error for a file of
// neither kind.
CompressionFiles read_compression_files(const std::vector<std::string>& paths);

struct CompressionOptions {
  std::optional<RowFilter> where = {};  // rows to judge; fits do not change
  // Chooses the rows that a law is fitted on, if its source lets the user choose (`chosen`). They
  // are from `calibrate_on` if that has files, which are then not judged, else from the judged
  // files. Without this filter they are all rows of `calibrate_on`, or else usual_fit_rows().
  std::optional<RowFilter> fit_where = {};
  std::vector<CompressionRuns> calibrate_on = {};
  int threads = 0;  // 0: all cores
  // The known sources. Not null; the result points into them.
  const std::vector<ExchangeSource>* sources = &exchange_sources();
};

// Returns the expression that chooses the rows to fit on if the user could choose them but does
// not.
const std::string& usual_fit_rows();

struct CompressionValidation {
  ValidationReport report;
  FittedLaws fitted;
  PairOrder order;                // of all methods
  PairOrder all_reduce_order;     // of methods without servers
  std::vector<std::string> laws;  // fits, a line each
  std::vector<Crossover> crossovers;
};

// Throws Error for a filter with an unknown column.
CompressionValidation validate_compression(const CompressionFiles& files,
                                           const CompressionOptions& options);

}  // namespace windtunnel
