// Splits of judged points are compared with sums by hand.
#include <gtest/gtest.h>

#include "validate/accuracy/collectives/collective_accuracy.hpp"

namespace windtunnel {
namespace {

struct Judged {
  std::vector<ScoredRow> points;
  std::vector<ValidationRow> predictions;

  // Our prediction is off by `error`, and the ring by the specification is off by `ring`.
  void add(const std::string& machine, int gpus, double bytes, double error, double ring) {
    ScoredRow point;
    point.id = std::to_string(points.size());
    point.machine = machine;
    point.gpus = gpus;
    point.bytes = bytes;
    point.samples = {1, 1};
    ValidationRow row;
    row.id = point.id;
    row.measured = 1;
    row.predicted = 1 + error;
    row.low = row.predicted - 0.2;
    row.high = row.predicted + 0.2;
    row.baselines["specification, ring"] = 1 - ring;
    points.push_back(point);
    predictions.push_back(row);
  }
};

TEST(CollectivesSummary, MachinesScalesAndTheRing) {
  Judged judged;
  judged.add("fitted", 64, 1e3, 0.1, 0.5);
  judged.add("fitted", 128, 1e3, 0.3, 0.5);
  judged.add("fitted", 128, 1e9, 0.1, 0.2);
  judged.add("new", 8, 1e3, 0.4, 0.25);
  judged.add("new", 8, 1e9, 0.1, 0.75);
  judged.add("new", 8, 1e9, 0.1, 0.75);
  FittedNetwork network;
  network.machine = "fitted";
  network.rows = 1;
  network.most_gpus = 64;
  const CollectivesSummary summary = summary_of(judged.points, judged.predictions, {network});
  ASSERT_EQ(summary.machines.size(), 2u);
  const JudgedMachine& fitted = summary.machines[0];
  EXPECT_TRUE(fitted.fitted);
  EXPECT_EQ(fitted.fitted_gpus, 64);
  EXPECT_EQ(fitted.gpus, 128);
  EXPECT_EQ(fitted.rows, 6);
  EXPECT_NEAR(fitted.below.median, 0.2, 1e-9);
  EXPECT_NEAR(fitted.covered, 2. / 3, 1e-9);
  EXPECT_EQ(summary.beyond_below.points, 1);  // points within the fitted range do not count
  EXPECT_NEAR(summary.beyond_below.median, 0.3, 1e-9);
  EXPECT_NEAR(summary.beyond_from.ring, 0.2, 1e-9);
  const JudgedMachine& unfitted = summary.machines[1];
  EXPECT_FALSE(unfitted.fitted);
  EXPECT_FALSE(unfitted.all.worse());
  EXPECT_TRUE(unfitted.below.worse());
  EXPECT_EQ(summary.unseen.points, 3);
  EXPECT_NEAR(summary.unseen_from.median, 0.1, 1e-9);
}

// Without a fit Sophia's points still count as seen, because the library's laws rest on its
// timings.
TEST(CollectivesSummary, WhatTheLibrarysLawsHaveSeenIsNotUnseen) {
  Judged judged;
  judged.add("ALCF Sophia (DGX A100)", 8, 1e3, 0.1, 0.2);
  judged.add("new", 8, 1e9, 0.3, 0.2);
  const CollectivesSummary summary = summary_of(judged.points, judged.predictions, {});
  EXPECT_TRUE(summary.machines[0].in_view);
  EXPECT_FALSE(summary.machines[1].in_view);
  EXPECT_NEAR(summary.in_view_below.median, 0.1, 1e-9);
  EXPECT_EQ(summary.in_view_from.points, 0);
  EXPECT_EQ(summary.unseen.points, 1);
}

// A point that could not be predicted is listed as unused and does not count.
TEST(CollectivesSummary, LeavesOutWhatWasNotPredicted) {
  Judged judged;
  judged.add("new", 8, 1e3, 0.1, 0.2);
  judged.add("new", 8, 1e9, 0.1, 0.2);
  judged.predictions.pop_back();
  const CollectivesSummary summary = summary_of(judged.points, judged.predictions, {});
  ASSERT_EQ(summary.machines.size(), 1u);
  EXPECT_EQ(summary.machines[0].all.points, 1);
  EXPECT_EQ(summary.machines[0].from.points, 0);
}

}  // namespace
}  // namespace windtunnel
