// Timings of kernels (CSV), one row for each series of timings of a work: what the harness writes
// and fits read. The columns and their units: docs/reference/rows.md, "Kernel samples".
#pragma once

#include <string>
#include <string_view>

#include "models/calibration/sample.hpp"
#include "traces/rows/row_fields.hpp"

namespace windtunnel {

using SampleFile = RowFile<Sample>;

// Throws Error when the file cannot be read or a column is missing; a faulty row is `unusable`.
SampleFile read_samples(const std::string& path);
SampleFile parse_samples(std::string_view text, const std::string& file);

std::string samples_header();
std::string sample_row(const Sample& sample);  // with its line break; reads back as the same

}  // namespace windtunnel
