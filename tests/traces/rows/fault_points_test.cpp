#include "traces/rows/fault_points.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/error_of.hpp"
#include "traces/text/csv.hpp"

namespace windtunnel {
namespace {

constexpr const char* kPointHeader =
    "id,system,gpus,nodes,days,interruptions,mtti_h,checkpoint_bytes,storage_bw_Bps,interval_s,"
    "block_s,restart_s,other_inputs,metric,measured,unpublished_inputs,evidence,source\n";

// Returns a table with one row, in which only the given column and the mandatory ones are set.
FaultPoints points_with(const std::string& column, const std::string& cell) {
  std::map<std::string, std::string> cells = {{"id", "x"}, {"metric", "x"}, {"measured", "1"}};
  cells[column] = '"' + cell + '"';
  std::string row;
  const CsvTable header = CsvTable::parse(kPointHeader, "header");
  for (const std::string& name : header.header()) {
    row += (row.empty() ? "" : ",") + cells[name];
  }
  return parse_fault_points(kPointHeader + row + "\n", "points.csv");
}

FaultPoint with_cell(const std::string& column, const std::string& cell) {
  return points_with(column, cell).runs.at(0);
}

// Returns the place and reason of the one row that cannot be used.
std::string error_with(const std::string& column, const std::string& cell) {
  const FaultPoints points = points_with(column, cell);
  if (points.unusable.size() != 1) return "no error";
  return points.unusable[0].id + ": " + points.unusable[0].reason;
}

TEST(FaultPoints, NumbersWithTheirWords) {
  const StatedCell planned =
      with_cell("interruptions", "419 unexpected + 47 planned").interruptions;
  ASSERT_EQ(planned.numbers.size(), 2u);
  EXPECT_EQ(planned.numbers[0], (StatedNumber{'=', 419, 419, "", "unexpected"}));
  EXPECT_EQ(planned.numbers[1], (StatedNumber{'=', 47, 47, "", "planned"}));
  EXPECT_EQ(planned.with("planned")->low, 47);
  EXPECT_EQ(planned.with("frozen"), nullptr);

  const StatedCell elastic = with_cell("restart_s", "180 stall, then 420 at 11/12").restart_s;
  ASSERT_EQ(elastic.numbers.size(), 4u);
  EXPECT_EQ(elastic.numbers[1], (StatedNumber{'=', 420, 420, "then", "at"}));
  EXPECT_EQ(elastic.numbers[2].low, 11);
  EXPECT_EQ(elastic.numbers[3].low, 12);

  const StatedCell injected =
      with_cell("interruptions", "60 s and 15 s between failures (injected)").interruptions;
  ASSERT_EQ(injected.numbers.size(), 2u);
  EXPECT_EQ(injected.numbers[0].after, "s and");
  EXPECT_EQ(injected.numbers[1].after, "s between failures");
}

TEST(FaultPoints, RangesRelationsAndSums) {
  const StatedNumber nodes = with_cell("nodes", "256-512").nodes.value();
  EXPECT_EQ(nodes.low, 256);
  EXPECT_EQ(nodes.high, 512);
  EXPECT_EQ(with_cell("interval_s", "~120").interval_s.value().relation, '~');
  EXPECT_EQ(with_cell("measured", ">0.90").measured.value(), (StatedNumber{'>', 0.9, 0.9}));
  EXPECT_EQ(with_cell("checkpoint_bytes", "530e9*12=6.36e12").checkpoint_bytes.value().low,
            6.36e12);
  const StatedNumber rate =
      with_cell("interruptions", "r_f=6.5e-3 per node-day").interruptions.value();
  EXPECT_EQ(rate, (StatedNumber{'=', 6.5e-3, 6.5e-3, "r_f=", "per node-day"}));
  const StatedCell speedup = with_cell("measured", "1.2-1.9x / 3.7-3.8x").measured;
  EXPECT_EQ(speedup.numbers[1], (StatedNumber{'=', 3.7, 3.8, "", "x"}));
  // Digits in a word are no number.
  EXPECT_FALSE(with_cell("storage_bw_Bps", "HDFS2, not given").storage_Bps.states());
}

TEST(FaultPoints, RowsAsTheyAre) {
  const FaultPoint point = with_cell("unpublished_inputs", "restart time; spare count ;");
  EXPECT_EQ(point.id, "points.csv:2");
  EXPECT_EQ(point.unpublished, (std::vector<std::string>{"restart time", "spare count"}));
  EXPECT_TRUE(point.lacks("spare"));
  EXPECT_FALSE(point.lacks("interval"));
  EXPECT_FALSE(point.days.states());
  // A column of prose accepts any text.
  EXPECT_EQ(with_cell("other_inputs", "since 2021-11-05").other_inputs.text, "since 2021-11-05");
}

TEST(FaultPoints, AMalformedCellIsListedByItsPlace) {
  EXPECT_EQ(error_with("nodes", "512-256"),
            "points.csv:2:4: column 'nodes': the range 512-256 runs backward");
  EXPECT_EQ(error_with("nodes", "many"),
            "points.csv:2:4: column 'nodes': 'many' contains no number above 0");
  EXPECT_EQ(error_with("days", "0"),
            "points.csv:2:5: column 'days': '0' contains no number above 0");
  EXPECT_EQ(error_with("interval_s", "-5"),
            "points.csv:2:10: column 'interval_s': '-5' is negative");
  EXPECT_EQ(error_with("block_s", "1.2.3"),
            "points.csv:2:11: column 'block_s': '1.2.3' does not start with a number");
  EXPECT_NE(error_with("restart_s", "1e999"), "no error");
  EXPECT_EQ(error_with("measured", "good"),
            "points.csv:2:15: column 'measured': 'good' holds no number");
  EXPECT_EQ(error_with("metric", ""), "points.csv:2:14: column 'metric': is empty");
  EXPECT_THROW(parse_fault_points("id,metric\nx,y\n", "points.csv"), Error);
}

// A malformed row does not keep the other rows from being read.
TEST(FaultPoints, RowsBesideAMalformedOneAreRead) {
  const std::string sound = "b,,,16,,,,,,,,,,goodput,0.9,,,\n";
  const FaultPoints points = parse_fault_points(
      kPointHeader + sound + "c,,,many,,,,,,,,,,goodput,0.9,,,\n" + "too,few\n" + sound, "p.csv");
  ASSERT_EQ(points.runs.size(), 2u);
  EXPECT_EQ(points.runs[1].id, "p.csv:5");
  ASSERT_EQ(points.unusable.size(), 2u);
  EXPECT_EQ(points.unusable[0].id, "p.csv:3:4");
  EXPECT_EQ(points.unusable[1].id, "p.csv:4");
}

}  // namespace
}  // namespace windtunnel
