#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/report/api/small_case.hpp"

namespace windtunnel {
namespace {

const std::vector<Varied> kGrid = {{"failures.0.rate", {"5 per 1000 node-days", "nonsense"}},
                                   {"snapshots.0.every", {"1 h", "2 h"}}};

TEST(PublicSweep, PointsAreWhatSimulateSays) {
  int finished = 0;
  SweepOptions options;
  options.finished = [&](const SweepPoint&) { ++finished; };
  const std::vector<SweepPoint> points = sweep(small_case(), kGrid, options);
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(finished, 4);
  for (const SweepPoint& point : points) {
    EXPECT_EQ(point.reason.empty(), point.index < 2) << point.reason;
    if (!point.reason.empty()) continue;
    Case the_case = small_case();
    for (const auto& [key, value] : point.set) the_case.set(key, value);
    const Result result = simulate(the_case);
    for (const char* key : {"iteration.time_s", "campaign.goodput", "campaign.lost_s.redo"}) {
      EXPECT_EQ(point.figures[key], result[key]) << key;
    }
  }
  EXPECT_EQ(points[1].set[1].second, "2 h");
}

TEST(PublicSweep, KnowsTheCasesOwnNames) {
  Case the_case = small_case();
  the_case.add_schedule("mine", one_forward_one_backward)
      .add_snapshots("rare", {{{"tier", "storage"}, {"every", "12 h"}}})
      .set("schedule", "mine");
  const auto points = sweep(the_case, {{"snapshots", {"rare", "sync"}}});
  const std::string stall = "campaign.lost_s.stall";
  EXPECT_LT(points.at(0).figures[stall], points.at(1).figures[stall]);
}

TEST(PublicSweep, StopsWhereAsked) {
  std::stop_source source;
  SweepOptions options;
  options.threads = 1;
  options.stop = source.get_token();
  options.finished = [&](const SweepPoint&) { source.request_stop(); };
  EXPECT_LT(sweep(small_case(), {{"layout.tp", {"1", "2", "4"}}}, options).size(), 3u);
}

TEST(PublicSweep, WhatTheCallerThrowsEndsIt) {
  SweepOptions options;
  options.finished = [](const SweepPoint&) { throw std::domain_error("enough"); };
  EXPECT_THROW(sweep(small_case(), kGrid, options), std::domain_error);
}

TEST(PublicSweep, FaultsNameTheirKeys) {
  const Error empty = error_of([] { sweep(small_case(), {{"layout.tp", {}}}); });
  EXPECT_EQ(empty.key(), "layout.tp");
  EXPECT_STREQ(empty.what(), "layout.tp has no values; give at least one");
  const Error misspelt = error_of([] { sweep(small_case(), {{"layout.tq", {"2", "4"}}}); });
  EXPECT_EQ(misspelt.key(), "layout.tq");
  EXPECT_STREQ(misspelt.what(), "layout.tq: unknown layout key 'tq'; did you mean 'tp'?");
  const auto points = sweep(small_case(), {{"layout.tp", {"2", "3"}}});
  EXPECT_TRUE(points.at(1).reason.starts_with("layout.tp: ")) << points.at(1).reason;
}

TEST(PublicSweep, NothingPossibleIsAnError) {
  EXPECT_THROW(sweep(small_case(), {{"layout.tp", {"3", "5"}}}), Error);
}

}  // namespace
}  // namespace windtunnel
