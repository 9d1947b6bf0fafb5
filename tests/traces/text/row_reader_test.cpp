#include <gtest/gtest.h>

#include "traces/text/csv.hpp"

namespace windtunnel {
namespace {

const NumberColumn kTime{"time", "ms", 1e6};
const NumberColumn kGpus{"gpus", "", 1e6};
const NumberColumn kIdle{"idle", "%", 100, true};

// All faults of a row are reported, each with its column; an empty cell is not a fault.
TEST(RowReader, AllFaultsOfARowAreHeard) {
  const CsvTable table =
      CsvTable::parse("time,gpus,idle,on\n1.5x,2.5,-1,maybe\n,,0,True\n", "t.csv");
  RowReader bad(table, 0);
  EXPECT_FALSE(bad.number(kTime) || bad.count(kGpus) || bad.number(kIdle) || bad.flag("on"));
  EXPECT_EQ(bad.faults(),
            (std::vector<std::string>{
                "column 'time': '1.5x' has text after the number; expected only the number (ms)",
                "column 'gpus': 2.5 is not a whole number", "column 'idle': -1 is less than 0",
                "column 'on': 'maybe' is neither 1 (or true) nor 0 (or false)"}));
  RowReader good(table, 1);
  EXPECT_FALSE(good.number(kTime) || good.count(kGpus));
  EXPECT_EQ(good.number(kIdle), 0);
  EXPECT_EQ(good.flag("on"), true);
  EXPECT_EQ(good.text("no such column"), "");
  EXPECT_TRUE(good.faults().empty());
}

// Lines that are no rows, and rows with faults, are listed in the order of the file.
TEST(RowReader, RowsWithFaultsAreUnusable) {
  const CsvTable table = CsvTable::parse("time\n3\n0\n2e6\n", "t.csv");
  std::vector<double> runs;
  std::vector<UnusableRow> unusable;
  const auto read = [](size_t, RowReader& row) { return row.number(kTime).value_or(-1); };
  read_rows(table, {{.line = 9, .what = "too few cells"}}, read, runs, unusable);
  EXPECT_EQ(runs, std::vector<double>{3});
  ASSERT_EQ(unusable.size(), 3U);
  EXPECT_EQ(unusable[0].reason, "column 'time': 0 is not greater than 0");
  EXPECT_EQ(unusable[0].id, "t.csv:3:1");  // the cell's place
  EXPECT_EQ(unusable[1].reason, "column 'time': 2e6 is more than 1e+06 (ms)");
  EXPECT_EQ(unusable[2].id, "t.csv:9");
}

}  // namespace
}  // namespace windtunnel
