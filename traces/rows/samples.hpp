// Timings of kernels (CSV), one row a series: what the harness writes and fits read.
//
//   work         models/calibration/kernel_work.hpp's text
//   role, cache  fit | judge | again; warm | cold
//   median_s, low_s, high_s, p05_s, p95_s, repeats
//                seconds of the work, once: median, its 95 % bootstrap interval, two percentiles,
//                how many timings
//   order, started_s                    place in the run; seconds since it began
//   backend, device, driver, date       cpu | cuda; as the device calls itself; YYYY-MM-DD
//   clock_before_Hz, clock_after_Hz, memory_clock_before_Hz, memory_clock_after_Hz,
//   temperature_before_C, temperature_after_C          empty: not known
//   throttled_before, throttled_after   0 | 1
//   ranks_per_device                    more than 1: time-sliced
//   ranks                               that ran the work at once; timings are the slowest one's
//   disturbed                           share of its time that others were beside it on a device
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/calibration/sample.hpp"
#include "traces/text/row_reader.hpp"

namespace windtunnel {

struct SampleFile {
  CsvTable table;
  std::vector<Sample> runs;
  std::vector<UnusableRow> unusable;
};

// Throws Error when the file cannot be read or a column is missing; a faulty row is `unusable`.
SampleFile read_samples(const std::string& path);
SampleFile parse_samples(std::string_view text, const std::string& file);

std::string samples_header();
std::string sample_row(const Sample& sample);  // with its line break; reads back as the same

}  // namespace windtunnel
