// A network's law is fitted on timings that are generated from known laws.
#include "validate/accuracy/collectives/collective_fit.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "models/base/quantile.hpp"
#include "models/base/random.hpp"
#include "scenarios/language/library/interconnect_laws.hpp"
#include "scenarios/language/library/library.hpp"
#include "validate/accuracy/collectives/collective_accuracy.hpp"

namespace windtunnel {
namespace {

constexpr double kNoise = 0.04;

// Points are all-reduces of 1 KiB to 1 GiB on nodes of eight H100, each with `runs` runs.
std::vector<ScoredRow> points_at(const std::vector<int>& gpus, int runs = 1) {
  std::string text = "machine,gpu,gpus,nodes,network,collective,bytes,time_us,notes\n";
  for (const int count : gpus) {
    for (double bytes = 1 << 10; bytes <= 1 << 30; bytes *= 2) {
      for (int run = 0; run < runs; ++run) {
        text += fmt::format(
            "M,H100,{},{},InfiniBand NDR 8x400Gb/s/node,all_reduce,{:.0f},1,env; run {}\n", count,
            (count + 7) / 8, bytes, run);
      }
    }
  }
  const CollectiveRows rows = parse_collective_rows(text, "rows.csv");
  std::vector<const CollectiveRow*> all;
  for (const CollectiveRow& row : rows.rows) all.push_back(&row);
  std::vector<SkippedRow> skipped;
  std::vector<ScoredRow> points = scored_rows(all, node_sizes(rows.rows), skipped);
  EXPECT_TRUE(skipped.empty());
  return points;
}

Calibration start() {
  Calibration calibration = find_calibration("generic");
  calibration.network = specified_interconnect_law(find_node("dgx-h100"), Transport::infiniband);
  return calibration;
}

double law_of(const ScoredRow& row, const Calibration& truth) {
  return collective_cost(row.kind, row.choice, row.where->shape, row.bytes, row.where->cluster,
                         truth)
      .seconds;
}

void measure(std::vector<ScoredRow>& points, const Calibration& truth, RandomStream& random) {
  for (ScoredRow& row : points) {
    row.seconds = law_of(row, truth) * std::exp(kNoise * random.normal());
    row.samples = {row.seconds};
  }
}

FittedNetwork fit(const std::vector<ScoredRow>& points) {
  return fit_network(points, points.front().where->cluster, start());
}

// The machine differs from its specification; it has no slow nodes.
Calibration other_machine() {
  Calibration truth = start();
  InterconnectLaw& law = truth.network;
  law.launch.value = 1.6;
  law.node_share.value = 0.74;
  law.nvls_share.value = 0.62;
  law.net_share.value = 0.78;
  law.net_ll_step.value = 1.5;
  law.net_simple_step.value = 1.8;
  law.tree_overlap.value = 0.9;
  law.slow_share = {};
  return truth;
}

TEST(CollectiveFit, WithoutRowsItIsTheSpecification) {
  const Cluster cluster = points_at({16}).front().where->cluster;
  const FittedNetwork network = fit_network({}, cluster, find_calibration("generic"));
  EXPECT_EQ(network.rows, 0);
  const InterconnectLaw law = specified_interconnect_law(cluster.node, Transport::infiniband);
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    EXPECT_EQ((network.calibration.network.*field.member).value, (law.*field.member).value)
        << field.name;
    EXPECT_EQ((network.calibration.network.*field.member).source, (law.*field.member).source);
  }
}

// Numbers that the rows determine are within their intervals nine times out of ten. Times at other
// scales are within their intervals as often, and near the prediction.
TEST(CollectiveFit, AKnownLawIsFoundAgain) {
  const Calibration truth = other_machine();
  int decided = 0;
  int within = 0;
  int rows = 0;
  int covered = 0;
  std::vector<double> errors;
  for (int seed = 1; seed <= 4; ++seed) {
    RandomStream random(static_cast<std::uint64_t>(seed), RandomPurpose::test, 0);
    std::vector<ScoredRow> points = points_at({8, 16, 32, 64});
    measure(points, truth, random);
    const FittedNetwork network = fit(points);
    EXPECT_EQ(network.rows, static_cast<int>(points.size()));
    for (const InterconnectLawField& field : interconnect_law_fields()) {
      const Parameter& found = network.calibration.network.*field.member;
      if (!field.fitted || found.origin != Origin::published ||
          !found.source.ends_with("medians of M, env")) {
        continue;
      }
      const double value = (truth.network.*field.member).value;
      ++decided;
      within += value >= found.low && value <= found.high;
    }
    std::vector<ScoredRow> others = points_at({128, 256});
    measure(others, truth, random);
    for (const ScoredRow& row : others) {
      const double predicted = law_of(row, network.calibration);
      const TimeFactors factors = interval(network, {}, row);  // the law is exact
      ++rows;
      covered += row.seconds >= predicted * factors.low && row.seconds <= predicted * factors.high;
      errors.push_back(std::abs(predicted / row.seconds - 1));
    }
  }
  EXPECT_GE(decided, 20);
  EXPECT_GE(within, 0.85 * decided);
  EXPECT_GE(covered, 0.85 * rows);
  EXPECT_LE(covered, 0.98 * rows);
  EXPECT_LT(median(errors), 0.06);
}

// Distance counts powers of two beyond the largest fitted values; intervals grow with it.
TEST(CollectiveFit, FarFromWhatWasFittedLessIsKnown) {
  FittedNetwork network;
  network.calibration = start();
  network.rows = 10;
  network.most_gpus = 64;
  network.most_bytes = 1 << 20;
  std::vector<ScoredRow> points = points_at({64, 512});
  double before = 0;
  for (const ScoredRow& row : points) {
    const FitDistance distance = distance_of(network, row);
    EXPECT_EQ(distance.ranks, row.gpus == 64 ? 0 : 3);
    EXPECT_EQ(distance.sizes, std::max(0., std::log2(row.bytes / (1 << 20))));
    if (row.bytes < 1 << 20 || row.gpus > 64) continue;
    const double high = interval(network, distance, row).high;
    EXPECT_GT(high, before);
    before = high;
  }
  network.rows = 0;  // without fitted rows there is no distance
  EXPECT_EQ(distance_of(network, points.back()).ranks, 0);
}

// Environments of a machine start from the fit of all its environments, and are held closer to it
// than that fit was held to the specification.
TEST(CollectiveFit, EnvironmentsStartFromTheirMachine) {
  RandomStream random(11, RandomPurpose::test, 0);
  std::vector<ScoredRow> points = points_at({16, 32, 64});
  measure(points, other_machine(), random);
  const Calibration before = start();
  const Calibration shared = shared_start(points, points.front().where->cluster, before);
  const Calibration fitted = fit(points).calibration;
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    const Parameter& from = shared.network.*field.member;
    const Parameter& bounds = before.network.*field.member;
    if (!field.fitted || bounds.high <= bounds.low) continue;
    EXPECT_EQ(from.value, (fitted.network.*field.member).value) << field.name;
    EXPECT_NEAR(from.high / from.low, std::sqrt(bounds.high / bounds.low), 1e-9) << field.name;
  }
  EXPECT_EQ(shared.network.noise_log.value, before.network.noise_log.value);
}

// Rows do not change numbers that the specification states exactly.
TEST(CollectiveFit, KnownSettingsAreNotTried) {
  Calibration known = start();
  known.network.tuner_ll128 = {0, 0, 0, Origin::published, "a NIC behind the host's bridge"};
  RandomStream random(7, RandomPurpose::test, 0);
  std::vector<ScoredRow> points = points_at({16, 32});
  measure(points, other_machine(), random);
  const FittedNetwork network = fit_network(points, points.front().where->cluster, known);
  EXPECT_EQ(network.calibration.network.tuner_ll128.value, 0);
}

TEST(CollectiveFit, SettingsAreFound) {
  const auto fitted = [](const std::function<void(InterconnectLaw&)>& change,
                         CollectiveChoice forced = {}) {
    Calibration truth = other_machine();
    change(truth.network);
    RandomStream random(7, RandomPurpose::test, 0);
    std::vector<ScoredRow> points = points_at({8, 16, 32, 64});
    for (ScoredRow& row : points) row.choice = forced;
    measure(points, truth, random);
    return fit(points).calibration.network;
  };
  const InterconnectLaw usual = fitted([](InterconnectLaw&) {});
  EXPECT_EQ(usual.tuner_ll128.value, 1);
  EXPECT_EQ(usual.rendezvous_bytes.value, 8192);
  EXPECT_EQ(fitted([](InterconnectLaw& law) { law.tuner_ll128.value = 0; }).tuner_ll128.value, 0);
  const InterconnectLaw waits = fitted([](InterconnectLaw& law) {
    law.rendezvous_bytes.value = 65536;
    law.rendezvous_s.value = 12e-6;
  });
  EXPECT_EQ(waits.rendezvous_bytes.value, 65536);
  EXPECT_NEAR(waits.rendezvous_s.value, 12e-6, 4e-6);
  const InterconnectLaw copies = fitted(
      [](InterconnectLaw& law) {
        law.small_bytes.value = 1572864;
        law.small_share.value = 0.3;
      },
      {CollectiveAlgorithm::ring, Protocol::simple});
  EXPECT_EQ(copies.small_bytes.value, 1572864);
  EXPECT_NEAR(copies.small_share.value, 0.3, 0.1);
}

// Every node of every job is slow with the same probability; a job waits for its slowest. Two slow
// nodes in one job count as one.
TEST(CollectiveFit, SlowNodesAreFoundInRepeatedRuns) {
  constexpr double kShare = 0.02;
  constexpr double kLog = 0.4;
  constexpr int kRuns = 120;
  const Calibration truth = other_machine();
  RandomStream random(3, RandomPurpose::test, 0);
  std::vector<ScoredRow> points = points_at({64, 128}, kRuns);
  std::map<std::pair<int, int>, double> slowdowns;  // by number of nodes and run
  for (const int nodes : {8, 16}) {
    for (int run = 0; run < kRuns; ++run) {
      double& log = slowdowns[{nodes, run}];
      for (int node = 0; node < nodes; ++node) {
        if (random.uniform() < kShare) log = std::max(log, -kLog * std::log(random.uniform()));
      }
    }
  }
  for (ScoredRow& row : points) {
    for (int run = 0; run < kRuns; ++run) {
      row.samples[static_cast<size_t>(run)] =
          law_of(row, truth) * std::exp(kNoise / 4 * random.normal() + slowdowns[{row.nodes, run}]);
    }
    row.seconds = median(row.samples);
  }
  const InterconnectLaw law = fit(points).calibration.network;
  EXPECT_LE(law.slow_share.low, kShare);
  EXPECT_GE(law.slow_share.high, kShare);
  EXPECT_NEAR(law.slow_share.value, kShare, 0.004);
  EXPECT_NEAR(law.slow_log.value, kLog, 0.1);
  EXPECT_NE(law.slow_share.source, start().network.slow_share.source);
  // Single runs of each point cannot show slow nodes.
  std::vector<ScoredRow> single = points_at({8, 16, 32});
  measure(single, truth, random);
  EXPECT_EQ(fit(single).calibration.network.slow_share.source, start().network.slow_share.source);
}

// A number without room between its bounds is stated by the user and stays.
TEST(CollectiveFit, StatedNumbersStay) {
  Calibration base = start();
  base.network.net_share = {0.5, 0.5, 0.5, Origin::measured, "a test"};
  RandomStream random(5, RandomPurpose::test, 0);
  std::vector<ScoredRow> points = points_at({8, 16});
  measure(points, other_machine(), random);
  const FittedNetwork network = fit_network(points, points.front().where->cluster, base);
  EXPECT_EQ(network.calibration.network.net_share.value, 0.5);
  EXPECT_EQ(network.calibration.network.net_share.source, "a test");
  EXPECT_NE(network.calibration.network.launch.value, base.network.launch.value);
  for (const InterconnectLawField& field : interconnect_law_fields()) {
    EXPECT_TRUE(std::isfinite((network.calibration.network.*field.member).value)) << field.name;
  }
}

}  // namespace
}  // namespace windtunnel
