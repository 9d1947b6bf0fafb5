// This lists the rules of sample_faults.hpp, one for each kind of fault.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "validate/accuracy/samples/sample_faults.hpp"

namespace windtunnel {

// ---- Series of a kernel sorted by size, with the distance of each from what the others predict.
// Rows can thus be judged without a fit, which a bad row would distort.

struct SizedSample {
  const Sample* sample = nullptr;
  double size = 0;      // FLOPs for products, else bytes moved
  double bytes = 0;     // moved
  double log_s = 0;     // of the median
  double noise = 0;     // standard deviation of log_s, from the series' own interval
  double residual = 0;  // log_s minus the value predicted by the others
  bool inner = false;   // others are on both sides: interpolated, not extrapolated
};

struct KernelSeries {
  // law_key(), with " cold" and the number of concurrent ranks where these differ.
  std::string key;
  bool product = false;             // matrix products, whose time follows FLOPs
  std::vector<SizedSample> points;  // by size
  double noise = 0;                 // robust standard deviation of the residuals
};

std::vector<const Sample*> rows_of(const KernelSeries& series);

// Holds series of single works with the role fit or judge. The predicted value is on a line in log
// size and log time through three neighbours on either side (repeated medians, Siegel 1982), which
// two bad neighbours of six do not distort.
std::vector<KernelSeries> kernel_series(std::span<const Sample* const> samples);

// Returns a robust standard deviation of all series' residuals.
double noise_of(std::span<const KernelSeries> series);

// ---- The input of rules: rows that no earlier kind has explained.
struct SampleEvidence {
  std::vector<const Sample*> samples;
  std::vector<KernelSeries> series;  // of `samples`
  double noise = 0;                  // of the residuals of all series
  KnownMachine known;
};

struct Blame {
  std::vector<const Sample*> rows;  // empty: the whole file
  std::string what;
};
using Blames = std::vector<Blame>;

// Rules about the origin of rows, and whether a fit can use them.
Blames time_sliced(const SampleEvidence& evidence);
Blames mixed_devices(const SampleEvidence& evidence);
Blames wrong_device(const SampleEvidence& evidence);
Blames mixed_drivers(const SampleEvidence& evidence);
Blames stale_driver(const SampleEvidence& evidence);
Blames mixed_ranks(const SampleEvidence& evidence);
Blames mixed_dates(const SampleEvidence& evidence);
Blames too_few_points(const SampleEvidence& evidence);
Blames duplicated_rows(const SampleEvidence& evidence);
Blames throttled(const SampleEvidence& evidence);
Blames tainted_rows(const SampleEvidence& evidence);
Blames disturbed(const SampleEvidence& evidence);
Blames unsure(const SampleEvidence& evidence);

// Rules about possible rates.
Blames swapped_units(const SampleEvidence& evidence);
Blames bits_for_bytes(const SampleEvidence& evidence);
Blames below_specification(const SampleEvidence& evidence);
Blames above_specification(const SampleEvidence& evidence);
Blames unlike_earlier(const SampleEvidence& evidence);

// Rules about series of one kernel relative to each other, to their law, and over the run.
Blames non_monotone(const SampleEvidence& evidence);
Blames negative_latency(const SampleEvidence& evidence);
Blames outliers(const SampleEvidence& evidence);
Blames cold_faster(const SampleEvidence& evidence);
Blames drift(const SampleEvidence& evidence);
Blames bad_law(const SampleEvidence& evidence);

}  // namespace windtunnel
