#include "traces/rows/compression_rows.hpp"

#include <gtest/gtest.h>

#include "tests/support/error_of.hpp"

namespace windtunnel {
namespace {

constexpr std::string_view kExchangeHeader =
    "source,model,params,gpus,gpu_type,network,method,batch,iter_time_ms,compress_ms,comm_ms,url,"
    "throughput_samples_s,throughput_std,fwd_bwd_ms,evidence,note\n";

CompressionRuns parsed(const std::string& lines) {
  return parse_compression_runs(std::string(kExchangeHeader) + lines, "runs.csv");
}

// Returns the reason why the row is unusable.
std::string reason_of(const std::string& line) {
  const CompressionRuns runs = parsed(line);
  EXPECT_TRUE(runs.runs.empty());
  EXPECT_EQ(runs.unusable.size(), 1U);
  if (runs.unusable.size() != 1) return {};
  EXPECT_TRUE(runs.unusable[0].id.starts_with("runs.csv:2")) << runs.unusable[0].id;
  return runs.unusable[0].reason;
}

TEST(CompressionRuns, ReadsWhatARowStates) {
  const CompressionRuns runs = parsed(
      "a paper,ResNet-50,25600000.0,32,\"RTX 2080Ti (8 nodes x 4, PCIe)\",10GbE,WFBP,64,416.2,,,"
      "page,4920.82,4.43,,text of the source,a note\n");
  ASSERT_EQ(runs.runs.size(), 1U);
  const CompressionRun& run = runs.runs[0];
  EXPECT_EQ(run.id, "runs.csv:2");
  EXPECT_EQ(run.gpu_type, "RTX 2080Ti (8 nodes x 4, PCIe)");
  EXPECT_EQ(run.gpus, 32);
  EXPECT_EQ(run.batch, 64);
  EXPECT_DOUBLE_EQ(*run.step_s, 0.4162);
  EXPECT_EQ(run.compress_s, std::nullopt);
  EXPECT_DOUBLE_EQ(*run.samples_sd, 4.43);
  EXPECT_FALSE(run.recalled);
  EXPECT_EQ(run.note, "a note");
}

TEST(CompressionRuns, TakesTheStepFromThroughputAndBatch) {
  const CompressionRuns runs = parsed("a,b,,4,c,d,e,128,,,,,256,0,,recalled of a table,\n");
  ASSERT_EQ(runs.runs.size(), 1U);
  EXPECT_DOUBLE_EQ(*runs.runs[0].step_s, 2.0);
  EXPECT_DOUBLE_EQ(*runs.runs[0].samples_sd, 0.0);
  EXPECT_TRUE(runs.runs[0].recalled);
}

// The source is in brackets in the cell of the last number before it.
TEST(CompressionRuns, PutsASourceBackThatStandsInTheCellBefore) {
  const CompressionRuns runs = parsed(
      "a,b,,16,c,d,e,,336,76.7,207 (a script (2020)),,,52.3,text,n\n"
      "a,b,,16,c,d,e,32,23 (a page),,,,text,\n"
      "a,b,,2,c,d,e,64 (a script),299.32,,,text,use ratios\n");
  EXPECT_TRUE(runs.unusable.empty());
  ASSERT_EQ(runs.runs.size(), 3U);
  EXPECT_DOUBLE_EQ(*runs.runs[0].communicate_s, 0.207);
  EXPECT_DOUBLE_EQ(*runs.runs[0].compute_s, 0.0523);
  EXPECT_EQ(runs.table.text(0, runs.table.column("url")), "a script (2020)");
  EXPECT_EQ(runs.runs[1].batch, 32);
  EXPECT_DOUBLE_EQ(*runs.runs[1].step_s, 0.023);
  EXPECT_EQ(runs.runs[2].batch, 64);
  EXPECT_DOUBLE_EQ(*runs.runs[2].samples_per_s, 299.32);
  EXPECT_EQ(runs.runs[2].note, "use ratios");
}

TEST(CompressionRuns, FaultyRowsAreListedWithTheReason) {
  EXPECT_EQ(reason_of("a,b,,16,c,d,e,,336,76.7,207 and more,,,52.3,text,n\n"),
            "the row has 16 cells, but the header has 17");
  EXPECT_EQ(reason_of("a,b,,16,c,d,e,,336,76.7,x (a script),,,52.3,text,n\n"),
            "the row has 16 cells, but the header has 17");
  EXPECT_EQ(reason_of("a,b,,16,c,d,e,,1,,,,,,,text,n,more\n"),
            "the row has 18 cells, but the header has 17");
  EXPECT_EQ(reason_of("a,b,,1.5,c,d,e,,1,,,,,,,,\n"), "column 'gpus': 1.5 is not a whole number");
  EXPECT_EQ(reason_of("a,b,,,c,d,e,,1,,,,,,,,\n"), "column 'gpus': is empty");
  EXPECT_EQ(reason_of("a,b,,4,c,d,e,128 global,1,,,,,,,,\n"),
            "column 'batch': '128 global' has text after the number; expected only the number "
            "(samples of a GPU)");
  EXPECT_EQ(reason_of("a,,,4,c,d,e,,-1,,,,,,,,\n"),
            "column 'model': is empty; column 'iter_time_ms': -1 is not greater than 0");
  EXPECT_EQ(reason_of("a,b,,4,c,d,e,,1,,,,1,-2,,,\n"),
            "column 'throughput_std': -2 is less than 0");
  EXPECT_EQ(reason_of("a,b,,4,c,d,e,64,100,,,,1000,,,,\n"),
            "column 'iter_time_ms': 100 ms contradicts throughput and batch, which imply 256 ms");
  EXPECT_EQ(reason_of("a,b,,4,c,d,e,,100,50,50,,,,50,,\n"),
            "column 'iter_time_ms': 100 ms is less than its parts, which add up to 150 ms");
}

TEST(CompressionRuns, AFaultyRowDoesNotHideTheNext) {
  const CompressionRuns runs = parsed(
      "a,b,,4,c,d,\"e,,1,,,,,,,,\n"
      "a,b,,8,c,d,e,,1,,,,,,,,\n");
  ASSERT_EQ(runs.unusable.size(), 1U);
  EXPECT_EQ(runs.unusable[0].reason, "a quote is not closed");
  ASSERT_EQ(runs.runs.size(), 1U);
  EXPECT_EQ(runs.runs[0].gpus, 8);
}

std::string fault_of(const std::string& text) {
  return error_of([&] { parse_compression_runs(text, "runs.csv"); });
}

TEST(CompressionRuns, RefusesAFileOfAnotherKind) {
  EXPECT_EQ(fault_of(""), "runs.csv:1:1: the file is empty");
  EXPECT_EQ(fault_of("source,model,gpus,gpu_type,network,methods,iter_time_ms,"
                     "throughput_samples_s\n"),
            "runs.csv:1:1: column 'method' is missing; the file has a similar one, 'methods'");
  EXPECT_EQ(fault_of("source,source\n"), "runs.csv:1:2: column 'source' is in the header twice");
  EXPECT_THROW(read_compression_runs("/nonexistent/runs.csv"), Error);
}

}  // namespace
}  // namespace windtunnel
