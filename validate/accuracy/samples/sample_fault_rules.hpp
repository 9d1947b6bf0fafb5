// The rules behind sample_faults.hpp, one for each of its kinds.
#pragma once

#include <string>
#include <vector>

#include "validate/accuracy/samples/sample_faults.hpp"
#include "validate/accuracy/samples/sample_series.hpp"

namespace windtunnel {

// What rules look at: rows that no kind has explained so far.
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
