#include "validate/accuracy/pairs/pair_spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/error.hpp"
#include "models/base/quantile.hpp"
#include "models/base/random.hpp"
#include "validate/accuracy/pairs/pair_variation.hpp"
#include "validate/accuracy/rows/validation_report.hpp"

namespace windtunnel {
namespace {

constexpr int kDraws = 500;

// Each list has one value per draw, for jobs of one kind.
struct Excess {
  std::vector<double> uplinks;
  std::vector<double> nics;
  std::vector<double> growth;  // standard normal
};

double growing(double excess, const ContentionGrowth& growth, double normal, double bytes) {
  return excess > 0 ? excess + growth.median * std::exp(growth.sigma * normal) * bytes : 0;
}

std::vector<double> normals() {
  std::vector<double> values;
  for (int draw = 0; draw < kDraws; ++draw) {
    values.push_back(RandomStream(draw + 1, RandomPurpose::contention, 0).normal());
  }
  return values;
}

double largest_error(const std::array<double, 3>& simulated,
                     const std::array<double, 3>& measured) {
  double largest = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    largest = std::max(largest, std::abs(simulated[i] / measured[i] - 1));
  }
  return largest;
}

PairSeriesSpread simulate(const PairVariation& variation, const PairSeries& series,
                          const Excess& excess) {
  PairSeriesSpread spread{series.kind, series.gpus_per_node, series.bytes, series.points.size(),
                          fitted_size(series.bytes)};
  const ClearLevel& level = variation.level(series.kind, series.gpus_per_node);
  const double bytes = late_bytes(series.bytes);
  const bool several = loads_several_nics(series.kind, series.gpus_per_node);
  std::vector<double> measured;
  std::vector<double> simulated;
  std::vector<double> clear;
  for (const PairPoint& pair : series.points) {
    const bool across = variation.across(pair);
    const double clear_Bps = across ? level.across_Bps : level.same_leaf_Bps;
    measured.push_back(pair.busbw_Bps);
    clear.push_back(clear_Bps);
    for (int draw = 0; draw < kDraws; ++draw) {
      double longer = growing(variation.felt_excess[several] * excess.nics[draw],
                              variation.nic_growth[several], excess.growth[draw], bytes);
      if (across) {
        longer = std::max(longer, growing(excess.uplinks[draw], variation.uplink_growth,
                                          excess.growth[draw], bytes));
      }
      simulated.push_back(clear_Bps / (1 + longer));
    }
  }
  for (size_t i = 0; i < kPairQuantiles.size(); ++i) {
    spread.measured_Bps[i] = quantile(measured, kPairQuantiles[i]);
    spread.simulated_Bps[i] = quantile(simulated, kPairQuantiles[i]);
  }
  spread.uniform_Bps = quantile(clear, 0.5);
  return spread;
}

}  // namespace

double PairSeriesSpread::error() const {
  return largest_error(simulated_Bps, measured_Bps);
}

double PairSeriesSpread::uniform_error() const {
  return largest_error({uniform_Bps, uniform_Bps, uniform_Bps}, measured_Bps);
}

PairSpreadMachine simulate_pairs(const PairMachine& machine, const PairVariation& variation) {
  PairSpreadMachine result{machine.name, machine.nodes, variation, {}};
  std::map<std::pair<CollectiveKind, int>, Excess> excess;
  for (const PairSeries& series : machine.series) {
    Excess& drawn = excess[{series.kind, series.gpus_per_node}];
    if (drawn.nics.empty()) {
      drawn.uplinks = uplink_excess(variation, series.kind, series.gpus_per_node, kDraws);
      drawn.nics = nic_excess(variation, series.gpus_per_node, kDraws);
      drawn.growth = normals();
    }
    result.series.push_back(simulate(variation, series, drawn));
  }
  return result;
}

PairSpread validate_pairs(const CollectiveRows& rows) {
  PairSpread spread;
  for (const UnusableRow& row : rows.unreadable) spread.skipped.push_back({row.id, row.reason});
  for (const CollectiveRow& row : rows.rows) {
    if (!row.unusable.empty()) spread.skipped.push_back({row.id, row.unusable});
  }
  for (const PairMachine& machine : pair_machines(rows)) {
    spread.machines.push_back(simulate_pairs(machine, fit_pair_variation(machine)));
  }
  if (spread.machines.empty() && !spread.skipped.empty()) {
    const SkippedRow& first = spread.skipped.front();
    throw Error(fmt::format("{}: {}; {} rows were ignored, and no other row is of a pair of nodes",
                            first.id, first.reason, spread.skipped.size()));
  }
  if (spread.machines.empty()) {
    throw Error(rows.path +
                ": there are no pairs of nodes; the names of the two nodes must be the last parts "
                "of a log's name, as in \"nccl_N2_G8_node-1_node-2.log\"");
  }
  return spread;
}

}  // namespace windtunnel
