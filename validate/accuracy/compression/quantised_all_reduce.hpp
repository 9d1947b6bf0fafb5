// A quantised all-reduce inside one node against the plain one: from which message on it is
// faster. Columns: gpu gpus bytes_fp16 baseline_us qr_int8_us qr_int6_us qr_int4_us.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/text/csv.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

struct Crossover {
  std::string method;                    // "int4"
  bool fitted = false;                   // the kernels' constants rest on its times
  std::optional<double> measured_bytes;  // linear between rows; none: never in the table
  std::optional<double> predicted_bytes;
};

struct QuantisedRows {
  std::vector<ValidationRow> judged;  // times
  std::vector<ValidationRow> fitted;
  std::vector<SkippedRow> skipped;
  std::vector<Crossover> crossovers;
  std::string law;
};

// Whether a table's header is that of such rows.
bool holds_quantised(const CsvTable& table);

// The link's law is fitted on the plain all-reduce, the kernels' on int8; both are frozen.
// Rows with a cell that cannot be read are skipped; throws Error where fewer than two are left or
// they are of several machines.
QuantisedRows validate_quantised(const CsvTable& table);

}  // namespace windtunnel
