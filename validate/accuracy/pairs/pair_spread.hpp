// Compares the simulated with the measured spread of node pairs: quantiles of the bus bandwidth
// over the pairs of a cluster.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "validate/accuracy/pairs/pair_variation.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {

constexpr std::array<double, 3> kPairQuantiles = {0.1, 0.5, 0.9};

struct PairSeriesSpread {
  CollectiveKind kind = CollectiveKind::all_to_all;
  int gpus_per_node = 1;
  double bytes = 0;
  size_t pairs = 0;
  bool fitted = false;  // the size was fitted on
  std::array<double, 3> measured_Bps{};
  std::array<double, 3> simulated_Bps{};
  double uniform_Bps = 0;  // without variation, all pairs have this level

  // The largest |simulated / measured - 1| of the three quantiles, and the same without variation.
  double error() const;
  double uniform_error() const;
};

struct PairSpreadMachine {
  std::string name;
  std::vector<std::string> nodes;
  PairVariation variation;
  std::vector<PairSeriesSpread> series;
};

struct PairSpread {
  std::vector<PairSpreadMachine> machines;
  std::vector<SkippedRow> skipped = {};  // rows that cannot be read or used
};

// Simulates all series of a machine.
PairSpreadMachine simulate_pairs(const PairMachine& machine, const PairVariation& variation);

// Fits every machine of the rows on half of the sizes (fitted_size()) and simulates all its series.
// Throws Error if there are no pairs.
PairSpread validate_pairs(const CollectiveRows& rows);

}  // namespace windtunnel
