// Times works on a device. Works run in random order, some together in alternating blocks, so that
// changes during the run (clocks, neighbours) affect all of them. A work is done when its median is
// known to 1 % or its share of the budget is used up. A block is discarded and repeated if the
// device's clock moved by more than 1 % or was throttled meanwhile. Timings that others disturbed
// are discarded, too; a work left with too few comes again at the end, unless the disturbance is
// nearly permanent. Google Benchmark runs the blocks.
//
// If the blocks measured so far show that not even one block of each work fits into the budget,
// works of the highest tiers are left out (kernel_suite.hpp); tier 0 is always measured.
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
  double half_width = 0.01;  // relative half-width of the median's interval
  int least = 30;            // timings per series, if the budget allows
  int most = 300;
  int together = 24;        // number of works whose blocks alternate
  double timing_s = 50e-6;  // least time of a timing; for a team of ranks 8 times as much
  int ranks_per_device = 1;
  std::uint64_t seed = 1;
  std::string date = {};  // YYYY-MM-DD
};

struct MeasureProgress {
  int done = 0;
  int works = 0;        // works that fit into the budget
  int left_out = 0;     // the other works
  double enough_s = 0;  // budget expected to suffice for all works
  int tainted = 0;      // blocks
  int timings = 0;
  int disturbed = 0;  // disturbed timings
  double elapsed_s = 0;
};

struct MeasureEvents {
  std::function<void(const Sample&)> measured;  // called when a series is complete
  std::function<void(const MeasureProgress&)> progress = [](const MeasureProgress&) {};
  std::function<bool()> stopped = [] { return false; };  // checked after every block
  // Called once, as soon as it is known, with the expected time of tier 0 if that far exceeds the
  // budget.
  std::function<void(double)> exceeds = [](double /*least_s*/) {};
};

// All ranks of the team call this together. The first work, or the first few of many, are measured
// again at the end (SampleRole::again). Throws Error if the device cannot run kernels or lacks
// memory, or if another rank failed; series reported by `measured` remain valid.
MeasureProgress measure(std::span<const TimedWork> works, Team& team, const MeasureOptions& options,
                        const MeasureEvents& events);

// Summarises a series of timings: its median with an interval, and the spread of timings.
struct SeriesSummary {
  double median_s = 0;
  // The bootstrap (percentile method) gives this 95 % interval of the median.
  double low_s = 0, high_s = 0;
  double p05_s = 0, p95_s = 0;  // quantiles of the timings

  double half_width() const { return (high_s - low_s) / (2 * median_s); }
};

// Needs at least one timing. The same seed gives the same interval.
SeriesSummary summarise(std::vector<double> seconds, std::uint64_t seed);

}  // namespace windtunnel
