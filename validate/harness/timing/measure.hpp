// Times works on a device. They are taken in random order, some together in rounds of blocks, so
// that whatever changes meanwhile (clocks, neighbours) spreads over all; a work is done when its
// median is known to 1 % or its share of the budget is used up. Blocks beside which the device's
// clock moved by more than 1 % or was held back are thrown away and taken again, and so are timings
// beside which others took from the device; a work that has too few without comes again at the end,
// unless they are there most of the time. Google Benchmark runs the blocks.
//
// Where not even a block of each fits into the budget, as those so far tell, the works of the
// highest tiers are left out (suite_part.hpp); those of tier 0 are measured whatever it takes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "validate/harness/timing/team.hpp"

namespace windtunnel {

struct MeasureOptions {
  double budget_s = 180;
  double half_width = 0.01;  // of the median's interval, relative
  int least = 30;            // timings of a series, where the budget allows
  int most = 300;
  int together = 24;        // works whose blocks alternate
  double timing_s = 50e-6;  // of work at least in a timing; of ranks in a team 8 times that
  int ranks_per_device = 1;
  std::uint64_t seed = 1;
  std::string date = {};  // YYYY-MM-DD
};

struct MeasureProgress {
  int done = 0;
  int works = 0;        // that the budget suffices for
  int left_out = 0;     // the others
  double enough_s = 0;  // budget that is expected to suffice for all of them
  int tainted = 0;      // blocks
  int timings = 0;
  int disturbed = 0;  // of them
  double elapsed_s = 0;
};

struct MeasureEvents {
  std::function<void(const Sample&)> measured;  // a series is complete
  std::function<void(const MeasureProgress&)> progress = [](const MeasureProgress&) {};
  std::function<bool()> stopped = [] { return false; };  // asked after every block
  // Once, as soon as it is known: what tier 0 alone is expected to take, when that is far more than
  // the budget.
  std::function<void(double)> exceeds = [](double /*least_s*/) {};
};

// By all ranks of the team at once. The first work, or the first ones of many, are measured again
// at the end (SampleRole::again). Throws Error when the device cannot run kernels or has not the
// memory, or another rank failed; what was `measured` before stays.
MeasureProgress measure(std::span<const TimedWork> works, Team& team, const MeasureOptions& options,
                        const MeasureEvents& events);

// What a series of timings says: its median, how well that is known, and how far timings spread.

struct SeriesSummary {
  double median_s = 0;
  double low_s = 0, high_s = 0;  // of the median, 95 %, by the bootstrap (percentile method)
  double p05_s = 0, p95_s = 0;   // of the timings

  double half_width() const { return (high_s - low_s) / (2 * median_s); }
};

// Of one timing or more; the same seed, the same interval.
SeriesSummary summarise(std::vector<double> seconds, std::uint64_t seed);

}  // namespace windtunnel
