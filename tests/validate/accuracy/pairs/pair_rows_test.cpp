#include "validate/accuracy/pairs/pair_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace windtunnel {
namespace {

CollectiveRow row_of(const std::string& log, double busbw_Bps) {
  CollectiveRow row;
  row.source = fmt::format("https://example.org/logs_of_may/{}.log#L10", log);
  row.machine = "a";
  row.gpus = 16;
  row.nodes = 2;
  row.kind = CollectiveKind::all_to_all;
  row.bytes = 1 << 25;
  row.busbw_Bps = busbw_Bps;
  return row;
}

TEST(PairRows, ASeriesHoldsEveryPairOnce) {
  CollectiveRows rows;
  rows.rows = {row_of("nccl_N2_G8_n-2_n-1", 10e9), row_of("nccl_N2_G8_n-1_n-2", 40e9),
               row_of("nccl_N2_G8_n-1_n-3", 5e9)};
  const std::vector<PairMachine> machines = pair_machines(rows);
  ASSERT_EQ(machines.size(), 1);
  EXPECT_EQ(machines[0].nodes, (std::vector<std::string>{"n-1", "n-2", "n-3"}));
  EXPECT_EQ(machines[0].node_gpus(), 8);
  ASSERT_EQ(machines[0].series.size(), 1);
  const PairSeries& series = machines[0].series[0];
  ASSERT_EQ(series.points.size(), 2);
  EXPECT_EQ(series.points[0].a, 0);
  EXPECT_EQ(series.points[0].b, 1);
  EXPECT_NEAR(series.points[0].busbw_Bps, 20e9, 1);  // geometric mean of the repeats
  EXPECT_EQ(series.points[1].b, 2);
}

TEST(PairRows, StatedNodesComeBeforeTheLogsName) {
  CollectiveRows rows;
  rows.rows = {row_of("nccl_N2_G8_n-1_n-2", 10e9)};
  rows.rows[0].nodes_used = "x, y";
  EXPECT_EQ(pair_machines(rows)[0].nodes, (std::vector<std::string>{"x", "y"}));
}

TEST(PairRows, RowsThatAreNoPairsAreLeftOut) {
  CollectiveRows rows;
  rows.rows = {row_of("G8_n-1_n-2", 10e9), row_of("G8_n-1_n-2", 10e9), row_of("single", 10e9),
               row_of("G8_n-1_n-2", 10e9), row_of("G8_n-1_n-2", 0),    row_of("G8_n-1_n-2", 10e9)};
  rows.rows[0].nodes = 3;
  rows.rows[1].unusable = "results were wrong";
  rows.rows[3].unusable = "its source marks the row as inconsistent";
  rows.rows[5].kind = CollectiveKind::all_reduce;
  EXPECT_TRUE(pair_machines(rows).empty());
}

}  // namespace
}  // namespace windtunnel
