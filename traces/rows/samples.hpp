// Timings of kernels (CSV), one row for each series of timings. The harness writes them, and fits
// read them. Columns and units: docs/reference/rows.md, "Kernel samples".
#pragma once

#include <string>
#include <string_view>

#include "models/calibration/sample.hpp"
#include "traces/rows/row_fields.hpp"

namespace windtunnel {

using SampleFile = RowFile<Sample>;

// Throws Error if the file cannot be read or a column is missing; a faulty row is `unusable`.
SampleFile read_samples(const std::string& path);
SampleFile parse_samples(std::string_view text, const std::string& file);

std::string samples_header();
std::string sample_row(const Sample& sample);  // ends with a newline; reads back as the same sample

}  // namespace windtunnel
