// Pairs of nodes differ for several reasons. Draws are compared with closed forms, fits with known
// variation, and the simulated spread with the spread that was measured on two clusters.
#include "validate/accuracy/pairs/pair_variation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.hpp"
#include "traces/text/csv.hpp"
#include "validate/accuracy/pairs/pair_spread.hpp"

namespace windtunnel {
namespace {

constexpr auto kAllToAll = CollectiveKind::all_to_all;
constexpr auto kSendRecv = CollectiveKind::send_recv;
constexpr double kMiB = 1 << 20;
constexpr double kGiB = 1024 * kMiB;

// Puts nodes_of_leaf[i] nodes on leaf i; every series contains every pair of them.
PairMachine machine_of(const std::vector<int>& nodes_of_leaf, std::vector<int>& leaf) {
  PairMachine machine;
  machine.name = "made up";
  for (size_t i = 0; i < nodes_of_leaf.size(); ++i) {
    leaf.insert(leaf.end(), nodes_of_leaf[i], static_cast<int>(i));
  }
  for (size_t i = 0; i < leaf.size(); ++i) machine.nodes.push_back(fmt::format("n{:02}", i));
  return machine;
}

PairSeries series_of(CollectiveKind kind, int gpus, double bytes, size_t nodes) {
  PairSeries series{kind, gpus, bytes, {}};
  for (int a = 0; a < static_cast<int>(nodes); ++a) {
    for (int b = a + 1; b < static_cast<int>(nodes); ++b) series.points.push_back({a, b, 1});
  }
  return series;
}

// `windtunnel validate collectives --pairs` fits these values for cluster00 and cluster01.
PairVariation cluster00_variation() {
  PairVariation found;
  found.leaf = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  found.leaves = 2;
  found.uplinks = 3;
  found.uplink_nics = 2.38;
  found.uplink_growth = {0.158 / kGiB, 0.130};
  found.shared_nics.slow_share = 0.0209;
  found.shared_nics.slow_factor = 0.587;
  found.shared_nics.slow_sigma = 0.081;
  found.felt_excess = {1, 0.573};
  found.nic_growth = {ContentionGrowth{0.859 / kGiB, 0.120}, {0.288 / kGiB, 0.092}};
  found.levels = {{kAllToAll, 1, 13.37e9, 13.37e9}, {kAllToAll, 4, 22.76e9, 22.70e9},
                  {kAllToAll, 8, 23.33e9, 23.33e9}, {kSendRecv, 1, 13.46e9, 13.48e9},
                  {kSendRecv, 4, 14.53e9, 13.89e9}, {kSendRecv, 8, 15.09e9, 14.41e9}};
  return found;
}

PairVariation cluster01_variation() {
  PairVariation found;
  found.leaf = std::vector<int>(10, 0);
  for (const auto& [gpus, GBps] :
       {std::pair{1, 37.79}, std::pair{2, 70.43}, std::pair{4, 83.38}, std::pair{8, 91.80}}) {
    found.levels.push_back({kAllToAll, gpus, GBps * 1e9, GBps * 1e9});
  }
  for (const auto& [gpus, GBps] :
       {std::pair{1, 39.50}, std::pair{2, 39.76}, std::pair{4, 41.66}, std::pair{8, 43.05}}) {
    found.levels.push_back({kSendRecv, gpus, GBps * 1e9, GBps * 1e9});
  }
  return found;
}

TEST(PairVariation, OneUplinkIsSharedByAllConnections) {
  PairVariation one;
  one.uplinks = 1;
  one.uplink_nics = 3;
  for (const double excess : uplink_excess(one, kAllToAll, 8, 5)) {
    EXPECT_NEAR(excess, 8.0 / 3 - 1, 1e-9);
  }
  for (const double excess : uplink_excess(one, kAllToAll, 2, 5)) EXPECT_EQ(excess, 0);
  for (const double excess : uplink_excess(one, kSendRecv, 8, 5)) EXPECT_EQ(excess, 0);
  one.uplink_nics = 0.5;
  for (const double excess : uplink_excess(one, kSendRecv, 8, 5)) EXPECT_NEAR(excess, 1, 1e-9);
}

// n connections choose between two links: the fuller link has (n + E|heads - tails|) / 2 of them.
// The two directions are drawn independently.
TEST(PairVariation, TwoUplinksCollideAsTwoRowsOfCoinTosses) {
  PairVariation two;
  two.node_gpus = 2;
  two.uplinks = 2;
  two.uplink_nics = 0.01;
  constexpr int kDraws = 4000;
  double mean = 0;
  for (const double excess : uplink_excess(two, kAllToAll, 2, kDraws)) {
    mean += (1 + excess) * two.uplink_nics / kDraws;
  }
  // 4 connections of half a NIC put 2, 3 or 4 on the fuller of two links with probability 6/16,
  // 8/16, 2/16; the larger of two such draws counts.
  const double larger = 2 * (6 * 6) + 3 * (14 * 14 - 6 * 6) + 4 * (16 * 16 - 14 * 14);
  EXPECT_NEAR(mean, 0.5 * larger / (16 * 16), 0.02);
}

TEST(PairVariation, ASharedNicSlowsJobsThatLeaveGpusToOthers) {
  PairVariation found;
  found.shared_nics.slow_share = 0.03;
  found.shared_nics.slow_factor = 0.5;
  for (const double excess : nic_excess(found, 8, 100)) EXPECT_EQ(excess, 0);
  constexpr int kDraws = 4000;
  for (const int gpus : {1, 4}) {
    int slow = 0;
    for (const double excess : nic_excess(found, gpus, kDraws)) {
      EXPECT_TRUE(excess == 0 || std::abs(excess - 1) < 1e-9) << excess;
      slow += excess > 0 ? 1 : 0;
    }
    const double expected = 1 - std::pow(0.97, 2 * gpus);
    EXPECT_NEAR(static_cast<double>(slow) / kDraws, expected, 0.02) << gpus;
  }
}

TEST(PairVariation, ContentionGrowsBeyondHalfAGibibyte) {
  EXPECT_EQ(late_bytes(32 * kMiB), 0);
  EXPECT_EQ(late_bytes(512 * kMiB), 0);
  EXPECT_EQ(late_bytes(2 * kGiB), 1.5 * kGiB);
}

// Every pair's bandwidth is drawn from a known variation, once per job; the fit finds it again.
TEST(PairVariation, TheFitFindsWhatMadeThePairs) {
  std::vector<int> leaf;
  PairMachine machine = machine_of({20, 14}, leaf);
  PairVariation truth = cluster00_variation();
  truth.leaf = leaf;
  truth.uplinks = 4;
  truth.uplink_nics = 1.9;
  const int pairs = static_cast<int>(leaf.size() * (leaf.size() - 1) / 2);
  for (const ClearLevel& level : truth.levels) {
    const int gpus = level.gpus_per_node;
    const std::vector<double> uplinks = uplink_excess(truth, level.kind, gpus, pairs);
    const std::vector<double> nics = nic_excess(truth, gpus, pairs);
    const bool several = loads_several_nics(level.kind, gpus);
    for (const double bytes : {32 * kMiB, 512 * kMiB, 8 * kGiB}) {
      PairSeries series = series_of(level.kind, gpus, bytes, leaf.size());
      for (int i = 0; i < pairs; ++i) {
        PairPoint& pair = series.points[i];
        const bool across = truth.across(pair);
        double excess = nics[i] * truth.felt_excess[several];
        if (excess > 0) excess += truth.nic_growth[several].median * late_bytes(bytes);
        if (across && uplinks[i] > 0) {
          excess = std::max(excess, uplinks[i] + truth.uplink_growth.median * late_bytes(bytes));
        }
        pair.busbw_Bps = (across ? level.across_Bps : level.same_leaf_Bps) / (1 + excess);
      }
      machine.series.push_back(std::move(series));
    }
  }
  const PairVariation found = fit_pair_variation(machine);
  EXPECT_EQ(found.leaf, truth.leaf);
  EXPECT_NEAR(found.uplinks, truth.uplinks, 1);
  EXPECT_NEAR(found.uplinks * found.uplink_nics, truth.uplinks * truth.uplink_nics, 0.7);
  EXPECT_NEAR(found.uplink_growth.median / truth.uplink_growth.median, 1, 0.02);
  EXPECT_NEAR(found.shared_nics.slow_share, truth.shared_nics.slow_share, 0.005);
  EXPECT_NEAR(found.shared_nics.slow_factor, truth.shared_nics.slow_factor, 0.03);
  EXPECT_NEAR(found.felt_excess[1], truth.felt_excess[1], 0.06);
  for (const int several : {0, 1}) {
    EXPECT_NEAR(found.nic_growth[several].median / truth.nic_growth[several].median, 1, 0.02);
  }
}

TEST(PairVariation, EqualPairsHaveNoVariation) {
  std::vector<int> leaf;
  PairMachine machine = machine_of({6}, leaf);
  for (const int gpus : {1, 8}) machine.series.push_back(series_of(kAllToAll, gpus, 8 * kGiB, 6));
  const PairVariation found = fit_pair_variation(machine);
  EXPECT_EQ(found.leaves, 1);
  EXPECT_EQ(found.uplinks, 0);
  EXPECT_EQ(found.shared_nics.slow_share, 0);
  const PairSpreadMachine spread = simulate_pairs(machine, found);
  for (const PairSeriesSpread& series : spread.series) EXPECT_NEAR(series.error(), 0, 1e-9);
}

TEST(PairVariation, NeedsAllToAllsOfWholeNodes) {
  std::vector<int> leaf;
  PairMachine machine = machine_of({4}, leaf);
  machine.series.push_back(series_of(kSendRecv, 8, 8 * kGiB, 4));
  EXPECT_THROW(fit_pair_variation(machine), Error);
}

struct Judged {
  int series = 0;
  int good = 0;
  double worst = 0;
};

// Judges quantiles over all pairs of a cluster, at sizes that were not fitted on.
Judged judge(const std::string& name, const PairVariation& variation) {
  const CsvTable table = CsvTable::read(WINDTUNNEL_SOURCE_DIR "/tests/data/node_pairs.csv");
  PairMachine machine;
  machine.nodes.resize(variation.leaf.size());
  std::vector<std::array<double, 3>> measured;
  for (size_t row = 0; row < table.rows(); ++row) {
    const double bytes = table.number(row, table.column("bytes"));
    if (table.text(row, table.column("machine")) != name || fitted_size(bytes)) continue;
    const bool all = table.text(row, table.column("collective")) == "alltoall";
    machine.series.push_back(series_of(all ? kAllToAll : kSendRecv,
                                       table.integer(row, table.column("gpus_per_node")), bytes,
                                       machine.nodes.size()));
    measured.push_back({table.number(row, table.column("busbw_p10_GBps")) * 1e9,
                        table.number(row, table.column("busbw_p50_GBps")) * 1e9,
                        table.number(row, table.column("busbw_p90_GBps")) * 1e9});
  }
  PairSpreadMachine spread = simulate_pairs(machine, variation);
  Judged judged;
  for (size_t i = 0; i < measured.size(); ++i) {
    spread.series[i].measured_Bps = measured[i];
    const double error = spread.series[i].error();
    ++judged.series;
    judged.good += error <= 0.1 ? 1 : 0;
    judged.worst = std::max(judged.worst, error);
  }
  return judged;
}

// Only the 10th percentile of send-receives of 4 GiB by 4 GPUs per node is missed, by a little.
TEST(PairSpread, MeasuredQuantilesOfTheClusterWithUplinks) {
  const Judged judged = judge("cluster00", cluster00_variation());
  EXPECT_EQ(judged.series, 30);
  EXPECT_GE(judged.good, 29);
  EXPECT_LT(judged.worst, 0.12);
}

TEST(PairSpread, MeasuredQuantilesOfTheClusterOfEqualPairs) {
  const Judged judged = judge("cluster01", cluster01_variation());
  EXPECT_EQ(judged.series, 16);
  EXPECT_EQ(judged.good, 16);
}

}  // namespace
}  // namespace windtunnel
