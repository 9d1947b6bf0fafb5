// Timings of collectives are read from CSV, from the tool's tables in their forms, and from its
// JSON.
#include "traces/nccl/nccl_tests.hpp"

#include <gtest/gtest.h>

namespace windtunnel {
namespace {

constexpr const char* kHeader =
    "source,machine,gpu,gpus,nodes,network,collective,bytes,time_us,algbw_GBps,busbw_GBps,"
    "placement,nccl_version,dtype,notes,check\n";

TEST(CollectiveRows, ReadsATable) {
  const CollectiveRows rows = parse_collective_rows(
      std::string(kHeader) +
          "https://a,M,H100,16,2,\"IB, NDR\",all_reduce,1048576,100,10.49,19.66,in,2.20,float,n; "
          "2,\n"
          "https://a,M,H100,16,,IB,alltoall,1048576,100,10.49,9.83,out,,float,,derived\n"
          "https://a,M,H100,16,2,IB,alltoall,1048576,0.5,0.5,0,out,,float,,inconsistent\n",
      "rows.csv");
  ASSERT_EQ(rows.rows.size(), 3u);
  const CollectiveRow& first = rows.rows[0];
  EXPECT_EQ(first.id, "rows.csv:2");
  EXPECT_EQ(first.network, "IB, NDR");
  EXPECT_EQ(first.kind, CollectiveKind::all_reduce);
  EXPECT_DOUBLE_EQ(first.seconds, 1e-4);
  EXPECT_DOUBLE_EQ(first.algbw_Bps, 1048576 / 1e-4);
  EXPECT_DOUBLE_EQ(first.busbw_Bps, 1048576 / 1e-4 * 2 * 15 / 16);
  EXPECT_TRUE(first.in_place);
  EXPECT_EQ(first.notes, "n; 2");
  EXPECT_EQ(rows.rows[1].nodes, 0);
  EXPECT_EQ(rows.rows[1].unusable, "");
  EXPECT_EQ(rows.rows[2].unusable, "its source marks the row as inconsistent");
}

// These factors are stated in doc/PERFORMANCE.md of nccl-tests.
TEST(CollectiveRows, BusFactors) {
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::all_reduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::all_gather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::reduce_scatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::all_to_all, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::gather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::broadcast, 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::reduce, 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::send_recv, 8), 1);
}

// Two hosts run one process of two GPUs each.
constexpr const char* kRanks =
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid   6899 on      node-a device  0 [0000:04:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid   6899 on      node-a device  1 [0000:05:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  2 Group  0 Pid   6733 on      node-b device  0 [0000:04:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  3 Group  0 Pid   6733 on      node-b device  1 [0000:05:00] NVIDIA H100 80GB HBM3\n";

std::string log_text() {
  return std::string(
             "# nccl-tests version 2.17.6 nccl-headers=22907 nccl-library=22809\n"
             "# Collective test starting: all_reduce_perf\n"
             "# nThread 1 nGpus 2 minBytes 8 maxBytes 128 step: 2(factor) warmup iters: 5 iters: "
             "20 agg iters: 1 validation: 1 graph: 0 unalign: 0\n#\n") +
         kRanks +
         "#\n"
         "#                                                              out-of-place              "
         "         in-place          \n"
         "#       size         count      type   redop    root     time   algbw   busbw  #wrong    "
         " "
         "time   algbw   busbw  #wrong \n"
         "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
         "(us)  (GB/s)  (GB/s)         \n"
         "node-a:6899:6920 [0] NCCL INFO Channel 00 : 0[0] -> 1[1]\n"
         "           0             0     float     sum      -1     0.10    0.00    0.00       0    "
         " 0.10    0.00    0.00       0\n"
         "     1048576        262144     float     sum      -1   100.00   10.49   15.73       0    "
         "110.00    9.53   14.30       3\n"
         " 17179869184    4294967296     float     sum      -1    2e+07    0.88    1.32       0    "
         "2e+07    0.88    1.32     N/A\n"
         "# Out of bounds values : 3 FAILED\n"
         "# Avg bus bandwidth    : 5.4321 \n#\n"
         "# Collective test concluded: all_reduce_perf\n";
}

TEST(NcclTests, ReadsTheTable) {
  const CollectiveRows log =
      parse_nccl_tests(log_text(), "run.log", {.machine = "M", .network = "IB"});
  ASSERT_EQ(log.rows.size(), 6u);
  const CollectiveRow& row = log.rows[2];
  EXPECT_EQ(row.id, "run.log:16");
  EXPECT_EQ(row.machine, "M");
  EXPECT_EQ(row.network, "IB");
  EXPECT_EQ(row.gpu, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(row.gpus, 4);
  EXPECT_EQ(row.nodes, 2);
  EXPECT_EQ(row.kind, CollectiveKind::all_reduce);
  EXPECT_EQ(row.dtype, "float");
  EXPECT_EQ(row.nccl_version, "2.28.9");
  EXPECT_DOUBLE_EQ(row.seconds, 1e-4);
  EXPECT_FALSE(row.in_place);
  EXPECT_EQ(row.unusable, "");
  EXPECT_EQ(log.rows[0].unusable, "no bytes were moved");
  EXPECT_TRUE(log.rows[3].in_place);
  EXPECT_EQ(log.rows[3].unusable, "3 elements of the result were wrong");
  // Times of ten seconds and more are printed with one decimal, bandwidths with two.
  EXPECT_EQ(log.rows[4].check, "derived");
  EXPECT_NEAR(log.rows[4].seconds, 17179869184 / 0.88e9, 1e-9);
  EXPECT_EQ(log.table.rows(), log.rows.size());
  EXPECT_EQ(log.table.text(2, log.table.column("network")), "IB");
}

// Labels that launchers put before every line change nothing.
TEST(NcclTests, LaunchersLabels) {
  const CollectiveRows plain = parse_nccl_tests(log_text(), "run.log", {});
  for (const std::string label : {"[1,0]<stdout>:", " 0: ", "12:"}) {
    std::string text = label;
    for (const char c : log_text()) {
      text += c;
      if (c == '\n') text += label;
    }
    const CollectiveRows labelled = parse_nccl_tests(text, "run.log", {});
    ASSERT_EQ(labelled.rows.size(), plain.rows.size()) << label;
    for (size_t i = 0; i < plain.rows.size(); ++i) {
      EXPECT_EQ(labelled.rows[i].seconds, plain.rows[i].seconds) << label;
      EXPECT_EQ(labelled.rows[i].gpus, 4) << label;
    }
  }
}

// Before version 2.13 tables state the largest error instead of #wrong; before 2.11 they state no
// root for collectives without one.
TEST(NcclTests, OlderTables) {
  const CollectiveRows log = parse_nccl_tests(
      std::string("# nThread 1 nGpus 4\n") + kRanks +
          "NCCL version 2.4.8+cuda10.1\n"
          "#       size         count    type     time   algbw   busbw  error     time   algbw   "
          "busbw  error\n"
          "     1048576         65536   float   100.00   10.49    7.86  0e+00   100.00   10.49    "
          "7.86  0e+00\n",
      "out/all_gather_perf.txt", {});
  ASSERT_EQ(log.rows.size(), 2u);
  EXPECT_EQ(log.rows[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(log.rows[0].nccl_version, "2.4.8");
  EXPECT_EQ(log.rows[0].machine, "NVIDIA H100 80GB HBM3");
}

// Tables may have further columns per iteration and timestamps.
TEST(NcclTests, FurtherColumns) {
  const CollectiveRows log = parse_nccl_tests(
      std::string("# Collective test starting: sendrecv_perf\n") + kRanks +
          "#       size    count  type  redop  root  time  algbw  busbw  #wrong  i_min  i_max  "
          "i_p99  i_cv%  time  algbw  busbw  #wrong  i_min  i_max  i_p99  i_cv%  timestamp\n"
          "     1048576   262144 float   sum    -1 100.0  10.49  10.49     N/A   99.0  101.0  "
          "101.0    0.5 100.0  10.49  10.49     N/A   99.0  101.0  101.0    0.5  2025-07-01 "
          "12:00:00\n",
      "a.log", {});
  ASSERT_EQ(log.rows.size(), 2u);
  EXPECT_EQ(log.rows[1].kind, CollectiveKind::send_recv);
  EXPECT_DOUBLE_EQ(log.rows[1].seconds, 1e-4);
}

// One log has several runs: each table belongs to the ranks listed before it.
TEST(NcclTests, SeveralRuns) {
  std::string second = log_text();
  for (size_t at = second.find("all_reduce"); at != std::string::npos;
       at = second.find("all_reduce", at)) {
    second.replace(at, 10, "sendrecv");
  }
  for (const auto& [from, to] : {std::pair("15.73", "10.49"), std::pair("14.30", " 9.53"),
                                 std::pair(" 1.32", " 0.88"), std::pair(" 1.32", " 0.88")}) {
    const size_t at = second.find(from);
    ASSERT_NE(at, std::string::npos);
    second.replace(at, 5, to);
  }
  const CollectiveRows log = parse_nccl_tests(log_text() + second, "run.log", {});
  ASSERT_EQ(log.rows.size(), 12u);
  EXPECT_EQ(log.rows[5].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(log.rows[6].kind, CollectiveKind::send_recv);
}

constexpr const char* kJson =
    R"({"version":2,"start_time":"2025-07-01 12:00:00","args":["./build/alltoall_perf","-b","1M"],)"
    R"("env":["HOME=/root"],"nccl_version":22809,"config":{"nthreads":1,"ngpus":2,)"
    R"("devices":[{"rank":0,"group":0,"pid":1,"hostname":"a","device":0,"device_hex":"0000:04:00",)"
    R"("device_info":"NVIDIA H100 80GB HBM3"},{"rank":2,"group":0,"pid":1,"hostname":"b",)"
    R"("device":0,"device_hex":"0000:04:00","device_info":"NVIDIA H100 80GB HBM3"}]},)"
    "\n"
    R"("results":[{"size":1048576,"count":65536,"type":"float","redop":"none","root":"    -1",)"
    R"("out_of_place":{"time":100.000000,"alg_bw":10.485760,"bus_bw":7.864320,"nwrong":0.000000},)"
    R"("in_place":{"time":110.000000,"alg_bw":9.532509,"bus_bw":7.149382,"nwrong":null},)"
    R"("actual_iterations":20,"experiment_name":"x [{"},)"
    "\n"
    R"({"size":2097152,"count":131072,"type":"float","redop":"none","root":"    -1",)"
    R"("out_of_place":null,)"
    R"("in_place":{"time":200.000000,"alg_bw":10.485760,"bus_bw":7.864320,"nwrong":2.000000}}],)"
    R"("out_of_bounds":{"count":2,"okay":"false"}})";

TEST(NcclTests, ReadsJson) {
  const CollectiveRows log = parse_nccl_tests(kJson, "run.json", {.machine = "M", .network = "IB"});
  ASSERT_EQ(log.rows.size(), 3u);
  EXPECT_EQ(log.rows[0].id, "run.json:2");
  EXPECT_EQ(log.rows[0].kind, CollectiveKind::all_to_all);
  EXPECT_EQ(log.rows[0].gpus, 4);
  EXPECT_EQ(log.rows[0].nodes, 2);
  EXPECT_EQ(log.rows[0].nccl_version, "2.28.9");
  EXPECT_DOUBLE_EQ(log.rows[1].seconds, 1.1e-4);
  EXPECT_TRUE(log.rows[1].in_place);
  EXPECT_EQ(log.rows[2].id, "run.json:3");
  EXPECT_EQ(log.rows[2].unusable, "2 elements of the result were wrong");
}

// The same numbers as text and as JSON give the same rows.
TEST(NcclTests, TextAndJsonAgree) {
  const CollectiveRows json = parse_nccl_tests(kJson, "run.json", {.machine = "M", .network = ""});
  const CollectiveRows text = parse_nccl_tests(
      std::string("# Collective test starting: alltoall_perf\n") + kRanks +
          "#       size   count  type  redop  root   time  algbw  busbw #wrong   time  algbw  "
          "busbw #wrong\n"
          "     1048576   65536 float   none    -1 100.00  10.49   7.86      0 110.00   9.53   "
          "7.15    N/A\n",
      "run.log", {.machine = "M", .network = ""});
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(json.rows[i].seconds, text.rows[i].seconds);
    EXPECT_EQ(json.rows[i].busbw_Bps, text.rows[i].busbw_Bps);
    EXPECT_EQ(json.rows[i].gpus, text.rows[i].gpus);
    EXPECT_EQ(json.rows[i].gpu, text.rows[i].gpu);
    EXPECT_EQ(json.rows[i].in_place, text.rows[i].in_place);
  }
}

}  // namespace
}  // namespace windtunnel
