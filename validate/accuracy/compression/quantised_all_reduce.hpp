// Compares a quantised all-reduce inside one node with the plain one, and finds the message size
// from which it is faster. Columns: gpu gpus bytes_fp16 baseline_us qr_int8_us qr_int6_us
// qr_int4_us.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "traces/text/csv.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

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

// Fits the link's law on the plain all-reduce and the kernels' law on int8; both are then frozen.
// Skips rows with an unreadable cell. Throws Error if fewer than two rows remain or they are from
// several machines.
QuantisedRows validate_quantised(const CsvTable& table);

}  // namespace windtunnel
