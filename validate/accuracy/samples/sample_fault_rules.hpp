// The rules behind sample_faults.hpp, one for each of its kinds.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "validate/accuracy/samples/sample_faults.hpp"

namespace windtunnel {

// ---- Series of one kernel in order of size, and how far each lies from what the others make
// expect: how rows are judged without a fit, which a bad row would bend.

struct SizedSample {
  const Sample* sample = nullptr;
  double size = 0;      // FLOPs of products, else bytes moved
  double bytes = 0;     // moved
  double log_s = 0;     // of the median
  double noise = 0;     // standard deviation of log_s by the series' own interval
  double residual = 0;  // log_s less what the others make expect
  bool inner = false;   // they lie on both sides: expected between, not beyond
};

struct KernelSeries {
  std::string key;       // law_key(), " cold" and how many ranks ran it at once where they differ
  bool product = false;  // of matrices: time follows FLOPs
  std::vector<SizedSample> points;  // by size
  double noise = 0;                 // robust standard deviation of the residuals
};

std::vector<const Sample*> rows_of(const KernelSeries& series);

// Series of the single works that were to be fitted on or judged. Expected is a line in log size
// and log time through three neighbours on either side (repeated medians, Siegel 1982), which two
// bad ones of six do not bend.
std::vector<KernelSeries> kernel_series(std::span<const Sample* const> samples);

// Robust standard deviation of the residuals of all.
double noise_of(std::span<const KernelSeries> series);

// ---- What rules look at: rows that no kind has explained so far.
struct SampleEvidence {
  std::vector<const Sample*> samples;
  std::vector<KernelSeries> series;  // of these
  double noise = 0;                  // of the residuals of all series
  KnownMachine known;
};

struct Blame {
  std::vector<const Sample*> rows;  // empty: the file as a whole
  std::string what;
};
using Blames = std::vector<Blame>;

// Where rows come from, and whether a fit can use them.
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

// What rates are possible.
Blames swapped_units(const SampleEvidence& evidence);
Blames bits_for_bytes(const SampleEvidence& evidence);
Blames below_specification(const SampleEvidence& evidence);
Blames above_specification(const SampleEvidence& evidence);
Blames unlike_earlier(const SampleEvidence& evidence);

// How series of one kernel lie to each other, to their law, and over the run.
Blames non_monotone(const SampleEvidence& evidence);
Blames negative_latency(const SampleEvidence& evidence);
Blames outliers(const SampleEvidence& evidence);
Blames cold_faster(const SampleEvidence& evidence);
Blames drift(const SampleEvidence& evidence);
Blames bad_law(const SampleEvidence& evidence);

}  // namespace windtunnel
